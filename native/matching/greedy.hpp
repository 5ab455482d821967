// The one rule's sequential heart: walking the order, a document is set aside iff it matches one
// that was kept before it (the lexicographically first maximal independent set).
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Edges (later, earlier) by rank, sorted by `later`; all of `earlier` < `later`.
// kept[] must be 1 for every rank not yet decided; ranks with an edge to a kept one become 0.
inline void greedy(const int64_t *later, const int64_t *earlier, size_t edges, uint8_t *kept) {
    for (size_t e = 0; e < edges; ++e)
        if (kept[earlier[e]]) kept[later[e]] = 0;
}

}  // namespace neardup
