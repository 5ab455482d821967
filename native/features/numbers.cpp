#include "features/numbers.hpp"

#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace neardup {

void mostly_numbers(const uint8_t *values, const int64_t *offsets, size_t documents, uint8_t *out) {
    for (size_t d = 0; d < documents; ++d) {
        const uint8_t *p = values + offsets[d], *end = values + offsets[d + 1];
        uint64_t digits = 0, characters = 0;
        while (p < end) {
            if (*p < 0x80) {
                const uint32_t digit = *p - uint32_t{'0'} < 10, letter = (*p | 0x20u) - uint32_t{'a'} < 26;
                digits += digit;
                characters += digit | letter;
                ++p;
                continue;
            }
            const Decoded c = decode(p, end);
            const unicode::Record &r = unicode::record(c.cp);
            digits += (r.flags & unicode::digit) != 0;
            characters += r.kind != unicode::separator;
            p += c.size;
        }
        out[d] = digits * 2 > characters;
    }
}

}  // namespace neardup
