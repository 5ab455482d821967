// Sums over the common features of two profiles, family by family; the measures of a pair follow from them.
//
// A profile is evidence of a document for several measures. It begins with the number of entries of each family of
// features. The entries follow, family after family, each family sorted: feature << 32 | weight << 2 | class
// (RarityClass in overlap.hpp). A row that is not a profile, such as that of a short document, counts as a profile of
// empty families. Only the first `summed` families have such entries; features/aligned.hpp reads another one.
//
// The speed is bound by one merge step per entry, without branches on features: about two nanoseconds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// The sets of features of one family.
struct FeatureSets {
    const uint32_t *values;
    const int64_t *offsets;
    int64_t size(size_t document) const { return offsets[document + 1] - offsets[document]; }
};

// Rows without weights, of half the size: the heads, and features alone. `out` has room for the features of all families
// and a head for each of them.
void profile_rows(const std::vector<FeatureSets> &families, size_t documents, uint32_t *out, std::vector<int64_t> &ends);

struct FamilySums {
    int64_t features, weight, product;  // of the shared features: their number, Σ min(w, w'), Σ w·w'
    int64_t rare, rare_weight;          // of those whose class is not kCommon
    int64_t lone_weight;                // of those that are unique in a table that counts neither document
};

// out has `summed` entries per pair.
void compare_profiles(const uint64_t *values, const int64_t *offsets, size_t families, size_t summed, const int64_t *a,
                      const int64_t *b, size_t pairs, FamilySums *out);

struct FamilySizes {
    int64_t features, weight, square;  // Σ w²
    int64_t rare, rare_weight;         // neither common nor unique
    int64_t lone, lone_weight;
};

// out has `summed` entries per document.
void profile_sizes(const uint64_t *values, const int64_t *offsets, size_t families, size_t summed, size_t documents,
                   FamilySizes *out);

}  // namespace neardup
