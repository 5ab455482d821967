// Queries of a BitmapWindow.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "online/bitmap_window.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

constexpr uint16_t kClipped = UINT16_MAX;
constexpr size_t kClasses = 256, kBetween = 32;

// With more candidates than this in a line, counting an eighth more grams is cheaper than searching for each.
constexpr size_t kMany = 24, kOnce = 8;

// How far c exceeds the number of counted grams that a different document has on average. The value was measured.
constexpr double kTimesChance = 2, kBeyondChance = 16;
constexpr int kSteps = 6;  // c and the number of counted grams depend on each other

// Frequencies in steps of an eighth of their size.
uint16_t frequency_class(uint32_t frequency) {
    if (frequency < 8) return static_cast<uint16_t>(frequency);
    const int shift = std::bit_width(frequency) - 4;
    return static_cast<uint16_t>(8 * (shift + 1) + (frequency >> shift & 7));
}

size_t lines_of(size_t columns) { return (columns + kLineColumns - 1) / kLineColumns; }

}  // namespace

uint64_t BitmapWindow::Query::needed(uint64_t other) const {
    const uint64_t all = (num * std::max(size, other) + den - 1) / den;
    return all > taken ? all - taken : 0;
}

bool BitmapWindow::Query::fits(uint64_t other) const {
    return other * den >= num * size && size * den >= num * other;
}

// Orders the grams, rarest first, without the clipped ones.
void BitmapWindow::order(const uint32_t *grams, size_t size, Overlaps &out) {
    const double all = static_cast<double>(documents_), rare = clipping_.rare * all;
    // Frequencies may be too high, so a limit of all documents is not applied.
    const double common = clipping_.common < 1 ? clipping_.common * all : std::numeric_limits<double>::infinity();
    std::array<size_t, kClasses> ends{};
    classes_.resize(size);
    for (size_t i = 0; i < size; ++i) {
        const uint32_t in = frequency(grams[i]);
        out.clipped_common += in > common;
        out.clipped_rare += in < rare && in <= common;
        classes_[i] = in > common || in < rare ? kClipped : frequency_class(in);
        if (classes_[i] != kClipped) ++ends[classes_[i]];
    }
    size_t begin = 0;
    for (size_t &end : ends) begin += std::exchange(end, begin);
    ordered_.resize(begin);
    for (size_t i = 0; i < size; ++i)
        if (classes_[i] != kClipped) ordered_[ends[classes_[i]]++] = grams[i];
}

void BitmapWindow::sum_chances() {
    chances_.assign(1, 0.0);
    const auto all = static_cast<double>(documents_);
    for (uint32_t gram : ordered_) chances_.push_back(chances_.back() + frequency(gram) / all);
}

// The number of ordered grams that must be counted if `needed` grams must be shared.
size_t BitmapWindow::prefix(uint64_t needed) const {
    const size_t grams = ordered_.size(), spare = grams - std::min<uint64_t>(needed, grams);
    size_t counted = spare;
    for (int step = 0; step < kSteps; ++step) {
        const double beyond = kTimesChance * chances_[counted] + kBeyondChance;
        counted = std::min(grams, spare + static_cast<size_t>(beyond));
    }
    return counted;
}

void BitmapWindow::find_segments(const Query &query) {
    segments_.clear();
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
        for (size_t part = 0; part < slots_[slot].segments.size(); ++part) {
            const Segment &segment = slots_[slot].segments[part];
            const bool too_short = segment.longest * query.den < query.num * query.size;
            const bool too_long = query.size * query.den < query.num * segment.shortest;
            const auto first = static_cast<int64_t>(slot << kSlotShift) + slots_[slot].begins[part];
            if (!too_short && !too_long) segments_.emplace_back(&segment, first);
        }
    }
}

void BitmapWindow::overlaps(const uint32_t *grams, size_t size, uint64_t num, uint64_t den, Overlaps &out) {
    order(grams, size, out);
    const Query query{size, num, den, out.clipped_common};
    if (size == 0 || documents_ == 0 || query.needed(size) > ordered_.size()) return;
    sum_chances();
    find_segments(query);
    const size_t most = prefix(query.needed(size));
    looked_up_ = 0;
    fetch_table(0, most);
    for (size_t i = 0; i < segments_.size(); ++i) {
        const auto &[segment, first] = segments_[i];
        fetch_table(i + 1, most);
        passed_.clear();
        begin_count(segment->sizes.size());
        segment->lists.sealed() ? look_sealed(*segment, query) : look(*segment, query);
        give(*segment, first, query, out);
    }
    out.candidates = looked_up_;
}

// Prefetches the table entries of the next segment while one segment is counted.
void BitmapWindow::fetch_table(size_t number, size_t grams) const {
    if (number >= segments_.size()) return;
    for (size_t i = 0; i < grams; ++i) segments_[number].first->lists.fetch(ordered_[i]);
}

void BitmapWindow::look(const Segment &segment, const Query &query) {
    const Lines lines{0, lines_of(segment.sizes.size())};
    const size_t counted = prefix(query.needed(query.size));
    count(segment.lists, 0, counted, lines);
    settle(segment, query, lines, counted);
}

// Proceeds from the line of the longest documents to that of the shortest, which is counted in the most lists.
void BitmapWindow::look_sealed(const Segment &segment, const Query &query) {
    const auto &sizes = segment.sizes;
    const auto too_short = [&](uint32_t size) { return size * query.den < query.num * query.size; };
    const auto not_too_long = [&](uint32_t size) { return query.size * query.den >= query.num * size; };
    const auto begin = std::partition_point(sizes.begin(), sizes.end(), too_short) - sizes.begin();
    const auto end = std::partition_point(sizes.begin(), sizes.end(), not_too_long) - sizes.begin();
    if (begin >= end) return;
    const size_t first = static_cast<size_t>(begin) / kLineColumns;
    size_t counted = 0;
    for (size_t last = lines_of(static_cast<size_t>(end)); last > first; --last) {
        const size_t more = std::max(counted, prefix(query.needed(sizes[(last - 1) * kLineColumns])));
        count(segment.lists, counted, more, {first, last});
        counted = more;
        settle(segment, query, {last - 1, last}, counted);
    }
}

// Counts more grams in these lines while many documents may pass, then searches for the remaining ones.
void BitmapWindow::settle(const Segment &segment, const Query &query, Lines lines, size_t counted) {
    choose(segment, query, lines, counted);
    while (candidates_.size() > kMany && counted < ordered_.size()) {
        const size_t more = std::min(ordered_.size(), counted + std::max(counted / kOnce, kBetween));
        count(segment.lists, counted, more, lines);
        counted = more;
        choose(segment, query, lines, counted);
    }
    looked_up_ += candidates_.size();
    look_up(segment.lists, counted);
    passed_.insert(passed_.end(), candidates_.begin(), candidates_.end());
}

void BitmapWindow::begin_count(size_t columns) {
    const size_t lines = lines_of(columns);
    std::fill_n(listed_.begin(), lines * kLineColumns, 0);
    vertical_.reset(lines, ordered_.size());
}

// Counts how many of these grams each column of the lines has, separately in lists and in bitmaps.
void BitmapWindow::count(const GramLists &lists, size_t begin, size_t end, Lines lines) {
    for (auto &of_size : bitmaps_) of_size.clear();
    found_.clear();
    for (size_t i = begin; i < end; ++i) {
        const GramList *const list = lists.find(ordered_[i]);
        if (!list) continue;
        if (list->lines > lines.first) {
            const size_t last = std::min<size_t>(list->lines, lines.last);
            bitmaps_[list->lines].push_back(list->bits);
            fetch(list->bits + lines.first * kLineWords, (last - lines.first) * kLineWords * sizeof(uint64_t));
        } else if (!list->lines) {
            if (list->count > GramList::kFew) fetch(list->list, list->count * sizeof(uint16_t));
            found_.push_back(list);
        }
    }
    count_listed(lists, lines);
    for (size_t size = 1; size < bitmaps_.size(); ++size)
        vertical_.add(bitmaps_[size], lines.first, std::min(size, lines.last));
}

void BitmapWindow::count_listed(const GramLists &lists, Lines lines) {
    const size_t first = lines.first * kLineColumns, last = lines.last * kLineColumns;
    const bool ends_early = last < lists.columns();
    for (const GramList *list : found_) {
        const uint16_t *column = list->columns(), *end = column + list->count;
        if (first) column = std::lower_bound(column, end, first);
        if (ends_early) end = std::lower_bound(column, end, last);
        for (; column < end; ++column) ++listed_[*column];
    }
}

// The columns that could pass if they had all grams that were not counted.
void BitmapWindow::choose(const Segment &segment, const Query &query, Lines lines, size_t counted) {
    const size_t rest = ordered_.size() - counted, first = lines.first * kLineColumns;
    const size_t last = std::min(lines.last * kLineColumns, segment.sizes.size());
    const uint64_t needed = query.needed(segment.lists.sealed() ? segment.sizes[first] : 0);
    candidates_.clear();
    reached_.clear();
    vertical_.reaching(listed_.data(), first, last, static_cast<uint32_t>(needed - std::min(needed, rest)), reached_);
    for (const Reached &reached : reached_) {
        const uint64_t size = segment.sizes[reached.column];
        if (segment.removed[reached.column] || !query.fits(size)) continue;
        if (reached.count + rest >= query.needed(size))
            candidates_.push_back({reached.column, reached.count, query.needed(size)});
    }
}

void BitmapWindow::give(const Segment &segment, int64_t first, const Query &query, Overlaps &out) {
    const auto number = [&](uint32_t column) { return segment.numbers.empty() ? column : segment.numbers[column]; };
    const auto by_number = [&](const Candidate &a, const Candidate &b) { return number(a.column) < number(b.column); };
    std::sort(passed_.begin(), passed_.end(), by_number);
    for (const Candidate &passed : passed_) {
        out.documents.push_back(first + number(passed.column));
        out.shared.push_back(static_cast<int64_t>(passed.count + query.taken));
        out.sizes.push_back(segment.sizes[passed.column]);
    }
}

void BitmapWindow::look_up(const GramLists &lists, size_t from) {
    const size_t grams = ordered_.size();
    for (size_t i = from; i < grams && !candidates_.empty(); ++i) {
        if ((i - from) % kBetween == 0) {
            for (size_t ahead = i; ahead < std::min(i + kBetween, grams); ++ahead) lists.fetch(ordered_[ahead]);
            std::erase_if(candidates_, [&](const Candidate &one) { return one.count + grams - i < one.needed; });
        }
        const GramList *const list = lists.find(ordered_[i]);
        if (!list) continue;
        for (Candidate &candidate : candidates_) candidate.count += list->has(candidate.column);
    }
    std::erase_if(candidates_, [](const Candidate &one) { return one.count < one.needed; });
}

}  // namespace neardup
