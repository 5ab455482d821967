// What two profiles have in common, family by family: the sums that every measure of a pair is made of.
//
// A profile is the evidence of a document on which several measures are taken. It begins with one number a
// family of features, how many entries the family has; the entries follow, family after family, each sorted:
// feature << 32 | weight << 2 | class (RarityClass in overlap.hpp). A row that is none, such as what stands
// for a short document, counts as a profile of empty families. Only the first `summed` families are of this
// kind; what others hold is for others to know (features/aligned.hpp).
//
// Bound by one merge step an entry of both, without branches on features: about two nanoseconds.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

struct FamilySums {
    int64_t features, weight, product;  // of what both have: how many, Σ min(w, w'), Σ w·w'
    int64_t rare, rare_weight;          // of those among them that are not common
    int64_t lone_weight;                // of those that are lone by a table that counts neither document
};

// out has `summed` entries a pair.
void compare_profiles(const uint64_t *values, const int64_t *offsets, size_t families, size_t summed, const int64_t *a,
                      const int64_t *b, size_t pairs, FamilySums *out);

struct FamilySizes {
    int64_t features, weight, square;  // Σ w²
    int64_t rare, rare_weight;         // not common and not lone
    int64_t lone, lone_weight;
};

// out has `summed` entries a document.
void profile_sizes(const uint64_t *values, const int64_t *offsets, size_t families, size_t summed, size_t documents,
                   FamilySizes *out);

}  // namespace neardup
