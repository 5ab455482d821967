// The method learned: weights and keys of profiles (features/profiles.hpp explains the rows), and their rare grams.
//
// A row of a document whose features were not weighed yet has heads and features alone, as profile_rows makes them. A row
// that is not a profile stands for a short document: its features weigh 1, and it has no keys here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/slot_counts.hpp"

namespace neardup {

// Keys are the grams of smallest hash of several classes of rarity, and bands of minima. One band is as good as `shared`
// keys, so it is given that often.
struct ProfileKeys {
    struct Class {
        size_t most;            // grams that are taken
        uint32_t least, last;   // documents that have such a gram
    };
    std::vector<Class> classes;
    uint32_t bands, rows, shared;
    const uint32_t *multipliers;  // of the minima, `functions` of them
    size_t functions;
};

// Appends the sorted keys of each set of grams.
void profile_keys(const uint32_t *grams, const int64_t *offsets, size_t documents, const SlotCounts &counts,
                  const ProfileKeys &settings, std::vector<uint64_t> &keys, std::vector<int64_t> &ends);

struct FamilyTable {
    SlotCounts counts;
    const uint32_t *weight_of_count;  // weight << 2 | class
};

// A document is noisy if so many of its distinct words are in no other one; these words are marked.
struct NoiseRule {
    size_t family;
    int64_t fewest;  // words of a document that may be noisy
    double share;    // above 1, no document is noisy
};

// Writes profiles of the same sizes into `out`: to each feature is added what weight_of_count has for its count, and noise
// is marked. Appends the keys of each row, made of the grams of family `grams`. One table a family.
void weigh_profiles(const uint32_t *rows, const int64_t *offsets, size_t documents, const std::vector<FamilyTable> &tables,
                    const NoiseRule &noise, size_t grams, const ProfileKeys &settings, uint64_t *out,
                    std::vector<uint64_t> &keys, std::vector<int64_t> &ends);

// The grams that a few documents have, one of `every`, of documents with at least `least` grams. `known` is the weight
// of the grams that are not unique, `sizes` the number of all.
struct RareGrams {
    std::vector<uint64_t> entries;
    std::vector<int64_t> ends, known, sizes;
};

void rare_grams(const uint64_t *values, const int64_t *offsets, size_t documents, size_t families, size_t grams,
                int64_t least, uint32_t every, RareGrams &out);

}  // namespace neardup
