#include "text/edges.hpp"

#include <algorithm>
#include <bit>

#include "simd.hpp"
#include "text/bytes.hpp"

namespace neardup {

namespace {

constexpr size_t block = Edges::block;

// Eight bytes of 0 or 1 to eight bits.
NEARDUP_INLINE uint64_t pack(uint64_t flags) { return flags * 0x0102040810204080ull >> 56; }

// One bit a byte: the compiler vectorises the comparison; the multiplications are the portable movemask.
NEARDUP_CLONES void mark_words(const uint8_t *text, size_t blocks, uint64_t *bits) {
    for (size_t b = 0; b < blocks; ++b, text += block) {
        alignas(block) uint8_t flags[block];
        for (size_t i = 0; i < block; ++i) {
            const uint8_t c = text[i];
            const bool letter = static_cast<uint8_t>((c | 0x20) - 'a') < 26;
            const bool digit = static_cast<uint8_t>(c - '0') < 10;
            flags[i] = letter | digit | (c >> 7);
        }
        uint64_t word = 0;
        for (size_t i = 0; i < block; i += 8) word |= pack(load64_le(flags + i)) << i;
        bits[b] = word;
    }
}

// Writes eight at a time whether needed or not: a loop whose length the processor can guess.
NEARDUP_INLINE size_t *flatten(uint64_t changes, size_t base, size_t *out) {
    size_t *const end = out + std::popcount(changes);
    while (changes) {
        for (int i = 0; i < 8; ++i) {
            out[i] = base + static_cast<size_t>(std::countr_zero(changes));
            changes &= changes - 1;
        }
        out += 8;
    }
    return end;
}

}  // namespace

bool Edges::next() {
    if (done_ >= size_) return false;
    // An odd edge is the beginning of a run that goes on in this window.
    if (count_ % 2) edges_[0] = edges_[count_ - 1];
    size_t *out = edges_ + count_ % 2;

    const size_t blocks = (std::min(size_ - done_, window) + block - 1) / block;
    uint64_t bits[window / block];
    mark_words(text_ + done_, blocks, bits);
    for (size_t b = 0; b < blocks; ++b) {
        out = flatten(bits[b] ^ (bits[b] << 1 | before_), done_ + b * block, out);
        before_ = bits[b] >> 63;
    }
    done_ += blocks * block;
    count_ = static_cast<size_t>(out - edges_);
    if (done_ >= size_ && before_) edges_[count_++] = size_;
    return true;
}

}  // namespace neardup
