#include "features/minhash.hpp"

#include <cstring>
#include <vector>

#include "hash.hpp"
#include "simd.hpp"

namespace neardup {

namespace {

constexpr size_t kMinhashStep = 16;  // what m is a multiple of

// Count registers of values stay in registers over the whole set.
template <Instructions Level, size_t Count>
NEARDUP_INLINE void minhash_block(const uint64_t *hashes, size_t count, const uint32_t *multipliers,
                                  uint32_t *minima) {
    using Lanes = typename LanesOf<uint32_t, Level>::type;
    Lanes a[Count], least[Count];
    std::memcpy(a, multipliers, sizeof a);
    std::memset(least, 0xff, sizeof least);
    for (size_t f = 0; f < count; ++f) {
        const uint32_t x = static_cast<uint32_t>(hashes[f]), y = static_cast<uint32_t>(hashes[f] >> 32);
        for (size_t i = 0; i < Count; ++i) {
            const Lanes h = a[i] * x + y;
            least[i] = h < least[i] ? h : least[i];
        }
    }
    std::memcpy(minima, least, sizeof least);
}

template <Instructions Level>
NEARDUP_INLINE void minhash_on(const uint64_t *hashes, size_t count, const uint32_t *multipliers, size_t m,
                               uint32_t *minima) {
    constexpr size_t lanes = LanesOf<uint32_t, Level>::count, many = 8;
    size_t i = 0;
    for (; i + many * lanes <= m; i += many * lanes)
        minhash_block<Level, many>(hashes, count, multipliers + i, minima + i);
    for (; i < m; i += kMinhashStep)
        minhash_block<Level, kMinhashStep / lanes>(hashes, count, multipliers + i, minima + i);
}

}  // namespace

NEARDUP_EACH_LEVEL(void, minhash,
                   (const uint64_t *hashes, size_t count, const uint32_t *multipliers, size_t m, uint32_t *minima),
                   (hashes, count, multipliers, m, minima))

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
