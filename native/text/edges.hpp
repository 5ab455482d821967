// Where runs of ASCII letters, digits and non-ASCII bytes begin and end.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// Finds edges a window at a time, so that they stay in the nearest cache.
class Edges {
  public:
    static constexpr size_t block = 64, window = 32 * block;

    // `text` must be readable, and zero, up to the next multiple of 64 bytes.
    Edges(const uint8_t *text, size_t size) : text_(text), size_(size) {}

    // Goes to the next window; false at the end.
    bool next();

    // Begin and end of each run that ended in this window, in turn.
    const size_t *begin() const { return edges_; }
    size_t pairs() const { return count_ / 2; }

  private:
    const uint8_t *text_;
    size_t size_, done_ = 0, count_ = 0;
    uint64_t before_ = 0;  // 1 if the byte before the window is in a run
    size_t edges_[window + 16];
};

}  // namespace neardup
