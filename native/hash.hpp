// The mixing functions behind every signature. They are part of the signature format: changing a
// constant changes all keys, so golden vectors in the tests pin them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "text/bytes.hpp"
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace neardup {

inline constexpr uint64_t kSecret[4] = {0x9e3779b97f4a7c15ull, 0xd1b54a32d192ed03ull,
                                        0x8bb84b93962eacc9ull, 0x4b33a62ed433d4a3ull};

// High and low half of a 64x64 product, folded: the mixer of the wyhash family.
NEARDUP_INLINE uint64_t fold_multiply(uint64_t a, uint64_t b) {
#if defined(_MSC_VER) && !defined(__clang__)
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
#else
    __extension__ typedef unsigned __int128 wide;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#endif
}

// A bijection of 64 bits (Stafford's variant 13 of the MurmurHash3 finaliser): spreads without
// adding collisions. Plain multiplies and shifts, so loops over it vectorise.
inline uint64_t scramble(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// Order-dependent 64-bit digests of a sequence that may come in pieces, one a seed; two seeds give 128 bits.
// Two lanes, so that one multiply need not wait for the other; only the first depends on the seed, so more
// seeds cost little more.
template <size_t N>
class SequenceDigests {
  public:
    explicit SequenceDigests(const std::array<uint64_t, N> &seeds) : seeds_(seeds), even_(seeds) {
        for (uint64_t &lane : even_) lane ^= kSecret[0];
    }

    void add(const uint64_t *values, size_t count) {
        if (count && size_ & 1) {
            odd_ = fold_multiply(odd_ ^ *values++, kSecret[3]);
            ++size_;
            --count;
        }
        const size_t pairs = count / 2;
        add_pairs(values, pairs);
        if (count & 1) {
            for (uint64_t &lane : even_) lane = fold_multiply(lane ^ values[2 * pairs], kSecret[2]);
            ++size_;
        }
    }
    // After an even number of values. Lanes are copied into registers: in memory, one would wait for its own store.
    NEARDUP_INLINE void add_pairs(const uint64_t *values, size_t pairs) {
        std::array<uint64_t, N> even = even_;
        uint64_t odd = odd_;
        for (size_t i = 0; i < pairs; ++i) {
            for (uint64_t &lane : even) lane = fold_multiply(lane ^ values[2 * i], kSecret[2]);
            odd = fold_multiply(odd ^ values[2 * i + 1], kSecret[3]);
        }
        even_ = even;
        odd_ = odd;
        size_ += 2 * pairs;
    }
    uint64_t value(size_t seed = 0) const {
        return fold_multiply(even_[seed] ^ kSecret[3] ^ size_, odd_ ^ seeds_[seed]);
    }

  private:
    std::array<uint64_t, N> seeds_, even_;
    uint64_t odd_ = kSecret[1], size_ = 0;
};

using SequenceDigest = SequenceDigests<1>;

inline uint64_t sequence_digest(const uint64_t *values, size_t size, uint64_t seed) {
    SequenceDigest digest({seed});
    digest.add(values, size);
    return digest.value();
}

// 64-bit digest of bytes; four lanes so that long texts run at memory speed.
inline uint64_t bytes_digest(const uint8_t *p, size_t size, uint64_t seed) {
    uint64_t lane[4] = {seed ^ kSecret[0], seed ^ kSecret[1], seed ^ kSecret[2], seed ^ kSecret[3]};
    size_t left = size;
    for (; left >= 64; left -= 64, p += 64)
        for (int k = 0; k < 4; ++k)
            lane[k] = fold_multiply(load64_le(p + 16 * k) ^ kSecret[k], load64_le(p + 16 * k + 8) ^ lane[k]);
    uint8_t tail[64] = {};
    if (left) std::memcpy(tail, p, left);  // an empty text may have no address
    for (int k = 0; k < 4; ++k)
        lane[k] = fold_multiply(load64_le(tail + 16 * k) ^ kSecret[k], load64_le(tail + 16 * k + 8) ^ lane[k]);
    const uint64_t a = fold_multiply(lane[0] ^ kSecret[1], lane[1] ^ size);
    const uint64_t b = fold_multiply(lane[2] ^ kSecret[3], lane[3] ^ seed);
    return fold_multiply(a ^ kSecret[2], b ^ kSecret[0]);
}

}  // namespace neardup
