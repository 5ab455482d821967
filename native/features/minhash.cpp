#include "features/minhash.hpp"

#include <cstring>

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

}  // namespace neardup
