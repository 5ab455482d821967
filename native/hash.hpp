// The mixing functions behind every signature. They are part of the signature format: changing a
// constant changes all keys, so golden vectors in the tests pin them.
#pragma once
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
inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
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

// Order-dependent 64-bit digest of a sequence that may come in pieces; two seeds give 128 bits.
class SequenceDigest {
  public:
    explicit SequenceDigest(uint64_t seed) : seed_(seed), lane_{seed ^ kSecret[0], kSecret[1]} {}

    void add(const uint64_t *values, size_t count) {
        size_t i = 0;
        if (count && size_ & 1) one(values[i++]);
        uint64_t even = lane_[0], odd = lane_[1];  // a lane in memory would wait for its own store
        for (; i + 2 <= count; i += 2, size_ += 2) {
            even = fold_multiply(even ^ values[i], kSecret[2]);
            odd = fold_multiply(odd ^ values[i + 1], kSecret[3]);
        }
        lane_[0] = even;
        lane_[1] = odd;
        if (i < count) one(values[i]);
    }
    uint64_t value() const { return fold_multiply(lane_[0] ^ kSecret[3] ^ size_, lane_[1] ^ seed_); }

  private:
    void one(uint64_t value) {
        lane_[size_ & 1] = fold_multiply(lane_[size_ & 1] ^ value, kSecret[2 + (size_ & 1)]);
        ++size_;
    }

    uint64_t seed_, lane_[2], size_ = 0;  // two lanes: one multiply need not wait for the other
};

inline uint64_t sequence_digest(const uint64_t *values, size_t size, uint64_t seed) {
    SequenceDigest digest(seed);
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
