// Copies the evidence of chosen documents from memory or from a spool file.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Copies the bytes [starts[i], starts[i] + lengths[i]) of the source, one range after another, to `out`.
void gather_memory(const uint8_t *source, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out);

// The same from an open file. Returns false if the file is too short or cannot be read.
bool gather_file(int descriptor, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out);

}  // namespace neardup
