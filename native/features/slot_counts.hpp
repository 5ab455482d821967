// Counts the documents that have each feature, in slots selected by the low bits of the feature; sets have no repeats.
//
// A slot has one byte, which ends at kLow. Few slots have more documents: how many more stands in a hash table of entries
// slot << 32 | rest, where 0 is a free place. Counts end at their largest value, so the order of counting does not
// matter. The numbers of slots and of places are powers of two.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace neardup {

inline constexpr uint32_t kLow = 255, kMostRest = 65535 - kLow;
inline constexpr size_t kSlotBlock = 256;  // slots that are looked at together
inline constexpr size_t kSlotsAhead = 32;

NEARDUP_INLINE size_t first_place(size_t places, uint32_t slot) { return (size_t{slot} * 0x9E3779B1u >> 8) & (places - 1); }

// The place of a slot, or the free one that it may take; at least half of the places are free.
template <typename Entry>
NEARDUP_INLINE Entry *high_place(Entry *high, size_t places, uint32_t slot) {
    size_t at = first_place(places, slot);
    while (high[at] != 0 && high[at] >> 32 != slot) at = (at + 1) & (places - 1);
    return high + at;
}

struct SlotCounts {
    const uint8_t *low;
    size_t slots;
    const uint64_t *high;
    size_t places;

    uint32_t slot_of(uint32_t feature) const { return static_cast<uint32_t>(feature & (slots - 1)); }
    NEARDUP_INLINE void fetch_slot(uint32_t feature) const { fetch(low + slot_of(feature), 1); }
    NEARDUP_INLINE void fetch_high(uint32_t feature) const { fetch(high + first_place(places, slot_of(feature)), 1); }
    uint32_t high_count(uint32_t feature) const {
        return kLow + static_cast<uint32_t>(*high_place(high, places, slot_of(feature)));
    }
    NEARDUP_INLINE uint32_t of(uint32_t feature) const {
        const uint32_t count = low[slot_of(feature)];
        return count < kLow ? count : high_count(feature);
    }
};

class SlotCounter {
  public:
    SlotCounter(uint8_t *low, size_t slots, uint64_t *high, size_t places)
        : low_(low), slots_(slots), high_(high), places_(places),
          used_(places - static_cast<size_t>(std::count(high, high + places, uint64_t{0}))) {}

    // Adds one for each feature, and returns how many it has added: it ends where the table may need more places. Memory
    // bounds the speed: a table that distinguishes rare features is larger than any cache. A branch on what a byte says
    // would be mispredicted, so the slots that are full are listed, and counted when the block is done.
    size_t add(const uint32_t *features, size_t size) {
        uint32_t full[kSlotBlock];
        for (size_t i = 0; i < size; i += kSlotBlock) {
            const size_t end = std::min(size, i + kSlotBlock);
            if (!has_room(kSlotBlock)) return i;
            size_t listed = 0;
            for (size_t k = i; k < end; ++k) {
                if (k + kSlotsAhead < size) fetch(low_ + slot_of(features[k + kSlotsAhead]), 1);
                const uint32_t slot = full[listed] = slot_of(features[k]);
                listed += low_[slot] == kLow;
                low_[slot] = static_cast<uint8_t>(low_[slot] + (low_[slot] != kLow));
            }
            for (size_t k = 0; k < listed; ++k) add_rest(full[k], 1);
        }
        return size;
    }

    bool has_room(size_t more) const { return 2 * (used_ + more) <= places_; }

    void add(uint32_t feature, uint32_t count) {
        const uint32_t slot = slot_of(feature), sum = low_[slot] + count;
        low_[slot] = static_cast<uint8_t>(std::min(sum, kLow));
        if (sum > kLow) add_rest(slot, sum - kLow);
    }

  private:
    uint32_t slot_of(uint32_t feature) const { return static_cast<uint32_t>(feature & (slots_ - 1)); }

    void add_rest(uint32_t slot, uint32_t count) {
        uint64_t &entry = *high_place(high_, places_, slot);
        used_ += entry == 0;
        entry = uint64_t{slot} << 32 | std::min(static_cast<uint32_t>(entry) + count, kMostRest);
    }

    uint8_t *low_;
    size_t slots_;
    uint64_t *high_;
    size_t places_, used_;
};

}  // namespace neardup
