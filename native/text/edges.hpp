// Finds the begins and ends of runs of ASCII letters, digits and non-ASCII bytes.
//
// Comparisons turn 64 bytes into a 64-bit mask; the bits that differ from the bit before them are the
// edges. With AVX-512 (VBMI2) one compression turns a mask into positions, in about 3 ns for 64 bytes;
// otherwise a table of bytes does, in about 8 ns with AVX2 and 15 ns without. All variants find the same runs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Finds the edges of one window at a time, so that they stay in the first-level cache.
class Edges {
  public:
    static constexpr size_t block = 64, window = 32 * block;

    // `text` must be readable, and zero, up to the next multiple of 64 bytes.
    Edges(const uint8_t *text, size_t size);

    // Advances to the next window; returns false at the end.
    bool next();

    // Begin and end of each run that ends in this window, alternating, relative to `base`.
    const uint16_t *begin() const { return edges_; }
    size_t pairs() const { return count_ / 2; }
    const uint8_t *base() const { return text_ + base_; }

    // The beginning of the first run if it is in an earlier window, else null. `begin` cannot represent it.
    const uint8_t *carried() const { return carried_; }

  private:
    // Writes the edges of whole blocks and returns their end; up to 64 entries after it are overwritten.
    using Places = uint16_t *(*)(const uint8_t *text, size_t blocks, uint64_t &before, uint16_t *out);

    const uint8_t *text_;
    size_t size_, base_ = 0, done_ = 0, count_ = 0;
    Places places_;
    const uint8_t *carried_ = nullptr;
    size_t open_ = 0;      // the beginning of a run that continues after the window
    uint64_t before_ = 0;  // 1 if there is such a run
    uint16_t edges_[1 + window + block];
};

}  // namespace neardup
