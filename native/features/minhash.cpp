#include "features/minhash.hpp"

#include <cstring>
#include <vector>

#include "hash.hpp"
#include "simd.hpp"

namespace neardup {

typedef uint32_t Lanes __attribute__((vector_size(64)));

// B vectors of 16 values stay in registers over the whole set.
template <size_t B>
static inline __attribute__((always_inline)) void minhash_block(const uint64_t *hashes, size_t count,
                                                                const uint32_t *multipliers, uint32_t *minima) {
    Lanes a[B], least[B];
    std::memcpy(a, multipliers, sizeof a);
    std::memset(least, 0xff, sizeof least);
    for (size_t f = 0; f < count; ++f) {
        const uint32_t x = static_cast<uint32_t>(hashes[f]), y = static_cast<uint32_t>(hashes[f] >> 32);
        for (size_t b = 0; b < B; ++b) {
            const Lanes h = a[b] * x + y;
            least[b] = h < least[b] ? h : least[b];
        }
    }
    std::memcpy(minima, least, sizeof least);
}

NEARDUP_CLONES
void minhash(const uint64_t *hashes, size_t count, const uint32_t *multipliers, size_t m, uint32_t *minima) {
    size_t i = 0;
    for (; i + 128 <= m; i += 128) minhash_block<8>(hashes, count, multipliers + i, minima + i);
    for (; i + 16 <= m; i += 16) minhash_block<1>(hashes, count, multipliers + i, minima + i);
}

uint64_t band_key(const uint32_t *minima, uint32_t rows, uint32_t band) {
    uint64_t key = fold_multiply(kSecret[0] ^ band, kSecret[1] ^ rows);
    for (uint32_t i = 0; i < rows; ++i) key = fold_multiply(key ^ minima[i], kSecret[3]);
    return key;
}

void band_keys(const uint32_t *features, const int64_t *offsets, size_t sets, const uint32_t *multipliers, size_t m,
               uint32_t bands, uint32_t rows, uint64_t *keys) {
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> minima(m);
    for (size_t s = 0; s < sets; ++s) {
        hashes.clear();
        for (int64_t i = offsets[s]; i < offsets[s + 1]; ++i) hashes.push_back(scramble(features[i] ^ kSecret[0]));
        minhash(hashes.data(), hashes.size(), multipliers, m, minima.data());
        for (uint32_t b = 0; b < bands; ++b) *keys++ = band_key(minima.data() + size_t{b} * rows, rows, b);
    }
}

}  // namespace neardup
