// Vertical (bit-sliced) counters: the number of bitmaps in which each column is set, for 512 columns at once.
//
// Plane p holds bit p of the count of every column. Sixteen bitmaps at a time pass through a tree of carry-save adders
// (Harley & Seal), which leaves one carry to propagate. A bitmap costs two to five instructions for as many columns as a
// register has bits. Every instruction set (simd.hpp) gives the same counts. Reading the bitmaps from memory bounds the
// speed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Bitmaps consist of whole lines of 512 columns, aligned to their size.
inline constexpr size_t kLineWords = 8, kLineColumns = 64 * kLineWords;

struct Reached {
    uint32_t column, count;
};

class VerticalCounts {
  public:
    // Starts at 0 for `lines` lines; no column will be counted more than `most` times.
    void reset(size_t lines, size_t most);

    // Counts these lines of each bitmap.
    void add(const std::vector<const uint64_t *> &bitmaps, size_t first, size_t last);

    // Appends the columns first … last − 1 whose count, plus that in `others`, is at least `least`. `first` begins a
    // line, and `others` must extend to the end of a line.
    void reaching(const uint32_t *others, size_t first, size_t last, uint32_t least, std::vector<Reached> &out) const;

  private:
    struct alignas(64) Line {
        uint64_t words[kLineWords];
    };

    size_t planes_ = 0;
    std::vector<Line> counts_;  // the planes of a line, then those of the next
};

}  // namespace neardup
