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

// The ASCII characters that a copy keeps.
class KeptBytes {
  public:
    void keep(uint8_t c) { rows_[c & 15] |= static_cast<uint8_t>(1 << (c >> 4)); }
    bool keeps(uint8_t c) const { return rows_[c & 15] >> (c >> 4) & 1; }
    const uint8_t *rows() const { return rows_; }  // by the low four bits, a bit for each value of the others

  private:
    uint8_t rows_[16] = {};
};

struct Copied {
    size_t taken, made;  // bytes
};

// Copies what is kept of whole parts of the text, up to the first part with a byte ≥ 0x80 or the end; the caller copies
// the rest. May write kAsciiBlock bytes more than were made.
Copied copy_kept(const uint8_t *in, size_t size, uint8_t *out, const KeptBytes &kept, AsciiRule rule);

// The number of bytes of a whole block before the first byte ≥ 0x80.
size_t ascii_prefix(const uint8_t *text);

}  // namespace neardup
