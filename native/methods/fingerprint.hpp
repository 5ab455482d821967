// The fingerprint of a document: its rarest terms and where they stand (Conrad et al. 2003, §6.1).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// A multiple of the bin, rounded up; no bin leaves the offset as it is.
inline uint64_t binned(uint64_t offset, uint64_t bin) { return bin ? (offset + bin - 1) / bin * bin : offset; }

// `ranks` and `first` (positions) of the terms of each document, rarest first. Gives two numbers a
// document: SHA-1 of the first `size` ranks, each with the position of the term minus the smallest of
// these positions, binned. Zeros where there are fewer terms.
void fingerprints(const uint32_t *ranks, const uint32_t *first, const int64_t *offsets, size_t documents, uint32_t size,
                  uint64_t bin, std::vector<uint64_t> &out);

}  // namespace neardup
