// Decodes and encodes UTF-8, one character at a time; decoding is strict and never reads past `end`.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

inline constexpr uint32_t replacement_character = 0xFFFD;

struct Decoded {
    uint32_t cp;
    uint32_t size;
};

// An invalid byte counts as one U+FFFD, regardless of the bytes after it.
inline Decoded decode(const uint8_t *p, const uint8_t *end) {
    const auto follows = [&](ptrdiff_t i) { return p + i < end && (p[i] & 0xC0) == 0x80; };
    const uint32_t lead = p[0];
    if (lead < 0x80) return {lead, 1};
    if (lead >= 0xC2 && lead < 0xE0 && follows(1)) return {(lead & 0x1F) << 6 | (p[1] & 0x3Fu), 2};
    if (lead >= 0xE0 && lead < 0xF0 && follows(1) && follows(2)) {
        const uint32_t cp = (lead & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        if (cp >= 0x800 && (cp < 0xD800 || cp > 0xDFFF)) return {cp, 3};
    }
    if (lead >= 0xF0 && lead < 0xF5 && follows(1) && follows(2) && follows(3)) {
        const uint32_t cp =
            (lead & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
        if (cp >= 0x10000 && cp <= 0x10FFFF) return {cp, 4};
    }
    return {replacement_character, 1};
}

// Decodes text that `encode` wrote.
inline Decoded decode_valid(const uint8_t *p) {
    const uint32_t lead = p[0];
    if (lead < 0x80) return {lead, 1};
    if (lead < 0xE0) return {(lead & 0x1F) << 6 | (p[1] & 0x3Fu), 2};
    if (lead < 0xF0) return {(lead & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3};
    return {(lead & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu), 4};
}

// Writes up to 4 bytes and returns the new end.
inline uint8_t *encode(uint32_t cp, uint8_t *out) {
    const auto tail = [cp](int shift) { return static_cast<uint8_t>(0x80 | ((cp >> shift) & 0x3F)); };
    if (cp < 0x80) {
        *out++ = static_cast<uint8_t>(cp);
    } else if (cp < 0x800) {
        *out++ = static_cast<uint8_t>(0xC0 | cp >> 6);
        *out++ = tail(0);
    } else if (cp < 0x10000) {
        *out++ = static_cast<uint8_t>(0xE0 | cp >> 12);
        *out++ = tail(6);
        *out++ = tail(0);
    } else {
        *out++ = static_cast<uint8_t>(0xF0 | cp >> 18);
        *out++ = tail(12);
        *out++ = tail(6);
        *out++ = tail(0);
    }
    return out;
}

}  // namespace neardup
