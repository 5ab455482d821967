#include "online/postings.hpp"

#include <algorithm>
#include <utility>

#include "matching/most_shared.hpp"

namespace neardup {

static constexpr size_t FEWEST_SLOTS = 64;

// Keys that are features do not use all bits evenly.
static size_t place(uint64_t key) {
    key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15ull;
    return key ^ (key >> 29);
}

size_t Postings::find(uint64_t key) const {
    const size_t mask = keys_.size() - 1;
    size_t at = place(key) & mask;
    while (values_[at] != EMPTY && keys_[at] != key) at = (at + 1) & mask;
    return at;
}

void Postings::resize(size_t slots) {
    std::vector<uint64_t> keys(slots);
    std::vector<uint32_t> values(slots, EMPTY);
    keys.swap(keys_);
    values.swap(values_);
    for (size_t i = 0; i < keys.size(); ++i) {
        if (values[i] == EMPTY) continue;
        const size_t at = find(keys[i]);
        keys_[at] = keys[i];
        values_[at] = values[i];
    }
}

void Postings::put(uint64_t key, uint32_t entry) {
    if (4 * (used_ + 1) > 3 * keys_.size()) resize(std::max(FEWEST_SLOTS, 2 * keys_.size()));
    const size_t at = find(key);
    uint32_t &value = values_[at];
    ++entries_;
    numbers_ = std::max(numbers_, size_t{entry >> 1} + 1);
    if (value == EMPTY) {
        keys_[at] = key;
        value = entry;
        ++used_;
    } else if (value & LIST) {
        std::vector<uint32_t> &list = lists_[value & ~LIST];
        listed_ -= list.capacity();
        list.push_back(entry);
        listed_ += list.capacity();
    } else {
        lists_.push_back({value, entry});
        listed_ += lists_.back().capacity();
        value = LIST | static_cast<uint32_t>(lists_.size() - 1);
    }
}

void Postings::add(const uint64_t *keys, size_t count, size_t probes, uint32_t number) {
    for (size_t i = 0; i < count; ++i) put(keys[i], number << 1 | (i < probes));
}

// Keeps each number of a sorted list that occurs at least `least` times, once.
static void keep_often(std::vector<int64_t> &found, size_t least) {
    size_t kept = 0;
    for (size_t begin = 0; begin < found.size();) {
        size_t end = begin;
        while (end < found.size() && found[end] == found[begin]) ++end;
        if (end - begin >= least) found[kept++] = found[begin];
        begin = end;
    }
    found.resize(kept);
}

// The documents that have one of the keys, as far as one of the two looks with it.
struct Listed {
    const uint32_t *entries;
    size_t size;
    bool looks;

    template <typename Use>
    void each(size_t from, Use &&use) const {
        for (size_t i = from; i < size; ++i)
            if (looks || (entries[i] & 1)) use(static_cast<int64_t>(entries[i] >> 1));
    }
};

static void take_most(std::vector<Listed> &lists, size_t listed, size_t numbers, size_t least, size_t most,
                      std::vector<int64_t> &found) {
    static thread_local MostShared shared;
    shared.grow(numbers);
    size_t left = most * kListed;
    if (listed > left)
        std::stable_sort(lists.begin(), lists.end(), [](const Listed &x, const Listed &y) { return x.size < y.size; });
    for (const Listed &list : lists) {
        const size_t taken = std::min(left, list.size);
        const int64_t idf = MostShared::idf(list.size, numbers);
        list.each(list.size - taken, [&](int64_t number) { shared.add(number, idf); });
        left -= taken;
    }
    shared.take(static_cast<int32_t>(least), most, [&](int64_t number, int32_t) { found.push_back(number); });
}

void Postings::meet(const uint64_t *keys, size_t count, size_t probes, size_t least, size_t most,
                    std::vector<int64_t> &found) const {
    if (keys_.empty()) return;
    static thread_local std::vector<Listed> lists;
    lists.clear();
    size_t listed = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t &value = values_[find(keys[i])];
        if (value == EMPTY) continue;
        if (value & LIST) {
            const std::vector<uint32_t> &list = lists_[value & ~LIST];
            lists.push_back({list.data(), list.size(), i < probes});
        } else {
            lists.push_back({&value, 1, i < probes});
        }
        listed += lists.back().size;
    }
    if (most > 0 && listed > most) return take_most(lists, listed, numbers_, least, most, found);
    for (const Listed &list : lists) list.each(0, [&](int64_t number) { found.push_back(number); });
    std::sort(found.begin(), found.end());
    keep_often(found, least);
}

void Postings::keep(const int64_t *numbers, size_t count) {
    Postings left;
    const auto take = [&](uint64_t key, uint32_t entry) {
        const uint32_t number = entry >> 1;
        if (number < count && numbers[number] >= 0)
            left.put(key, static_cast<uint32_t>(numbers[number]) << 1 | (entry & 1));
    };
    for (size_t i = 0; i < keys_.size(); ++i) {
        if (values_[i] == EMPTY) continue;
        if (values_[i] & LIST) {
            std::vector<uint32_t> list = std::move(lists_[values_[i] & ~LIST]);
            for (const uint32_t entry : list) take(keys_[i], entry);
        } else {
            take(keys_[i], values_[i]);
        }
    }
    *this = std::move(left);
}

size_t Postings::bytes() const {
    return keys_.capacity() * 8 + values_.capacity() * 4 + lists_.capacity() * sizeof(lists_[0]) + listed_ * 4;
}

}  // namespace neardup
