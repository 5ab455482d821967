// Copies the evidence of chosen documents from memory or from a spool file.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Copies the bytes [starts[i], starts[i] + lengths[i]) of the source, one range after another, to `out`.
void gather_memory(const uint8_t *source, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out);

// The same from an open file. Returns false if the file is too short or cannot be read.
bool gather_file(int descriptor, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out);

// Values in two parts. The parts of feature << 32 | weight are the feature, and the weight in 16 bits: 1 is that of a
// short document, all others, up to an idf of 1 with its class, are 4 lower. The parts of any other value, which is below
// 2^32, are itself and 0. `divide` is given the first parts, and returns whether all weights fit.
bool divide(const uint64_t *values, const uint32_t *features, size_t size, uint16_t *weights);
void join(const uint32_t *features, const uint16_t *weights, size_t size, uint64_t *out);

}  // namespace neardup
