// Recognises documents that are mostly numbers, such as tables and stock quotations, which resemble each other by
// accident (Conrad et al. 2003, §7.2: "practically all numerical" documents were their false positives).
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// out[d] = 1 if more than half of the characters of the words are digits.
void mostly_numbers(const uint8_t *values, const int64_t *offsets, size_t documents, uint8_t *out);

}  // namespace neardup
