// Votes on 64 bits at once, each feature with the same weight.
//
// Bits are counted in carry-save adders, 64 hashes at a time and eight abreast, so that a vote costs a
// fraction of a nanosecond where registers are wide.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// The bits that more than half of the hashes have; none where there are no hashes.
uint64_t majority(const uint64_t *hashes, size_t size);

}  // namespace neardup
