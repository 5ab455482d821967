#include "text/edges.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simd.hpp"
#include "text/bytes.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {

namespace {

constexpr size_t block = Edges::block;

// One bit a byte.
using Mask = uint64_t;

// The bits whose byte is the first of a run or the first after one.
NEARDUP_INLINE Mask changes(Mask inside, uint64_t &before) {
    const Mask found = inside ^ (inside << 1 | before);
    before = inside >> 63;
    return found;
}

// Where the bits of a byte are, in order.
struct BitPlaces {
    uint16_t of[256][8];
    uint8_t count[256];
    constexpr BitPlaces() : of{}, count{} {
        for (unsigned byte = 0; byte < 256; ++byte)
            for (unsigned bit = 0; bit < 8; ++bit)
                if (byte >> bit & 1) of[byte][count[byte]++] = static_cast<uint16_t>(bit);
    }
};
constexpr BitPlaces bit_places;

// Writes eight places for each byte of the mask, needed or not: no branch that the bits decide.
NEARDUP_INLINE uint16_t *flatten(Mask bits, size_t base, uint16_t *out) {
    for (size_t i = 0; i < block; i += 8, bits >>= 8) {
        const auto from = static_cast<uint16_t>(base + i);
        uint16_t places[8];
        std::memcpy(places, bit_places.of[bits & 0xFF], sizeof places);
        for (uint16_t &place : places) place = static_cast<uint16_t>(place + from);
        std::memcpy(out, places, sizeof places);
        out += bit_places.count[bits & 0xFF];
    }
    return out;
}

#if !NEARDUP_X86

namespace portable {

// Eight bytes of 0 or 1 to eight bits.
Mask pack(uint64_t flags) { return flags * 0x0102040810204080ull >> 56; }

Mask inside(const uint8_t *text) {
    alignas(block) uint8_t flags[block];
    for (size_t i = 0; i < block; ++i) {
        const uint8_t c = text[i];
        const bool letter = static_cast<uint8_t>((c | 0x20) - 'a') < 26;
        const bool digit = static_cast<uint8_t>(c - '0') < 10;
        flags[i] = letter | digit | (c >> 7);
    }
    Mask mask = 0;
    for (size_t i = 0; i < block; i += 8) mask |= pack(load64_le(flags + i)) << i;
    return mask;
}

uint16_t *places(const uint8_t *text, size_t blocks, uint64_t &before, uint16_t *out) {
    for (size_t b = 0; b < blocks; ++b) out = flatten(changes(inside(text + b * block), before), b * block, out);
    return out;
}

}  // namespace portable

#else

namespace sse2 {

NEARDUP_INLINE __m128i below(__m128i bytes, char from, char size) {
    const __m128i from_0 = _mm_sub_epi8(bytes, _mm_set1_epi8(from));
    return _mm_cmpeq_epi8(_mm_min_epu8(from_0, _mm_set1_epi8(static_cast<char>(size - 1))), from_0);
}

NEARDUP_INLINE Mask inside_quarter(const uint8_t *text) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(text));
    const __m128i letter = below(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
    const __m128i ascii = _mm_or_si128(letter, below(bytes, '0', 10));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(ascii, bytes)));  // takes the highest bits
}

uint16_t *places(const uint8_t *text, size_t blocks, uint64_t &before, uint16_t *out) {
    for (size_t b = 0; b < blocks; ++b) {
        Mask inside = 0;
        for (size_t i = 0; i < block; i += 16, text += 16) inside |= inside_quarter(text) << i;
        out = flatten(changes(inside, before), b * block, out);
    }
    return out;
}

}  // namespace sse2

namespace avx2 {

NEARDUP_AVX2 NEARDUP_INLINE __m256i below(__m256i bytes, char from, char size) {
    const __m256i from_0 = _mm256_sub_epi8(bytes, _mm256_set1_epi8(from));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(from_0, _mm256_set1_epi8(static_cast<char>(size - 1))), from_0);
}

NEARDUP_AVX2 NEARDUP_INLINE uint32_t inside_half(const uint8_t *text) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(text));
    const __m256i letter = below(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), 'a', 26);
    const __m256i ascii = _mm256_or_si256(letter, below(bytes, '0', 10));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(ascii, bytes)));  // takes the highest bits
}

NEARDUP_AVX2 uint16_t *places(const uint8_t *text, size_t blocks, uint64_t &before, uint16_t *out) {
    for (size_t b = 0; b < blocks; ++b, text += block) {
        const Mask inside = inside_half(text) | Mask{inside_half(text + block / 2)} << 32;
        out = flatten(changes(inside, before), b * block, out);
    }
    return out;
}

}  // namespace avx2

namespace avx512 {

NEARDUP_AVX512 NEARDUP_INLINE Mask inside(const uint8_t *text) {
    const __m512i bytes = _mm512_loadu_si512(text);
    const __m512i letter = _mm512_sub_epi8(_mm512_or_si512(bytes, _mm512_set1_epi8(0x20)), _mm512_set1_epi8('a'));
    const __m512i digit = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    return _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(26)) | _mm512_cmplt_epu8_mask(digit, _mm512_set1_epi8(10)) |
           _mm512_movepi8_mask(bytes);
}

NEARDUP_AVX512 uint16_t *places(const uint8_t *text, size_t blocks, uint64_t &before, uint16_t *out) {
    alignas(block) uint8_t numbers[block];
    for (size_t i = 0; i < block; ++i) numbers[i] = static_cast<uint8_t>(i);
    const __m512i all = _mm512_load_si512(numbers);
    for (size_t b = 0; b < blocks; ++b, text += block) {
        const Mask bits = changes(inside(text), before);
        const __m512i found = _mm512_maskz_compress_epi8(bits, all);
        const __m512i base = _mm512_set1_epi16(static_cast<short>(b * block));
        const __m512i first = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found));
        const __m512i second = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(found, 1));
        _mm512_storeu_si512(out, _mm512_add_epi16(first, base));
        _mm512_storeu_si512(out + block / 2, _mm512_add_epi16(second, base));
        out += std::popcount(bits);
    }
    return out;
}

}  // namespace avx512

#endif

}  // namespace

Edges::Edges(const uint8_t *text, size_t size) : text_(text), size_(size) {
#if NEARDUP_X86
    constexpr Places by_level[] = {sse2::places, sse2::places, avx2::places, avx512::places};
    places_ = by_level[static_cast<size_t>(instructions())];
#else
    places_ = portable::places;
#endif
}

bool Edges::next() {
    if (done_ >= size_) return false;
    base_ = done_;
    const size_t goes_on = before_;  // 1: the first edge is an end
    const size_t blocks = (std::min(size_ - base_, window) + block - 1) / block;
    count_ = static_cast<size_t>(places_(base(), blocks, before_, edges_ + goes_on) - edges_);
    done_ += blocks * block;
    if (done_ >= size_ && before_) edges_[count_++] = static_cast<uint16_t>(size_ - base_);
    carried_ = goes_on && count_ > 1 ? text_ + open_ : nullptr;
    if (before_ && count_ > goes_on) open_ = base_ + edges_[count_ - 1];
    return true;
}

}  // namespace neardup
