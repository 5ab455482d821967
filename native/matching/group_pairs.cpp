#include "matching/group_pairs.hpp"

#include <algorithm>

namespace neardup {
namespace {

// Repeats of a pair cost little, but not nothing.
constexpr int64_t kMostRepeats = 64;

}  // namespace

GroupPairs::GroupPairs(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups, int64_t budget,
                       size_t block)
    : members_(members), probes_(probes), offsets_(offsets) {
    choose(groups, budget);
    divide(block);
    count(budget);
}

void GroupPairs::choose(size_t groups, int64_t budget) {
    const auto size = [&](size_t g) { return offsets_[g + 1] - offsets_[g]; };
    std::vector<int64_t> sizes(groups);
    for (size_t g = 0; g < groups; ++g) sizes[g] = size(g);
    std::sort(sizes.begin(), sizes.end());
    int64_t made = 0;
    for (size_t i = 0, j; i < groups; i = j) {
        const int64_t s = sizes[i], each = s * (s - 1) / 2;
        for (j = i; j < groups && sizes[j] == s;) ++j;
        made += each * static_cast<int64_t>(j - i);
        if (each > budget || made > kMostRepeats * budget) break;
        sizes_.push_back(s);
    }
    for (size_t g = 0; g < groups && !sizes_.empty(); ++g)
        if (size(g) <= sizes_.back()) {
            const auto at = std::lower_bound(sizes_.begin(), sizes_.end(), size(g)) - sizes_.begin();
            chosen_.push_back({g, static_cast<uint32_t>(at)});
        }
}

void GroupPairs::divide(size_t block) {
    int64_t most = -1;
    for (const Sized &one : chosen_) most = std::max(most, members_[offsets_[one.group + 1] - 1]);
    std::vector<uint32_t> pairs(static_cast<size_t>(most + 1));
    for (const Sized &one : chosen_) {
        const int64_t end = offsets_[one.group + 1];
        for (int64_t i = offsets_[one.group]; i < end; ++i) pairs[static_cast<size_t>(members_[i])] += static_cast<uint32_t>(end - i - 1);
    }
    size_t made = 0;
    for (size_t a = 0; a < pairs.size(); ++a) {
        made += pairs[a];
        if (made < block && a + 1 < pairs.size()) continue;
        ends_.push_back(static_cast<int64_t>(a) + 1);
        made = 0;
    }
}

void GroupPairs::rewind() {
    cursor_.resize(chosen_.size());
    for (size_t c = 0; c < chosen_.size(); ++c) cursor_[c] = offsets_[chosen_[c].group];
}

void GroupPairs::list(uint32_t sizes, int64_t last) {
    entries_.clear();
    for (size_t c = 0; c < chosen_.size(); ++c) {
        if (chosen_[c].size >= sizes) continue;
        const int64_t end = offsets_[chosen_[c].group + 1];
        int64_t &i = cursor_[c];
        for (; i < end && members_[i] < last; ++i)
            for (int64_t j = i + 1; j < end; ++j)
                if (probes_[i] | probes_[j])
                    entries_.push_back({static_cast<uint64_t>(members_[i]) << 32 | static_cast<uint64_t>(members_[j]), chosen_[c].size});
    }
    std::sort(entries_.begin(), entries_.end());
    const auto same = [](const Entry &x, const Entry &y) { return x.pair == y.pair; };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
}

void GroupPairs::count(int64_t budget) {
    included_ = static_cast<uint32_t>(sizes_.size());
    std::vector<int64_t> added(sizes_.size());
    rewind();
    for (const int64_t end : ends_) {
        list(included_, end);
        for (const Entry &one : entries_) ++added[one.size];
        count_ = 0;
        for (uint32_t s = 0; s < included_; ++s) {
            if (count_ + added[s] > budget)
                included_ = s;
            else
                count_ += added[s];
        }
    }
    largest_ = included_ ? sizes_[included_ - 1] : 0;
    rewind();
}

bool GroupPairs::next(std::vector<int64_t> &a, std::vector<int64_t> &b) {
    a.clear();
    b.clear();
    if (range_ == ends_.size() || included_ == 0) return false;
    // The only range has been listed when it was counted.
    if (ends_.size() > 1) list(included_, ends_[range_]);
    ++range_;
    for (const Entry &one : entries_) {
        if (one.size >= included_) continue;
        a.push_back(static_cast<int64_t>(one.pair >> 32));
        b.push_back(static_cast<int64_t>(one.pair & 0xffffffffu));
    }
    return true;
}

}  // namespace neardup
