#include "text/ascii.hpp"

#include <bit>

#include "simd.hpp"
#include "text/bytes.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {

namespace {

constexpr size_t block = kAsciiBlock;

template <Instructions>
NEARDUP_INLINE size_t copy_any_on(const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule) {
    for (size_t b = 0; b < blocks; ++b, in += block, out += block) {
        uint8_t high = 0;
        for (size_t i = 0; i < block; ++i) {
            const uint8_t c = in[i];
            const uint8_t upper = static_cast<uint8_t>(c - 'A') < rule.letters ? 0x20 : 0;
            const uint8_t digit = static_cast<uint8_t>(c - '0') < rule.digits ? 0x0F : 0;
            high |= c;
            out[i] = static_cast<uint8_t>((c & ~digit) + upper);
        }
        if (high & 0x80) return b;
    }
    return blocks;
}

NEARDUP_EACH_LEVEL(size_t, copy_any, (const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule),
                   (in, blocks, out, rule))

#if NEARDUP_X86

NEARDUP_AVX512 NEARDUP_INLINE __m512i all(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }

// By hand because compilers fold the highest bits together in a dozen steps where one is enough.
NEARDUP_AVX512 size_t copy_avx512(const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule) {
    const __m512i letters = all(rule.letters), digits = all(rule.digits);
    for (size_t b = 0; b < blocks; ++b, in += block, out += block) {
        const __m512i bytes = _mm512_loadu_si512(in);
        const __mmask64 upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all('A')), letters);
        const __mmask64 digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all('0')), digits);
        const __m512i masked = _mm512_mask_mov_epi8(bytes, digit, all('0'));
        _mm512_storeu_si512(out, _mm512_mask_add_epi8(masked, upper, masked, all(0x20)));
        if (_mm512_movepi8_mask(bytes)) return b;
    }
    return blocks;
}

#endif

}  // namespace

size_t copy_ascii(const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule) {
#if NEARDUP_X86
    if (instructions() == Instructions::avx512) return copy_avx512(in, blocks, out, rule);
#endif
    return copy_any(in, blocks, out, rule);
}

size_t ascii_prefix(const uint8_t *text) {
    for (size_t i = 0; i < block; i += 8)
        if (const uint64_t high = load64_le(text + i) & 0x8080808080808080ull)
            return i + static_cast<size_t>(std::countr_zero(high)) / 8;
    return block;
}

}  // namespace neardup
