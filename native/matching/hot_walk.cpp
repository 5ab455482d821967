#include "matching/hot_walk.hpp"

#include <algorithm>

namespace neardup {

HotWalk::HotWalk(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t count)
    : kept_(groups), block_(groups), met_(count, -1) {
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

bool HotWalk::first_meeting(int64_t rank, int64_t other) {
    if (met_[static_cast<size_t>(other)] == rank) return false;
    met_[static_cast<size_t>(other)] = rank;
    return true;
}

void HotWalk::with_kept(size_t begin, size_t end, RankPairs &out) {
    for (size_t e = entry_begin_[begin]; e < entry_begin_[end]; ++e) {
        const Entry &entry = entries_[e];
        for (const Member &member : kept_[entry.group])
            if ((entry.looks || member.looks) && first_meeting(entry.rank, member.rank)) {
                out.later.push_back(entry.rank);
                out.earlier.push_back(member.rank);
            }
    }
}

void HotWalk::among(size_t begin, size_t end, const uint8_t *chosen, const uint8_t *against, RankPairs &out) {
    for (size_t e = entry_begin_[begin]; e < entry_begin_[end]; ++e) {
        const Entry &entry = entries_[e];
        if (chosen[entry.rank])
            for (const Member &member : block_[entry.group])
                if (member.rank < entry.rank && (entry.looks || member.looks) &&
                    first_meeting(entry.rank, member.rank)) {
                    out.later.push_back(entry.rank);
                    out.earlier.push_back(member.rank);
                }
        if (against[entry.rank]) block_[entry.group].push_back({entry.rank, entry.looks});
    }
    for (size_t e = entry_begin_[begin]; e < entry_begin_[end]; ++e) {
        block_[entries_[e].group].clear();
        met_[static_cast<size_t>(entries_[e].rank)] = -1;  // the block is processed twice
    }
}

void HotWalk::remember(size_t begin, size_t end, const uint8_t *kept) {
    for (size_t e = entry_begin_[begin]; e < entry_begin_[end]; ++e)
        if (kept[entries_[e].rank]) kept_[entries_[e].group].push_back({entries_[e].rank, entries_[e].looks});
}

void HotWalk::after(const uint8_t *wanted, RankPairs &out) {
    std::fill(met_.begin(), met_.end(), -1);
    for (const Entry &entry : entries_) {
        if (!wanted[entry.rank]) continue;
        for (const Member &member : kept_[entry.group])
            if (member.rank > entry.rank && (entry.looks || member.looks) && first_meeting(entry.rank, member.rank)) {
                out.later.push_back(member.rank);
                out.earlier.push_back(entry.rank);
            }
    }
}

}  // namespace neardup
