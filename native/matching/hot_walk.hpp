// Lists candidate pairs of hot groups while the rule is applied: a member is compared with kept members only.
//
// Ranks are places in the policy's order. Blocks of ranks are processed in ascending order. After a block is decided,
// its kept members are remembered, and members of later blocks are compared with them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct RankPairs {
    std::vector<int64_t> later, earlier;
};

class HotWalk {
  public:
    // Groups are members (ranks), whether a member is a probe (`looks`), and offsets; `count` is the number of ranks.
    HotWalk(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t count);

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
    // A pair that shares several groups is listed once: `met_` holds the last rank that was compared with each rank.
    bool first_meeting(int64_t rank, int64_t other);

    std::vector<Entry> entries_;       // by rank, then group
    std::vector<size_t> entry_begin_;  // of ranks_[i]; one more at the end
    std::vector<int64_t> ranks_;
    std::vector<std::vector<Member>> kept_, block_;  // by group
    std::vector<int64_t> met_;                       // by rank
};

}  // namespace neardup
