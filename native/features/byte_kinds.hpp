// Counts the bytes of each text by kind: kind 0 is not counted, the others are 1 to kByteKinds.
//
// Four counters of 16 bits share a register, so a byte takes one lookup and one addition.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

inline constexpr size_t kByteKinds = 4;

// `kinds` has the kind of each of the 256 bytes; `out` has kByteKinds counts a text.
void byte_kinds(const uint8_t *values, const int64_t *offsets, size_t texts, const uint8_t *kinds, int64_t *out);

}  // namespace neardup
