// |A ∩ B| of sorted sets of 32-bit features, for many pairs: what every set measure is made of.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Sets are values[offsets[d] .. offsets[d+1]), sorted, without repeats. counts[i] = |set a[i] ∩ set b[i]|,
// or any smaller number once that cannot reach needed[i] any more: unlike sets are left early.
void overlaps(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b,
              const int64_t *needed, size_t pairs, int64_t *counts);

// The same for weighted sets, whose entries are feature << 32 | weight: Σ min(x, y) over the features of
// both, or, `dot`, Σ x·y.
void weighted_overlaps(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, bool dot,
                       size_t pairs, uint64_t *sums);

// equal[i] = 1 where entries a[i] and b[i] hold the same bytes.
void equal_pairs(const uint8_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                 uint8_t *equal);

}  // namespace neardup
