#include "text/run_hashes.hpp"

#include <bit>

#include "simd.hpp"
#include "text/word_hash.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {

namespace {

NEARDUP_INLINE uint64_t hash_run(const uint8_t *base, const uint16_t *edge) {
    return padded_word_hash(base + edge[0], static_cast<size_t>(edge[1] - edge[0]));
}

struct NoDigest {
    NEARDUP_INLINE void add_pairs(const uint64_t *, size_t) {}
};

template <typename Digest>
uint64_t *one_by_one(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out, Digest &to,
                     const uint64_t *pending) {
    Digest digest = to;  // a local copy, which no store can alias, stays in registers
    size_t i = 0;
    for (; i + kHashedTogether <= runs; i += kHashedTogether, pending += kHashedTogether) {
        for (size_t k = i; k < i + kHashedTogether; ++k) out[k] = hash_run(base, edges + 2 * k);
        digest.add_pairs(pending, kHashedTogether / 2);
    }
    for (; i < runs; ++i) out[i] = hash_run(base, edges + 2 * i);
    to = digest;
    return out + runs;
}

#if NEARDUP_X86

namespace avx512 {

using namespace word_hash_detail;
using Words = __m512i;  // eight 64-bit numbers

NEARDUP_AVX512 NEARDUP_INLINE Words all(uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }

// word_hash_detail::fold of eight pairs, from 32-bit halves.
NEARDUP_AVX512 NEARDUP_INLINE Words fold(Words a, Words b) {
    const Words a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32);
    const Words low = _mm512_mul_epu32(a, b), high = _mm512_mul_epu32(a_high, b_high);
    const Words mid = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64(low, 32));
    const Words mid_low = _mm512_and_si512(mid, all(0xFFFFFFFF));
    const Words mid_2 = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), mid_low);
    const Words carried = _mm512_add_epi64(_mm512_srli_epi64(mid, 32), _mm512_srli_epi64(mid_2, 32));
    const Words product_low = _mm512_mask_mov_epi32(_mm512_slli_epi64(mid_2, 32), 0x5555, low);
    return _mm512_xor_si512(product_low, _mm512_add_epi64(high, carried));
}

// Keeps the first `bits` bits.
NEARDUP_AVX512 NEARDUP_INLINE Words keep(Words bytes, Words bits) {
    return _mm512_andnot_si512(_mm512_sllv_epi64(all(~0ull), bits), bytes);
}

NEARDUP_AVX512 NEARDUP_INLINE Words finish(Words lo, Words hi, Words sizes) {
    const Words bits = _mm512_slli_epi64(sizes, 3);
    lo = keep(lo, bits);
    hi = keep(hi, _mm512_subs_epu16(bits, all(64)));
    const Words first = fold(_mm512_xor_si512(lo, all(k0)), _mm512_xor_si512(hi, all(k1)));
    const Words h = fold(_mm512_xor_si512(first, all(k2)), _mm512_xor_si512(sizes, all(k3)));
    return _mm512_mask_add_epi64(h, _mm512_testn_epi64_mask(h, h), h, all(1));
}

NEARDUP_AVX512 NEARDUP_INLINE __m128i load(const uint8_t *p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
}

// 16 bytes from each of four begins.
NEARDUP_AVX512 NEARDUP_INLINE Words load_four(const uint8_t *base, const uint16_t *edges) {
    Words four = _mm512_castsi128_si512(load(base + edges[0]));
    four = _mm512_mask_broadcast_i64x2(four, 0b00001100, load(base + edges[2]));
    four = _mm512_mask_broadcast_i64x2(four, 0b00110000, load(base + edges[4]));
    return _mm512_mask_broadcast_i64x2(four, 0b11000000, load(base + edges[6]));
}

NEARDUP_AVX512 NEARDUP_INLINE void hash_eight(const uint8_t *base, const uint16_t *edges, uint64_t *out) {
    const Words pairs = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(edges)));
    const Words sizes = _mm512_sub_epi64(_mm512_srli_epi64(pairs, 16), _mm512_and_si512(pairs, all(0xFFFF)));
    // Unpacking puts run 4 after run 0, and so on.
    const Words mixed = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), back = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const Words first = load_four(base, edges), second = load_four(base, edges + 8);
    const Words hashes = finish(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second),
                                _mm512_permutexvar_epi64(mixed, sizes));
    _mm512_storeu_si512(out, _mm512_permutexvar_epi64(back, hashes));
    for (unsigned rest = _mm512_cmpgt_epu64_mask(sizes, all(16)); rest; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        out[i] = hash_run(base, edges + 2 * i);
    }
}

template <typename Digest>
NEARDUP_AVX512 uint64_t *eight_abreast(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out,
                                       Digest &to, const uint64_t *pending) {
    Digest digest = to;
    size_t i = 0;
    for (; i + kHashedTogether <= runs; i += kHashedTogether, pending += kHashedTogether) {
        hash_eight(base, edges + 2 * i, out + i);
        digest.add_pairs(pending, kHashedTogether / 2);
    }
    for (; i < runs; ++i) out[i] = hash_run(base, edges + 2 * i);
    to = digest;
    return out + runs;
}

}  // namespace avx512

#endif

template <typename Digest>
uint64_t *hash_with(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out, Digest &digest,
                    const uint64_t *pending) {
#if NEARDUP_X86
    if (instructions() == Instructions::avx512) return avx512::eight_abreast(base, edges, runs, out, digest, pending);
#endif
    return one_by_one(base, edges, runs, out, digest, pending);
}

}  // namespace

uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out) {
    NoDigest none;
    return hash_with(base, edges, runs, out, none, out);
}

uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out, SequenceDigest &digest,
                    const uint64_t *pending) {
    return hash_with(base, edges, runs, out, digest, pending);
}

}  // namespace neardup
