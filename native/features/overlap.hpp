// |A ∩ B| of sorted sets of 32-bit features, for many pairs; every set measure follows from it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Sets are values[offsets[d] .. offsets[d+1]), sorted, without repeats. counts[i] = |set a[i] ∩ set b[i]|,
// or any smaller number if it cannot reach needed[i]: the comparison of different sets ends early.
void overlaps(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b,
              const int64_t *needed, size_t pairs, int64_t *counts);

// The same for one pair.
int64_t overlap(const uint32_t *a, size_t a_size, const uint32_t *b, size_t b_size, int64_t needed);

// For sequences without repeats, whose entries are feature << 32 | place, sorted: the length of the longest common
// subsequence, or any smaller number if it cannot reach needed[i]. That is the longest run of common features whose
// places ascend in both.
void overlaps_in_order(const uint64_t *entries, const int64_t *offsets, const int64_t *a, const int64_t *b,
                       const int64_t *needed, size_t pairs, int64_t *counts);

// The same for weighted sets, whose entries are feature << 32 | weight: Σ min(x, y) over the common
// features or, with `dot`, Σ x·y.
void weighted_overlaps(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, bool dot,
                       size_t pairs, uint64_t *sums);

// The two lowest bits of a weight can encode how common the feature is: in many documents, in a few, unique (kLone),
// or unique in a document that is full of unique words (kNoise). The weight is the number including these bits.
enum RarityClass : uint64_t { kCommon = 0, kRare = 1, kLone = 2, kNoise = 3 };

struct SharedByRarity {
    int64_t weight, features;   // of the common entries
    int64_t rare_weight, rare;  // of those whose class is not kCommon
};
// A shared feature is not unique, even if it is in a table of other documents: it counts as rare. weights[d] is the
// weight of set d. The comparison ends early, with any smaller numbers, if the shared weight cannot reach needed[i].
void shared_by_rarity(const uint64_t *values, const int64_t *offsets, const int64_t *weights, const int64_t *a,
                      const int64_t *b, const int64_t *needed, size_t pairs, SharedByRarity *out);

// The weight of each set, the number of its unique features (including noise), and the number of noise features.
void sizes_by_rarity(const uint64_t *values, const int64_t *offsets, size_t documents, int64_t *weights, int64_t *lone,
                     int64_t *noise);

// equal[i] = 1 if entries a[i] and b[i] have the same bytes.
void equal_pairs(const uint8_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                 uint8_t *equal);

}  // namespace neardup
