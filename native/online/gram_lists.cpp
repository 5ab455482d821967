#include "online/gram_lists.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "online/vertical_counts.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

constexpr size_t kFirstPlaces = 64, kAhead = 16;

// A bitmap replaces a list from this size on, relative to the bytes of the bitmap: counting a bitmap is several times as
// fast as counting the same number of bytes of columns.
constexpr size_t kWorthBytes = 4;

constexpr size_t line_bytes(size_t lines) { return lines * kLineWords * sizeof(uint64_t); }

size_t lines_for(uint32_t column) { return std::bit_ceil(column / kLineColumns + 1); }

void set(uint64_t *bits, uint32_t column) { bits[column / 64] |= uint64_t{1} << column % 64; }

static_assert(line_bytes(GramLists::kMostColumns / kLineColumns) <= BlockPool::kLargest);

}  // namespace

bool GramList::has(uint32_t column) const {
    if (lines) return column < lines * kLineColumns && (bits[column / 64] >> column % 64 & 1);
    const uint16_t *const begin = columns();
    return std::binary_search(begin, begin + count, static_cast<uint16_t>(column));
}

GramLists::GramLists() : table_(kFirstPlaces) {}

// Features are usually hashes; the multiplication spreads small numbers too.
size_t GramLists::place(uint32_t gram) const {
    return static_cast<size_t>(uint64_t{gram * 0x9e3779b1u} * table_.size() >> 32);
}

void GramLists::fetch(uint32_t gram) const { neardup::fetch(&table_[place(gram)], 1); }

const GramList *GramLists::find(uint32_t gram) const {
    for (size_t i = place(gram); table_[i].count; i = i + 1 < table_.size() ? i + 1 : 0)
        if (table_[i].gram == gram) return &table_[i];
    return nullptr;
}

GramList &GramLists::at(uint32_t gram) {
    size_t i = place(gram);
    while (table_[i].count && table_[i].gram != gram) i = i + 1 < table_.size() ? i + 1 : 0;
    return table_[i];
}

uint32_t GramLists::add(const uint32_t *grams, size_t size) {
    const auto column = static_cast<uint32_t>(columns_++);
    for (size_t i = 0; i < size; ++i) {
        if (i + kAhead < size) fetch(grams[i + kAhead]);
        if (3 * (grams_ + 1) > 2 * table_.size()) resize_table(table_.size() + table_.size() / 2);
        GramList &list = at(grams[i]);
        list.gram = grams[i];
        grams_ += list.count == 0;
        append(list, column);
    }
    postings_ += size;
    return column;
}

void GramLists::append(GramList &list, uint32_t column) {
    if (list.lines) {
        if (column >= list.lines * kLineColumns) lengthen(list, column);
        set(list.bits, column);
    } else if (list.count < GramList::kFew) {
        list.few[list.count] = static_cast<uint16_t>(column);
    } else {
        append_listed(list, column);
    }
    ++list.count;
}

void GramLists::append_listed(GramList &list, uint32_t column) {
    const size_t count = list.count, bytes = count * sizeof(uint16_t);
    if (std::has_single_bit(count)) {  // its block is full
        if (2 * bytes * kWorthBytes > line_bytes(lines_for(column))) return make_bitmap(list, column);
        auto *const longer = static_cast<uint16_t *>(pool_.take(2 * bytes));
        std::memcpy(longer, list.columns(), bytes);
        if (count > GramList::kFew) pool_.give(list.list, bytes);
        list.list = longer;
    }
    list.list[count] = static_cast<uint16_t>(column);
}

void GramLists::make_bitmap(GramList &list, uint32_t column) {
    const size_t lines = lines_for(column), bytes = list.count * sizeof(uint16_t);
    auto *const bits = static_cast<uint64_t *>(pool_.take(line_bytes(lines)));
    std::memset(bits, 0, line_bytes(lines));
    const uint16_t *const columns = list.columns();
    for (size_t i = 0; i < list.count; ++i) set(bits, columns[i]);
    set(bits, column);
    if (list.count > GramList::kFew) pool_.give(list.list, bytes);
    list.bits = bits;
    list.lines = static_cast<uint8_t>(lines);
}

void GramLists::lengthen(GramList &list, uint32_t column) {
    const size_t lines = lines_for(column), before = line_bytes(list.lines);
    auto *const bits = static_cast<uint64_t *>(pool_.take(line_bytes(lines)));
    std::memcpy(bits, list.bits, before);
    std::memset(bits + list.lines * kLineWords, 0, line_bytes(lines) - before);
    pool_.give(list.bits, before);
    list.bits = bits;
    list.lines = static_cast<uint8_t>(lines);
}

void GramLists::resize_table(size_t places) {
    GramTable before(places);
    before.swap(table_);
    for (const GramList &list : before)
        if (list.count) at(list.gram) = list;
}

void GramLists::put_columns(const GramList &list, const std::vector<uint16_t> &to, uint16_t *out) const {
    const uint16_t *const columns = list.columns();
    for (size_t i = 0; i < list.count; ++i) out[i] = to[columns[i]];
    std::sort(out, out + list.count);
}

namespace {

template <typename Do>
void each_bit(const GramList &list, Do &&what) {
    for (size_t word = 0; word < list.lines * kLineWords; ++word)
        for (uint64_t left = list.bits[word]; left; left &= left - 1)
            what(64 * word + static_cast<size_t>(std::countr_zero(left)));
}

void put_bits(const GramList &list, const std::vector<uint16_t> &to, uint64_t *out) {
    each_bit(list, [&](size_t column) { set(out, to[column]); });
}

}  // namespace

void GramLists::seal(const std::vector<uint16_t> &to) {
    const size_t lines = (columns_ + kLineColumns - 1) / kLineColumns;
    size_t listed = 0, dense = 0;
    for (const GramList &list : table_) {
        dense += list.lines != 0;
        if (!list.lines && list.count > GramList::kFew) listed += list.count;
    }
    lists_.resize(listed);
    bitmaps_.resize(dense * lines * kLineWords);
    uint16_t *next_list = lists_.data();
    uint64_t *next_bits = bitmaps_.data();
    for (GramList &list : table_) {
        if (list.lines) {
            put_bits(list, to, next_bits);
            list.bits = next_bits;
            list.lines = static_cast<uint8_t>(lines);
            next_bits += lines * kLineWords;
        } else if (list.count > GramList::kFew) {
            put_columns(list, to, next_list);
            list.list = next_list;
            next_list += list.count;
        } else if (list.count) {
            uint16_t few[GramList::kFew];
            put_columns(list, to, few);
            std::copy_n(few, list.count, list.few);
        }
    }
    pool_ = {};
    resize_table(grams_ * 5 / 3 + 1);
    sealed_ = true;
}

std::vector<std::vector<uint32_t>> GramLists::sets() const {
    std::vector<std::vector<uint32_t>> sets(columns_);
    for (const GramList &list : table_) {
        const auto put = [&](size_t column) { sets[column].push_back(list.gram); };
        if (list.lines)
            each_bit(list, put);
        else
            std::for_each_n(list.columns(), list.count, put);
    }
    for (auto &one : sets) std::sort(one.begin(), one.end());
    return sets;
}

}  // namespace neardup
