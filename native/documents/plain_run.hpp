// The inner loop of the JSON scanner: how far a string goes on with nothing to look at.
//
// Stops at a quote, a backslash, a control character or a byte of a multi-byte character. As signed
// bytes the last two are both "less than space", so one comparison finds them. SSE2 is part of every
// x86-64, therefore no dispatch is needed; other machines take eight bytes at a time. Both give the
// same answer and never read at or beyond `limit`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <bit>
#include <emmintrin.h>
#endif

namespace neardup {

inline bool is_plain(char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

inline const char *plain_run_bytes(const char *p, const char *limit) {
    while (p < limit && is_plain(*p)) ++p;
    return p;
}

#if defined(__SSE2__)

inline uint32_t special_mask16(const char *p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), low)));
}

inline const char *plain_run(const char *p, const char *limit) {
    for (; limit - p >= 64; p += 64) {
        const uint64_t low = special_mask16(p) | special_mask16(p + 16) << 16;
        const uint64_t high = special_mask16(p + 32) | special_mask16(p + 48) << 16;
        const uint64_t mask = low | high << 32;
        if (mask) return p + std::countr_zero(mask);
    }
    for (; limit - p >= 16; p += 16) {
        const uint32_t mask = special_mask16(p);
        if (mask) return p + std::countr_zero(mask);
    }
    return plain_run_bytes(p, limit);
}

#else

inline const char *plain_run(const char *p, const char *limit) {
    constexpr uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    const auto has_zero = [](uint64_t word) { return (word - ones) & ~word & tops; };
    for (; limit - p >= 8; p += 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        // "Any byte special?" only: borrows may mark a neighbour, the byte loop finds the place.
        const uint64_t control = (word - ones * 0x20) & ~word & tops;
        if ((word & tops) | control | has_zero(word ^ ones * '"') | has_zero(word ^ ones * '\\')) break;
    }
    return plain_run_bytes(p, limit);
}

#endif

}  // namespace neardup
