// The ids that occurred before: an open-addressing set of 64-bit digests that only grows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class IdSet {
  public:
    // first[i] = −1 for a new digest, else the number (in the order of adding) of the digest that it repeats.
    void add(const uint64_t *digests, size_t count, int64_t *first) {
        for (size_t i = 0; i < count; ++i) {
            if (2 * (used_ + 1) > slots_.size()) grow();
            Slot &slot = find(slots_, digests[i]);
            first[i] = slot.number;
            if (slot.number < 0) {
                slot = {digests[i], number_};
                ++used_;
            }
            ++number_;
        }
    }

  private:
    struct Slot {
        uint64_t digest = 0;
        int64_t number = -1;
    };

    static Slot &find(std::vector<Slot> &slots, uint64_t digest) {
        const size_t mask = slots.size() - 1;
        size_t at = digest & mask;
        while (slots[at].number >= 0 && slots[at].digest != digest) at = (at + 1) & mask;
        return slots[at];
    }
    void grow() {
        std::vector<Slot> larger(slots_.empty() ? 1024 : 2 * slots_.size());
        for (const Slot &slot : slots_)
            if (slot.number >= 0) find(larger, slot.digest) = slot;
        slots_.swap(larger);
    }

    std::vector<Slot> slots_;
    size_t used_ = 0;
    int64_t number_ = 0;
};

}  // namespace neardup
