// Vertical (bit-sliced) counters: how many of many bitmaps have each column set, for 512 columns at once.
//
// Plane p holds bit p of the count of every column. Sixteen bitmaps at a time go through a tree of carry-save
// adders (Harley & Seal), which leaves one carry to ripple on; a bitmap costs two to five instructions for as
// many columns as a register has bits. The same counts from every instruction set (simd.hpp). Bound: reading
// the bitmaps from memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Bitmaps come in whole lines of 512 columns, aligned to their size.
inline constexpr size_t kLineWords = 8, kLineColumns = 64 * kLineWords;

struct Reached {
    uint32_t column, count;
};

class VerticalCounts {
  public:
    // Begins at 0 for so many lines; no column will be counted more than `most` times.
    void reset(size_t lines, size_t most);

    // Counts these lines of each bitmap.
    void add(const std::vector<const uint64_t *> &bitmaps, size_t first, size_t last);

    // Appends the columns, from the beginning of a line on, whose count, with that of `others`, is at least
    // `least`. The others go on to the end of the line.
    void reaching(const uint32_t *others, size_t first, size_t last, uint32_t least, std::vector<Reached> &out) const;

  private:
    struct alignas(64) Line {
        uint64_t words[kLineWords];
    };

    size_t planes_ = 0;
    std::vector<Line> counts_;  // the planes of a line, then those of the next
};

}  // namespace neardup
