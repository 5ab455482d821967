// Copies and normalises blocks of ASCII text at the speed of memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

inline constexpr size_t kAsciiBlock = 64;

struct AsciiRule {
    uint8_t letters;  // 26: A–Z become lower case; 0: letters stay
    uint8_t digits;   // 10: every digit becomes 0; 0: digits stay
};

// Copies whole blocks up to the first with a byte ≥ 0x80, which is written too, but not counted. Returns their number.
size_t copy_ascii(const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule);

// The number of bytes of a whole block before the first byte ≥ 0x80.
size_t ascii_prefix(const uint8_t *text);

}  // namespace neardup
