// Where runs of ASCII letters, digits and non-ASCII bytes begin and end.
//
// 64 bytes become one 64-bit mask by comparisons, and the bits that differ from the bit before them are
// the edges. With AVX-512 (VBMI2) a mask is turned into places by one compression, some 3 ns for 64
// bytes; elsewhere by a table of bytes, some 8 ns with AVX2 and 15 without. All ways give the same runs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Finds edges a window at a time, so that they stay in the nearest cache.
class Edges {
  public:
    static constexpr size_t block = 64, window = 32 * block;

    // `text` must be readable, and zero, up to the next multiple of 64 bytes.
    Edges(const uint8_t *text, size_t size);

    // Goes to the next window; false at the end.
    bool next();

    // Begin and end of each run that ended in this window, in turn, counted from `base`.
    const uint16_t *begin() const { return edges_; }
    size_t pairs() const { return count_ / 2; }
    const uint8_t *base() const { return text_ + base_; }

    // Where the first run begins if that is in an earlier window, or null. `begin` has no place for it.
    const uint8_t *carried() const { return carried_; }

  private:
    // Writes the edges in whole blocks and returns their end; up to 64 more are overwritten.
    using Places = uint16_t *(*)(const uint8_t *text, size_t blocks, uint64_t &before, uint16_t *out);

    const uint8_t *text_;
    size_t size_, base_ = 0, done_ = 0, count_ = 0;
    Places places_;
    const uint8_t *carried_ = nullptr;
    size_t open_ = 0;      // where the run begins that goes on after the window
    uint64_t before_ = 0;  // 1 if there is one
    uint16_t edges_[1 + window + block];
};

}  // namespace neardup
