// The method raregrams: weights, keys and scores of sampled grams (features/gram_samples.hpp explains the samples).
//
// A weighted entry is feature << 32 | level << 24 | figure << 23 | weight << 2 | class. The weight is that of the number of documents
// that have the feature, and so is the class. A row without a head stands for a document that is too short to be
// compared; its entries weigh 1 each, so it is equal to its copies and unlike all else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/slot_counts.hpp"

namespace neardup {

// In many documents (no key), in a few, in one alone, in some more than a few.
enum GramClass : uint64_t { kManyHave = 0, kFewHave = 1, kOneHas = 2, kSomeHave = 3 };

// Adds to each entry of rows with heads what weight_of_count has for the count of its feature.
void weigh_grams(uint64_t *values, const int64_t *offsets, size_t documents, const SlotCounts &counts,
                 const uint32_t *weight_of_count);

struct GramKeys {
    size_t rare, lone;           // how many of the features that some other documents, and that no others have
    uint32_t bands, rows;        // of minima, over features that others have
    size_t fewest;               // features for which bands are made
    size_t own, own_share;       // so many that no other document has, one of so many: most of it is its own
    const uint32_t *multipliers; // of the minima, `functions` of them
    size_t functions;
};

// Appends the sorted keys of each row. Keys are the features of the highest levels, of equal levels the smallest: the
// order is the same for all documents, so that samples of different rates agree on it. A band is two keys, which come
// last. Two documents that go on with text of their own are refused unless they share rare features, by which they meet
// anyway; so such a document does not look with its bands, else all that fill one template would meet.
void gram_keys(const uint64_t *values, const int64_t *offsets, size_t documents, const GramKeys &settings,
               std::vector<uint64_t> &keys, std::vector<int64_t> &ends, std::vector<int32_t> &probes);

// Of a pair at the coarser level of the two. A feature that both have is known, whatever a table of other documents
// has counted.
struct GramSums {
    int64_t common, a, b;   // weights of known features: shared, and of either document
    int64_t shared, rare;   // shared features, and those of them that at most a few documents have
    int64_t smaller, own;   // features, and features that no other document has, of the document with fewer
    int64_t figures, common_figures;  // features with digits, of the document with fewer, and shared ones
    int64_t level;
    int64_t lone, apart;  // features that no other document has, and that many have but not both, of both documents
};

void compare_grams(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   GramSums *out);

}  // namespace neardup
