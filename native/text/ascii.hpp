// Blocks of ASCII text, copied and made alike at the speed of memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

inline constexpr size_t kAsciiBlock = 64;

struct AsciiRule {
    uint8_t letters;  // 26: A–Z become small; 0: they stay
    uint8_t digits;   // 10: every digit becomes 0; 0: they stay
};

// Copies whole blocks until one holds a byte ≥ 0x80; that block is written too, but not counted.
size_t copy_ascii(const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule);

// How many bytes of a whole block come before the first ≥ 0x80.
size_t ascii_prefix(const uint8_t *text);

}  // namespace neardup
