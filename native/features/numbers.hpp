// Documents that are mostly numbers: tables and quotations resemble each other by accident (Conrad et
// al. 2003, §7.2: "practically all numerical" ones were their false positives).
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// 1 where more than half of the characters of words are digits.
void mostly_numbers(const uint8_t *values, const int64_t *offsets, size_t documents, uint8_t *out);

}  // namespace neardup
