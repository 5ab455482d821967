// Pairs of documents that share many features, counted document by document over an inverted index.
//
// Nothing is sorted and no pair is written down that shares too few. Bound by the counts, one byte
// pair a document, which stay in cache up to some hundred thousand documents: about 1 ns for each
// feature that two documents share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct SharingPairs {
    std::vector<int64_t> a, b;  // a < b, by b
    std::vector<int32_t> shared;
};

// Group g is members[offsets[g] .. offsets[g + 1]): the documents that have one feature, each once.
void sharing_pairs(const int64_t *members, const int64_t *offsets, size_t groups, size_t documents, int32_t least,
                   SharingPairs &out);

}  // namespace neardup
