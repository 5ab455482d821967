#include "text/ascii.hpp"

#include <array>
#include <bit>

#include "simd.hpp"
#include "text/bytes.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {

namespace {

constexpr size_t block = kAsciiBlock;

NEARDUP_INLINE uint8_t changed(uint8_t c, AsciiRule rule) {
    const uint8_t upper = static_cast<uint8_t>(c - 'A') < rule.letters ? 0x20 : 0;
    const uint8_t digit = static_cast<uint8_t>(c - '0') < rule.digits ? 0x0F : 0;
    return static_cast<uint8_t>((c & ~digit) + upper);
}

template <Instructions>
NEARDUP_INLINE size_t copy_any_on(const uint8_t *in, size_t blocks, uint8_t *out, AsciiRule rule) {
    for (size_t b = 0; b < blocks; ++b, in += block, out += block) {
        uint8_t high = 0;
        for (size_t i = 0; i < block; ++i) {
            high |= in[i];
            out[i] = changed(in[i], rule);
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

constexpr uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128};

NEARDUP_AVX512 Copied copy_kept_avx512(const uint8_t *in, size_t size, uint8_t *out, const KeptBytes &kept,
                                       AsciiRule rule) {
    const __m128i rows = _mm_loadu_si128(reinterpret_cast<const __m128i *>(kept.rows()));
    const __m512i by_low = _mm512_broadcast_i32x4(rows), bits = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i *>(kBits)));
    const __m512i letters = all(rule.letters), digits = all(rule.digits), nibble = all(15);
    size_t at = 0, made = 0;
    for (; at + block <= size; at += block) {
        const __m512i bytes = _mm512_loadu_si512(in + at);
        if (_mm512_movepi8_mask(bytes)) break;
        const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble);
        const __mmask64 stays = _mm512_test_epi8_mask(_mm512_shuffle_epi8(by_low, bytes), _mm512_shuffle_epi8(bits, high));
        const __mmask64 upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all('A')), letters);
        const __mmask64 digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all('0')), digits);
        const __m512i masked = _mm512_mask_mov_epi8(bytes, digit, all('0'));
        const __m512i changed = _mm512_mask_add_epi8(masked, upper, masked, all(0x20));
        _mm512_storeu_si512(out + made, _mm512_maskz_compress_epi8(stays, changed));
        made += static_cast<size_t>(std::popcount(uint64_t{stays}));
    }
    return {at, made};
}

// For each set of eight bytes, which of them come first.
constexpr std::array<uint64_t, 256> kMoves = [] {
    std::array<uint64_t, 256> moves{};
    for (unsigned set = 0; set < 256; ++set)
        for (unsigned i = 0, to = 0; i < 8; ++i)
            if (set >> i & 1) moves[set] |= uint64_t{i} << (8 * to++);
    return moves;
}();

NEARDUP_SSE4 NEARDUP_INLINE size_t store_kept(__m128i eight, unsigned stays, uint8_t *out) {
    const __m128i moves = _mm_cvtsi64_si128(static_cast<int64_t>(kMoves[stays]));
    _mm_storel_epi64(reinterpret_cast<__m128i *>(out), _mm_shuffle_epi8(eight, moves));
    return static_cast<size_t>(std::popcount(stays));
}

NEARDUP_SSE4 Copied copy_kept_sse4(const uint8_t *in, size_t size, uint8_t *out, const KeptBytes &kept,
                                   AsciiRule rule) {
    constexpr size_t part = 16;
    const auto each = [](int value) { return _mm_set1_epi8(static_cast<char>(value)); };
    const __m128i by_low = _mm_loadu_si128(reinterpret_cast<const __m128i *>(kept.rows()));
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i *>(kBits));
    // Signed comparison suffices for ASCII: c < 'A' + letters.
    const __m128i after_z = each('A' + rule.letters), after_nine = each('0' + rule.digits);
    size_t at = 0, made = 0;
    for (; at + part <= size; at += part) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + at));
        if (_mm_movemask_epi8(bytes)) break;
        const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), each(15));
        const __m128i in_row = _mm_and_si128(_mm_shuffle_epi8(by_low, bytes), _mm_shuffle_epi8(bits, high));
        const auto gone = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(in_row, _mm_setzero_si128())));
        const __m128i upper = _mm_and_si128(_mm_cmpgt_epi8(bytes, each('A' - 1)), _mm_cmplt_epi8(bytes, after_z));
        const __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(bytes, each('0' - 1)), _mm_cmplt_epi8(bytes, after_nine));
        const __m128i masked = _mm_blendv_epi8(bytes, each('0'), digit);
        const __m128i changed = _mm_add_epi8(masked, _mm_and_si128(upper, each(0x20)));
        made += store_kept(changed, ~gone & 0xff, out + made);
        made += store_kept(_mm_srli_si128(changed, 8), ~gone >> 8 & 0xff, out + made);
    }
    return {at, made};
}

#endif

Copied copy_kept_plain(const uint8_t *in, size_t size, uint8_t *out, const KeptBytes &kept, AsciiRule rule) {
    size_t at = 0, made = 0;
    for (; at + 8 <= size && !(load64_le(in + at) & 0x8080808080808080ull); at += 8) {
        for (size_t i = 0; i < 8; ++i) {
            out[made] = changed(in[at + i], rule);
            made += kept.keeps(in[at + i]);
        }
    }
    return {at, made};
}

}  // namespace

Copied copy_kept(const uint8_t *in, size_t size, uint8_t *out, const KeptBytes &kept, AsciiRule rule) {
#if NEARDUP_X86
    if (instructions() == Instructions::avx512) return copy_kept_avx512(in, size, out, kept, rule);
    if (instructions() >= Instructions::sse4) return copy_kept_sse4(in, size, out, kept, rule);
#endif
    return copy_kept_plain(in, size, out, kept, rule);
}

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
