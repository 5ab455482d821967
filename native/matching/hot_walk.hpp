// Candidate pairs of hot groups, made while the rule walks: a member meets only kept members.
//
// Ranks are places in the policy's order. Blocks of ranks come in ascending order; after a block is
// decided, its kept members are remembered and met by the blocks that follow.
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
    // Groups as members (ranks), who looks, and offsets; `count` is the number of all ranks.
    HotWalk(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t count);

    // The members of any group, ascending, once each.
    const std::vector<int64_t> &ranks() const { return ranks_; }

    // Blocks are named by their place in ranks(): [begin, end).
    // Each member of the block with the remembered members of its groups.
    void with_kept(size_t begin, size_t end, RankPairs &out);
    // Inside the block: a member with chosen[rank] and an earlier one with against[rank].
    void among(size_t begin, size_t end, const uint8_t *chosen, const uint8_t *against, RankPairs &out);
    void remember(size_t begin, size_t end, const uint8_t *kept);
    // Members with wanted[rank] (earlier) and the remembered members that come after them (later).
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
    // A pair that shares several groups is made once: `met_` holds who met the rank last.
    bool first_meeting(int64_t rank, int64_t other);

    std::vector<Entry> entries_;       // by rank, then group
    std::vector<size_t> entry_begin_;  // of ranks_[i]; one more at the end
    std::vector<int64_t> ranks_;
    std::vector<std::vector<Member>> kept_, block_;  // by group
    std::vector<int64_t> met_;                       // by rank
};

}  // namespace neardup
