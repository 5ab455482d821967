// Lists candidate pairs of hot groups while the rule is applied: a member is compared with kept members only.
//
// Ranks are places in the policy's order. Blocks of ranks are processed in ascending order. After a block is decided,
// its kept members are remembered, and members of later blocks are compared with them. If none match, all are kept; so
// that a walk does not cost its square, a member is compared with at most `most` of them at a time, those with whom it
// shares most groups (most_shared.hpp), as far as they are seen in the smallest groups.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matching/most_shared.hpp"

namespace neardup {

struct RankPairs {
    std::vector<int64_t> later, earlier;
};

class HotWalk {
  public:
    // Groups are members (ranks), whether a member is a probe (`looks`), and offsets; `count` is the number of ranks.
    HotWalk(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t count,
            size_t most);

    // The members of all groups, ascending, each once.
    const std::vector<int64_t> &ranks() const { return ranks_; }

    // A block is a range [begin, end) of ranks().
    // Pairs of each member of the block with the remembered members of its groups.
    void with_kept(size_t begin, size_t end, RankPairs &out);
    // Pairs within the block: a member with chosen[rank] and an earlier member with against[rank].
    void among(size_t begin, size_t end, const uint8_t *chosen, const uint8_t *against, RankPairs &out);
    void remember(size_t begin, size_t end, const uint8_t *kept);
    // Pairs of members with wanted[rank] (earlier) and the remembered members after them (later).
    void after(const uint8_t *wanted, RankPairs &out);

    // From now on members are compared with so many. How many entries of groups are looked at does not change.
    void at_most(size_t most) { most_ = most; }

    // By rank: 1 if the member was not compared with all.
    const std::vector<uint8_t> &capped() const { return capped_; }

  private:
    struct Entry {
        int64_t rank;
        uint32_t group;
        bool looks;
    };
    struct Member {
        int64_t rank;
        bool looks;
    };
    using Lists = std::vector<std::vector<Member>>;  // by group

    // Calls use(other) for those that ranks_[i] is compared with, of the ranks in `lists` from `first` on.
    template <typename Use>
    void meet(size_t i, const Lists &lists, int64_t first, Use &&use);

    std::vector<Entry> entries_;       // by rank, then group
    std::vector<size_t> entry_begin_;  // of ranks_[i]; one more at the end
    std::vector<int64_t> ranks_;
    Lists kept_, block_;
    std::vector<uint8_t> capped_;  // by rank
    MostShared shared_;
    size_t most_, most_listed_;
    std::vector<const Entry *> by_size_;
};

}  // namespace neardup
