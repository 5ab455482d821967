// The 64-bit hash of a word. It must never change, because signatures, stores and artefacts contain it.
//
// The hash is a 64×64→128 multiply-and-fold, as in wyhash and rapidhash. The first constant has bytes that
// no UTF-8 text contains (0xFF, 0xF8…), so the first factor cannot be zero for a word. A hash is never 0,
// because tables use 0 for an empty slot.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"
#include "text/bytes.hpp"

namespace neardup {

namespace word_hash_detail {

inline constexpr uint64_t k0 = 0xF9FDFBFF6AC1F5FBull, k1 = 0xD1B54A32D192ED03ull, k2 = 0x8CB92BA72F3D8DD7ull,
                          k3 = 0xE7037ED1A0B428DBull;

NEARDUP_INLINE uint64_t fold(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
    const uint64_t al = a & 0xFFFFFFFF, ah = a >> 32, bl = b & 0xFFFFFFFF, bh = b >> 32;
    const uint64_t low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (mid & 0xFFFFFFFF);
    return (a * b) ^ (ah * bh + (mid >> 32) + (mid2 >> 32));
#endif
}

// The last step; `lo` and `hi` are the (zero-padded) last 16 bytes.
NEARDUP_INLINE uint64_t finish(uint64_t state, uint64_t lo, uint64_t hi, uint64_t size) {
    const uint64_t h = fold(fold(lo ^ k0, hi ^ state) ^ k2, size ^ k3);
    return h + (h == 0);
}

// For more than 16 bytes: whole 16-byte steps, then the last 16 bytes, which may overlap them. It is not inlined into
// loops over words, because it is rare and would occupy their registers.
NEARDUP_NOINLINE inline uint64_t long_hash(const uint8_t *p, size_t size) {
    uint64_t state = k1;
    for (size_t i = 0; i + 16 < size; i += 16) state = fold(load64_le(p + i) ^ k0, load64_le(p + i + 8) ^ state);
    return finish(state, load64_le(p + size - 16), load64_le(p + size - 8), size);
}

// Masks for the first and the second 8 bytes of a word of 0…16 bytes.
struct Masks {
    uint64_t lo[17], hi[17];
    constexpr Masks() : lo{}, hi{} {
        for (unsigned n = 0; n <= 16; ++n) {
            lo[n] = n >= 8 ? ~0ull : (1ull << 8 * n) - 1;
            hi[n] = n <= 8 ? 0 : n == 16 ? ~0ull : (1ull << 8 * (n - 8)) - 1;
        }
    }
};
inline constexpr Masks masks;

}  // namespace word_hash_detail

// At least 16 bytes must be readable from `p`, regardless of the size.
NEARDUP_INLINE uint64_t padded_word_hash(const uint8_t *p, size_t size) {
    using namespace word_hash_detail;
    if (size > 16) return long_hash(p, size);
    return finish(k1, load64_le(p) & masks.lo[size], load64_le(p + 8) & masks.hi[size], size);
}

inline uint64_t word_hash(const uint8_t *p, size_t size) {
    if (size > 16) return word_hash_detail::long_hash(p, size);
    uint8_t padded[16] = {};
    if (size) std::memcpy(padded, p, size);
    return padded_word_hash(padded, size);
}

}  // namespace neardup
