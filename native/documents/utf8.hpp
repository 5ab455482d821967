// UTF-8 as defined by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstddef>
#include <cstdint>

#include "documents/buffer.hpp"

namespace neardup {

inline bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// The length of the well-formed multi-byte sequence at p (2, 3 or 4), or 0.
inline size_t utf8_sequence(const char *p, const char *end) {
    const auto *s = reinterpret_cast<const uint8_t *>(p);
    const size_t left = static_cast<size_t>(end - p);
    const uint8_t lead = s[0];
    if (lead < 0xC2 || lead > 0xF4) return 0;
    if (lead < 0xE0) return left >= 2 && is_continuation(s[1]) ? 2 : 0;
    if (left < 3 || !is_continuation(s[1]) || !is_continuation(s[2])) return 0;
    if (lead < 0xF0) {
        if ((lead == 0xE0 && s[1] < 0xA0) || (lead == 0xED && s[1] > 0x9F)) return 0;
        return 3;
    }
    if (left < 4 || !is_continuation(s[3])) return 0;
    if ((lead == 0xF0 && s[1] < 0x90) || (lead == 0xF4 && s[1] > 0x8F)) return 0;
    return 4;
}

inline void append_utf8(Buffer &out, uint32_t code) {
    char bytes[4];
    size_t count = 0;
    auto put = [&](uint32_t byte) { bytes[count++] = static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
    out.append(bytes, count);
}

}  // namespace neardup
