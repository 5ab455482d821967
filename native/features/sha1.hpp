// SHA-1 (FIPS 180-4), for signatures that papers define with it. It does not protect against collisions that are
// constructed on purpose.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace neardup {

// The input is 32-bit numbers, each of which represents its four bytes in little-endian order.
class Sha1 {
  public:
    void add(uint32_t number) {
        block_[filled_++] = big_endian(number);
        if (filled_ == 16) mix();
    }

    // The first 128 of the 160 bits: the bytes of each half in little-endian order.
    std::array<uint64_t, 2> finish() {
        const uint64_t bits = (blocks_ * 16 + filled_) * 32;
        block_[filled_++] = 0x80000000u;
        if (filled_ == 16) mix();
        if (filled_ > 14) {
            while (filled_ < 16) block_[filled_++] = 0;
            mix();
        }
        while (filled_ < 14) block_[filled_++] = 0;
        block_[14] = static_cast<uint32_t>(bits >> 32);
        block_[15] = static_cast<uint32_t>(bits);
        mix();
        return {half(state_[0], state_[1]), half(state_[2], state_[3])};
    }

  private:
    static uint32_t big_endian(uint32_t x) {
        return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
    }
    static uint64_t half(uint32_t first, uint32_t second) {
        return uint64_t{big_endian(second)} << 32 | big_endian(first);
    }

    void mix() {
        uint32_t w[80];
        for (int i = 0; i < 16; ++i) w[i] = block_[i];
        for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4];
        const auto step = [&](int i, uint32_t f, uint32_t k) {
            const uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
            e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
        };
        for (int i = 0; i < 20; ++i) step(i, (b & c) | (~b & d), 0x5a827999u);
        for (int i = 20; i < 40; ++i) step(i, b ^ c ^ d, 0x6ed9eba1u);
        for (int i = 40; i < 60; ++i) step(i, (b & c) | (b & d) | (c & d), 0x8f1bbcdcu);
        for (int i = 60; i < 80; ++i) step(i, b ^ c ^ d, 0xca62c1d6u);
        state_[0] += a, state_[1] += b, state_[2] += c, state_[3] += d, state_[4] += e;
        filled_ = 0;
        ++blocks_;
    }

    uint32_t state_[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    uint32_t block_[16] = {};
    size_t filled_ = 0;
    uint64_t blocks_ = 0;
};

}  // namespace neardup
