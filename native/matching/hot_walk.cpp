#include "matching/hot_walk.hpp"

#include <algorithm>

namespace neardup {

HotWalk::HotWalk(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t count,
                 size_t most)
    : kept_(groups), block_(groups), capped_(count), shared_(count), most_(most), most_listed_(most * kListed) {
    for (size_t g = 0; g < groups; ++g)
        for (int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
            entries_.push_back({members[i], static_cast<uint32_t>(g), looks[i] != 0});
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry &x, const Entry &y) { return x.rank != y.rank ? x.rank < y.rank : x.group < y.group; });
    for (size_t i = 0; i < entries_.size(); ++i)
        if (ranks_.empty() || ranks_.back() != entries_[i].rank) {
            ranks_.push_back(entries_[i].rank);
            entry_begin_.push_back(i);
        }
    entry_begin_.push_back(entries_.size());
}

template <typename Use>
void HotWalk::meet(size_t i, const Lists &lists, int64_t first, Use &&use) {
    by_size_.clear();
    size_t listed = 0;
    for (size_t e = entry_begin_[i]; e < entry_begin_[i + 1]; ++e) {
        by_size_.push_back(&entries_[e]);
        listed += lists[entries_[e].group].size();
    }
    bool capped = most_listed_ > 0 && listed > most_listed_;
    if (capped)
        std::stable_sort(by_size_.begin(), by_size_.end(), [&](const Entry *x, const Entry *y) {
            return lists[x->group].size() < lists[y->group].size();
        });
    size_t left = capped ? most_listed_ : listed;
    for (const Entry *entry : by_size_) {
        const std::vector<Member> &list = lists[entry->group];
        const size_t taken = std::min(left, list.size());
        const int64_t idf = MostShared::idf(list.size(), ranks_.size());
        for (size_t m = list.size() - taken; m < list.size(); ++m)
            if (list[m].rank >= first && (entry->looks || list[m].looks)) shared_.add(list[m].rank, idf);
        left -= taken;
    }
    capped |= shared_.take(1, most_, [&](int64_t other, int32_t) { use(other); });
    capped_[static_cast<size_t>(ranks_[i])] |= capped;
}

void HotWalk::with_kept(size_t begin, size_t end, RankPairs &out) {
    for (size_t i = begin; i < end; ++i)
        meet(i, kept_, 0, [&](int64_t other) {
            out.later.push_back(ranks_[i]);
            out.earlier.push_back(other);
        });
}

void HotWalk::among(size_t begin, size_t end, const uint8_t *chosen, const uint8_t *against, RankPairs &out) {
    for (size_t i = begin; i < end; ++i) {
        const int64_t rank = ranks_[i];
        if (chosen[rank])
            meet(i, block_, 0, [&](int64_t other) {
                out.later.push_back(rank);
                out.earlier.push_back(other);
            });
        if (against[rank])
            for (size_t e = entry_begin_[i]; e < entry_begin_[i + 1]; ++e)
                block_[entries_[e].group].push_back({rank, entries_[e].looks});
    }
    for (size_t e = entry_begin_[begin]; e < entry_begin_[end]; ++e) block_[entries_[e].group].clear();
}

void HotWalk::remember(size_t begin, size_t end, const uint8_t *kept) {
    for (size_t e = entry_begin_[begin]; e < entry_begin_[end]; ++e)
        if (kept[entries_[e].rank]) kept_[entries_[e].group].push_back({entries_[e].rank, entries_[e].looks});
}

void HotWalk::after(const uint8_t *wanted, RankPairs &out) {
    for (size_t i = 0; i < ranks_.size(); ++i)
        if (wanted[ranks_[i]])
            meet(i, kept_, ranks_[i] + 1, [&](int64_t other) {
                out.later.push_back(other);
                out.earlier.push_back(ranks_[i]);
            });
}

}  // namespace neardup
