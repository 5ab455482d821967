// Finds pairs of documents that share many features, by counting over an inverted index, document by document.
//
// Nothing is sorted, and a pair that shares too few features is never stored. The counts, two bytes per document, bound
// the speed; they stay in cache up to some hundred thousand documents. The cost is about 1 ns for each feature that two
// documents share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct SharingPairs {
    std::vector<int64_t> a, b;  // a < b, by b
    std::vector<int32_t> shared;
    std::vector<int64_t> capped;  // documents b for which some were left out
};

// Group g is members[offsets[g] .. offsets[g + 1]): the documents that have one feature, ascending.
// A pair must share at least `least` features. A feature counts only if one of the two looks with it: `looks` has a
// flag a member. Of the documents before it a document is paired with at most `most`, those that share most; 0 means all.
// Pairs (a, b) are listed for first <= b < last, so that threads can take a range each.
void sharing_pairs(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t documents, int32_t least,
                   size_t most, size_t first, size_t last, SharingPairs &out);

// chosen[i] = 1 for the pairs of each document b that share most, of equal ones those with the latest a: `most` of them at
// most. The pairs of one b stand together.
void most_shared(const int64_t *a, const int64_t *b, const int32_t *shared, size_t pairs, size_t most, uint8_t *chosen);

// For documents that are numbered by the size of their sets: document a is paired with those after it that share at
// least least[a] of the features with which a looks. Gives up and returns false if that takes more than `most_counted`
// entries of groups, or gives more than `most_pairs`.
bool larger_pairs(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t documents,
                  const int32_t *least, size_t most_counted, size_t most_pairs, SharingPairs &out);

}  // namespace neardup
