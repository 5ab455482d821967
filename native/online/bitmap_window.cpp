#include "online/bitmap_window.hpp"

#include <algorithm>
#include <numeric>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace neardup {
namespace {

constexpr size_t kWorthSealing = kLineColumns;  // a single line needs no order
constexpr size_t kWorthReturning = 256;         // documents

// Freed memory lies in gaps between later allocations; glibc keeps these gaps, which add up over days.
void return_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace

BitmapWindow::BitmapWindow(size_t slots, Clipping clipping)
    : slots_(slots), clipping_(clipping), frequencies_(size_t{1} << kFrequencyBits),
      bitmaps_(GramLists::kMostColumns / kLineColumns + 1), listed_(GramLists::kMostColumns) {}

int64_t BitmapWindow::add(size_t slot, const uint32_t *grams, size_t size) {
    if (slot != last_) seal_last();
    last_ = slot;
    Segment &segment = open_segment(slot);
    segment.lists.add(grams, size);
    const auto length = static_cast<uint32_t>(size);
    segment.sizes.push_back(length);
    segment.removed.push_back(false);
    segment.shortest = std::min(segment.shortest, length);
    segment.longest = std::max(segment.longest, length);
    for (size_t i = 0; i < size; ++i) ++frequency(grams[i]);
    ++slots_[slot].documents;
    ++documents_;
    return static_cast<int64_t>(slot << kSlotShift | slots_[slot].added++);
}

BitmapWindow::Segment &BitmapWindow::open_segment(size_t slot) {
    auto &[segments, begins, added, documents] = slots_[slot];
    if (!segments.empty() && segments.back().lists.columns() == GramLists::kMostColumns) seal(segments.back());
    if (segments.empty() || segments.back().lists.sealed()) {
        segments.emplace_back();
        begins.push_back(static_cast<int64_t>(added));
    }
    return segments.back();
}

void BitmapWindow::seal_last() {
    auto &segments = slots_[last_].segments;
    if (!segments.empty() && segments.back().lists.columns() >= kWorthSealing) seal(segments.back());
}

void BitmapWindow::seal(Segment &segment) {
    if (segment.lists.sealed()) return;
    const size_t columns = segment.sizes.size();
    std::vector<uint16_t> to(columns);
    segment.numbers.resize(columns);
    std::iota(segment.numbers.begin(), segment.numbers.end(), uint16_t{0});
    std::stable_sort(segment.numbers.begin(), segment.numbers.end(),
                     [&](uint16_t a, uint16_t b) { return segment.sizes[a] < segment.sizes[b]; });
    const std::vector<uint32_t> sizes = segment.sizes;
    const std::vector<bool> removed = segment.removed;
    for (size_t column = 0; column < columns; ++column) {
        const uint16_t number = segment.numbers[column];
        to[number] = static_cast<uint16_t>(column);
        segment.sizes[column] = sizes[number];
        segment.removed[column] = removed[number];
    }
    segment.lists.seal(to);
}

bool BitmapWindow::remove(int64_t document) {
    const auto slot = static_cast<uint64_t>(document) >> kSlotShift;
    const auto number = static_cast<int64_t>(static_cast<uint64_t>(document) & UINT32_MAX);
    if (slot >= slots_.size() || number >= static_cast<int64_t>(slots_[slot].added)) return false;
    const auto &begins = slots_[slot].begins;
    const auto part = static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), number) - begins.begin() - 1);
    Segment &segment = slots_[slot].segments[part];
    auto column = static_cast<size_t>(number - begins[part]);
    if (!segment.numbers.empty())
        column = static_cast<size_t>(std::find(segment.numbers.begin(), segment.numbers.end(), column) -
                                     segment.numbers.begin());
    if (segment.removed[column]) return false;
    segment.removed[column] = true;
    --slots_[slot].documents;
    return true;
}

void BitmapWindow::drop(size_t slot) {
    for (const Segment &segment : slots_[slot].segments) {
        for (const GramList &list : segment.lists.table())
            if (list.count) frequency(list.gram) -= list.count;
        documents_ -= segment.sizes.size();
    }
    const bool large = slots_[slot].added >= kWorthReturning;
    slots_[slot] = {};
    if (large) return_memory();
}

void BitmapWindow::sets(size_t slot, std::vector<uint32_t> &grams, std::vector<int64_t> &offsets) const {
    offsets.assign(1, 0);
    for (const Segment &segment : slots_[slot].segments) {
        const auto sets = segment.lists.sets();
        std::vector<size_t> columns(sets.size());  // by number
        std::iota(columns.begin(), columns.end(), size_t{0});
        for (size_t column = 0; column < segment.numbers.size(); ++column) columns[segment.numbers[column]] = column;
        for (size_t column : columns) {
            if (!segment.removed[column]) grams.insert(grams.end(), sets[column].begin(), sets[column].end());
            offsets.push_back(static_cast<int64_t>(grams.size()));
        }
    }
}

WindowMemory BitmapWindow::memory() const {
    WindowMemory memory;
    memory.rest = frequencies_.capacity() * sizeof(uint32_t);
    for (const Slot &slot : slots_) {
        memory.documents += slot.documents;
        for (const Segment &segment : slot.segments) {
            memory.grams += segment.lists.grams();
            memory.postings += segment.lists.postings();
            memory.tables += segment.lists.table_bytes();
            memory.lists += segment.lists.list_bytes();
            memory.rest += segment.sizes.capacity() * sizeof(uint32_t) + sizeof(Segment);
        }
    }
    return memory;
}

}  // namespace neardup
