// |A ∩ B| of sorted sets of 32-bit features, for many pairs: what every set measure is made of.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Sets are values[offsets[d] .. offsets[d+1]), sorted, without repeats. counts[i] = |set a[i] ∩ set b[i]|,
// or any smaller number once that cannot reach needed[i] any more: unlike sets are left early.
void overlaps(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b,
              const int64_t *needed, size_t pairs, int64_t *counts);

// Of one pair.
int64_t overlap(const uint32_t *a, size_t a_size, const uint32_t *b, size_t b_size, int64_t needed);

// The same for weighted sets, whose entries are feature << 32 | weight: Σ min(x, y) over the features of
// both, or, `dot`, Σ x·y.
void weighted_overlaps(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, bool dot,
                       size_t pairs, uint64_t *sums);

// Entries that also say how common their feature is, in the two lowest bits of the weight: what many
// documents have, what a few have, what one alone has, and this in a document full of words that no other
// has. Bits and all, the number is the weight.
enum RarityClass : uint64_t { kCommon = 0, kRare = 1, kLone = 2, kNoise = 3 };

struct SharedByRarity {
    int64_t weight, features;   // of the entries that both have
    int64_t rare_weight, rare;  // of those among them that are not common
};
// What both have is not lone, whatever a table of other documents says: it counts as rare.
// weights[d] is the weight of set d. Pairs that cannot reach needed[i] of shared weight any more are left
// early, with any smaller numbers.
void shared_by_rarity(const uint64_t *values, const int64_t *offsets, const int64_t *weights, const int64_t *a,
                      const int64_t *b, const int64_t *needed, size_t pairs, SharedByRarity *out);

// Of each set: its weight, how many of its features are lone (noise is, too), and how many are noise.
void sizes_by_rarity(const uint64_t *values, const int64_t *offsets, size_t documents, int64_t *weights, int64_t *lone,
                     int64_t *noise);

// equal[i] = 1 where entries a[i] and b[i] hold the same bytes.
void equal_pairs(const uint8_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                 uint8_t *equal);

}  // namespace neardup
