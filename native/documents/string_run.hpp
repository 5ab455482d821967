// The inner loops of the JSON scanner: they find the end of a run of a string and check its UTF-8.
//
// A run stops at a quote, a backslash or a control character. Multi-byte characters are only noted; the few runs that
// contain some are checked in a second pass over cached memory, which jumps from one such character to the next. SSE2 is
// part of every x86-64, so no dispatch is needed; other machines process eight bytes at a time. Both variants give the
// same result and never read at or beyond the limit.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "documents/utf8.hpp"

namespace neardup {

struct Run {
    const char *end;
    bool multibyte;  // some byte before `end`, or at most 63 bytes after it, is not ASCII
};

inline bool is_high(char c) { return static_cast<uint8_t>(c) >= 0x80; }

inline bool stops_run(char c) { return static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\'; }

inline Run string_run_bytes(const char *p, const char *limit, bool multibyte) {
    for (; p < limit && !stops_run(*p); ++p) multibyte |= is_high(*p);
    return {p, multibyte};
}

#if defined(__SSE2__)

struct Masks {
    uint64_t stop, high;
};

inline Masks masks16(const char *p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const __m128i stop = _mm_or_si128(_mm_or_si128(quote, backslash), control);
    return {static_cast<uint32_t>(_mm_movemask_epi8(stop)), static_cast<uint32_t>(_mm_movemask_epi8(bytes))};
}

inline Masks masks64(const char *p) {
    const Masks a = masks16(p), b = masks16(p + 16), c = masks16(p + 32), d = masks16(p + 48);
    return {a.stop | b.stop << 16 | c.stop << 32 | d.stop << 48, a.high | b.high << 16 | c.high << 32 | d.high << 48};
}

inline Run string_run(const char *p, const char *limit) {
    uint64_t high = 0;
    for (; limit - p >= 64; p += 64) {
        const Masks masks = masks64(p);
        high |= masks.high;
        if (masks.stop) return {p + std::countr_zero(masks.stop), high != 0};
    }
    for (; limit - p >= 16; p += 16) {
        const Masks masks = masks16(p);
        high |= masks.high;
        if (masks.stop) return {p + std::countr_zero(masks.stop), high != 0};
    }
    return string_run_bytes(p, limit, high != 0);
}

inline uint64_t high_mask64(const char *p) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; ++i) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p + 16 * i));
        mask |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(bytes))) << (16 * i);
    }
    return mask;
}

#else

inline Run string_run(const char *p, const char *limit) {
    constexpr uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    const auto has_zero = [](uint64_t word) { return (word - ones) & ~word & tops; };
    uint64_t high = 0;
    for (; limit - p >= 8; p += 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        // This only tests whether any byte stops: borrows may mark a neighbour, so the byte loop finds the position.
        const uint64_t control = (word - ones * 0x20) & ~word & tops;
        if (control | has_zero(word ^ ones * '"') | has_zero(word ^ ones * '\\')) break;
        high |= word & tops;
    }
    return string_run_bytes(p, limit, high != 0);
}

inline uint64_t high_mask64(const char *p) {
    uint64_t mask = 0;
    for (int i = 0; i < 64; ++i) mask |= static_cast<uint64_t>(static_cast<uint8_t>(p[i]) >> 7) << i;
    return mask;
}

#endif

// The first byte that is not UTF-8, or nullptr.
inline const char *invalid_utf8(const char *p, const char *end) {
    while (end - p >= 64) {
        const char *next = p + 64;
        for (uint64_t mask = high_mask64(p); mask != 0;) {
            const char *at = p + std::countr_zero(mask);
            // The next characters are checked without the mask, because in most scripts many follow each other.
            do {
                const size_t length = utf8_sequence(at, end);
                if (length == 0) return at;
                at += length;
            } while (at < end && is_high(*at));
            if (at >= next) {
                next = at;
                break;
            }
            const size_t done = static_cast<size_t>(at - p);
            mask &= ~uint64_t{0} << done;
        }
        p = next;
    }
    while (p < end) {
        const size_t length = !is_high(*p) ? 1 : utf8_sequence(p, end);
        if (length == 0) return p;
        p += length;
    }
    return nullptr;
}

}  // namespace neardup
