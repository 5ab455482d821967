// The sequential part of the rule: in the order of ranks, a document is a duplicate if it matches a document that was
// kept before it. The kept documents are the lexicographically first maximal independent set.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Edges (later, earlier) are pairs of ranks, sorted by `later`, with earlier < later. kept[] must be 1 for every rank
// that is not yet decided; ranks with an edge to a kept rank become 0.
inline void greedy(const int64_t *later, const int64_t *earlier, size_t edges, uint8_t *kept) {
    for (size_t e = 0; e < edges; ++e)
        if (kept[earlier[e]]) kept[later[e]] = 0;
}

}  // namespace neardup
