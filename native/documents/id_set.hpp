// The ids that occurred before: an open-addressing set of 64-bit digests that only grows. Digests lie in
// blocks that never move, and slots hold only their numbers, so that growing needs no second table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace neardup {

class IdSet {
  public:
    // first[i] = −1 for a new digest, else the number (in the order of adding) of the digest that it repeats.
    void add(const uint64_t *digests, size_t count, int64_t *first) {
        if (number_ + count >= NONE) throw std::length_error("more than 4,294,967,294 ids");
        for (size_t i = 0; i < count; ++i, ++number_) {
            if (4 * (used_ + 1) > 3 * slots_.size()) grow();
            uint32_t &slot = find(digests[i]);
            first[i] = slot == NONE ? -1 : int64_t(entry(slot).number);
            if (slot != NONE) continue;
            if (used_ % BLOCK == 0) blocks_.emplace_back().reserve(BLOCK);
            blocks_.back().push_back({uint32_t(digests[i]), uint32_t(digests[i] >> 32), uint32_t(number_)});
            slot = uint32_t(used_++);
        }
    }

  private:
    static constexpr size_t BLOCK = 1 << 14;
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Entry {  // 12 bytes: a digest in halves needs no padding
        uint32_t low, high, number;
        uint64_t digest() const { return uint64_t(high) << 32 | low; }
    };

    const Entry &entry(uint32_t at) const { return blocks_[at / BLOCK][at % BLOCK]; }

    uint32_t &find(uint64_t digest) {
        const size_t mask = slots_.size() - 1;
        size_t at = digest & mask;
        while (slots_[at] != NONE && entry(slots_[at]).digest() != digest) at = (at + 1) & mask;
        return slots_[at];
    }
    void grow() {
        const size_t larger = slots_.empty() ? 1024 : 2 * slots_.size(), mask = larger - 1;
        slots_ = {};
        slots_.resize(larger, NONE);
        for (size_t i = 0; i < used_; ++i) {  // all are different
            size_t at = entry(uint32_t(i)).digest() & mask;
            while (slots_[at] != NONE) at = (at + 1) & mask;
            slots_[at] = uint32_t(i);
        }
    }

    std::vector<uint32_t> slots_;
    std::vector<std::vector<Entry>> blocks_;
    size_t used_ = 0, number_ = 0;
};

}  // namespace neardup
