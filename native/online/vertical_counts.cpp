#include "online/vertical_counts.hpp"

#include <algorithm>
#include <bit>

#include "simd.hpp"
#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {
namespace {

constexpr size_t kTogether = 16, kLow = 4, kMostLines = 16;

alignas(64) constexpr uint64_t kNothing[kMostLines * kLineWords] = {};

template <typename V>
NEARDUP_INLINE void add_two(V &carry, V &sum, const V &b, const V &c) {
    const V both = sum ^ b;
    carry = (sum & b) | (both & c);
    sum = both ^ c;
}

// V: as many columns as are counted in one register.
template <typename V>
NEARDUP_INLINE void add_sixteen(V *low, V *high, size_t stride, size_t highs, const V *const *in, size_t at) {
    V ones = low[0], twos = low[stride], fours = low[2 * stride], eights = low[3 * stride];
    V two[2], four[2], eight[2], carry;
    for (size_t half = 0; half < 2; ++half) {
        for (size_t quarter = 0; quarter < 2; ++quarter) {
            const V *const *from = in + 8 * half + 4 * quarter;
            add_two(two[0], ones, from[0][at], from[1][at]);
            add_two(two[1], ones, from[2][at], from[3][at]);
            add_two(four[quarter], twos, two[0], two[1]);
        }
        add_two(eight[half], fours, four[0], four[1]);
    }
    add_two(carry, eights, eight[0], eight[1]);
    low[0] = ones, low[stride] = twos, low[2 * stride] = fours, low[3 * stride] = eights;
    for (size_t p = 0; p < highs; ++p) {
        const V before = high[p * stride];
        high[p * stride] = before ^ carry;
        carry = before & carry;
    }
}

template <Instructions Level>
struct Columns {
    typedef uint64_t type __attribute__((vector_size(register_bytes(Level)), may_alias));
};

template <Instructions Level>
NEARDUP_INLINE void add_bitmaps_on(uint64_t *counts, size_t planes, const uint64_t *const *bitmaps, size_t number,
                                size_t begin, size_t end) {
    using V = typename Columns<Level>::type;
    constexpr size_t stride = 8 * kLineWords / sizeof(V);
    for (size_t first = 0; first < number; first += kTogether) {
        const V *in[kTogether];
        for (size_t i = 0; i < kTogether; ++i) {
            in[i] = reinterpret_cast<const V *>(first + i < number ? bitmaps[first + i] : kNothing);
        }
        for (size_t at = begin * stride; at < end * stride; ++at) {
            V *const low = reinterpret_cast<V *>(counts) + at / stride * planes * stride + at % stride;
            add_sixteen(low, low + kLow * stride, stride, planes - kLow, in, at);
        }
    }
}

NEARDUP_EACH_LEVEL(void, add_bitmaps,
                   (uint64_t *counts, size_t planes, const uint64_t *const *bitmaps, size_t number, size_t begin,
                    size_t end),
                   (counts, planes, bitmaps, number, begin, end))

// 32 columns at a time, in lanes that the compiler puts into registers.
template <Instructions>
NEARDUP_INLINE void reaching_lanes_on(const uint64_t *counts, size_t planes, const uint32_t *others, size_t first,
                                   size_t last, uint32_t least, std::vector<Reached> &out) {
    constexpr size_t lanes = 32;
    for (size_t begin = first; begin < last; begin += lanes) {
        const uint64_t *const line = counts + begin / kLineColumns * planes * kLineWords;
        const size_t word = begin % kLineColumns / 64, shift = begin % 64;
        uint32_t sum[lanes], high = 0;
        for (size_t i = 0; i < lanes; ++i) sum[i] = others[begin + i];
        for (size_t p = 0; p < planes; ++p) {
            const auto bits = static_cast<uint32_t>(line[p * kLineWords + word] >> shift);
            for (size_t i = 0; i < lanes; ++i) sum[i] += (bits >> i & 1u) << p;
        }
        for (size_t i = 0; i < lanes; ++i) high = std::max(high, sum[i]);
        if (high < least) continue;
        for (size_t i = 0; i < std::min(lanes, last - begin); ++i)
            if (sum[i] >= least) out.push_back({static_cast<uint32_t>(begin + i), sum[i]});
    }
}

NEARDUP_EACH_LEVEL(void, reaching_lanes,
                   (const uint64_t *counts, size_t planes, const uint32_t *others, size_t first, size_t last,
                    uint32_t least, std::vector<Reached> &out),
                   (counts, planes, others, first, last, least, out))

#if NEARDUP_X86
// A plane is a mask: its bits say to which counts its worth is added.
NEARDUP_AVX512 void reach_avx512(const uint64_t *counts, size_t planes, const uint32_t *others, size_t first,
                                 size_t last, uint32_t least, std::vector<Reached> &out) {
    constexpr size_t lanes = 16;
    const __m512i wanted = _mm512_set1_epi32(static_cast<int>(least));
    for (size_t begin = first; begin < last; begin += lanes) {
        const uint64_t *const words = counts + begin / kLineColumns * planes * kLineWords + begin % kLineColumns / 64;
        __m512i sum = _mm512_loadu_si512(others + begin);
        for (size_t p = 0; p < planes; ++p) {
            const auto has = static_cast<__mmask16>(words[p * kLineWords] >> begin % 64);
            sum = _mm512_mask_add_epi32(sum, has, sum, _mm512_set1_epi32(1 << p));
        }
        uint32_t reached = _mm512_cmpge_epu32_mask(sum, wanted);
        if (!reached) continue;
        uint32_t each[lanes];
        _mm512_storeu_si512(each, sum);
        for (; reached; reached &= reached - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(reached));
            if (begin + i < last) out.push_back({static_cast<uint32_t>(begin + i), each[i]});
        }
    }
}
#endif

}  // namespace

void VerticalCounts::reset(size_t lines, size_t most) {
    planes_ = std::max<size_t>(kLow, std::bit_width(most));
    counts_.assign(lines * planes_, {});
}

void VerticalCounts::add(const std::vector<const uint64_t *> &bitmaps, size_t first, size_t last) {
    if (bitmaps.empty() || first >= last) return;
    add_bitmaps(counts_.data()->words, planes_, bitmaps.data(), bitmaps.size(), first, last);
}

void VerticalCounts::reaching(const uint32_t *others, size_t first, size_t last, uint32_t least,
                              std::vector<Reached> &out) const {
#if NEARDUP_X86
    if (instructions() == Instructions::avx512)
        return reach_avx512(counts_.data()->words, planes_, others, first, last, least, out);
#endif
    reaching_lanes(counts_.data()->words, planes_, others, first, last, least, out);
}

}  // namespace neardup
