// Allocates blocks of 16, 32, … 1024 bytes, aligned to their size up to 64. Blocks can be reused; their memory is freed
// all at once.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "online/large_memory.hpp"

namespace neardup {

class BlockPool {
  public:
    static constexpr size_t kSmallest = 16, kLargest = 1024;

    void *take(size_t bytes) {
        const size_t own = number(bytes);
        for (size_t larger = own; larger < kSizes; ++larger)
            if (free_[larger]) return split(larger, own);
        if (static_cast<size_t>(end_ - next_) < kLargest) grow();
        give(std::exchange(next_, next_ + kLargest), kLargest);
        return split(kSizes - 1, own);
    }

    void give(void *block, size_t bytes) {
        *static_cast<void **>(block) = free_[number(bytes)];
        free_[number(bytes)] = block;
    }

    size_t bytes() const { return bytes_; }

  private:
    static constexpr size_t kFirst = 4096, kSizes = 7;

    static size_t number(size_t bytes) { return static_cast<size_t>(std::countr_zero(bytes / kSmallest)); }

    // The unused halves of a larger block become free.
    void *split(size_t from, size_t to) {
        auto *const block = static_cast<std::byte *>(free_[from]);
        free_[from] = *reinterpret_cast<void **>(block);
        while (from > to) {
            --from;
            give(block + (kSmallest << from), kSmallest << from);
        }
        return block;
    }

    // Adds half of the present size, until pieces are large pages.
    void grow() {
        const size_t more = std::clamp(std::bit_ceil(bytes_ / 2), kFirst, kLargePage);
        pieces_.emplace_back(more);
        next_ = pieces_.back().data();
        end_ = next_ + more;
        bytes_ += more;
    }

    std::vector<std::vector<std::byte, LargeMemory<std::byte>>> pieces_;
    void *free_[kSizes] = {};
    std::byte *next_ = nullptr, *end_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace neardup
