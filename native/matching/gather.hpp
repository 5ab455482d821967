// Evidence of chosen documents, copied together from memory or from a spool file.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Copies bytes [starts[i], starts[i] + lengths[i]) of the source one after another to `out`.
void gather_memory(const uint8_t *source, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out);

// The same from an open file. False where the file ended early or could not be read.
bool gather_file(int descriptor, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out);

}  // namespace neardup
