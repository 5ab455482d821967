// Lists the candidate pairs of groups, in blocks of bounded memory: there may be many times more pairs than members.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Every pair (a < b) of entries of a group of which at least one is a probe, each once, sorted by (a, b). Groups are
// added by size, smallest first, as long as there are at most `budget` pairs. Groups of one size are added together or
// not at all, so the result does not depend on their order.
//
// How many distinct pairs the groups of each size add is counted before the first pair is listed. Both happen for ranges
// of a, with about `block` pairs each, repeated ones included.
class GroupPairs {
  public:
    // Members are in ascending order in each group. The arrays must outlive this object.
    GroupPairs(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups, int64_t budget,
               size_t block);

    int64_t largest() const { return largest_; }  // groups up to this size are included; larger ones are left out
    int64_t count() const { return count_; }

    // Replaces the vectors by the next pairs; false at the end.
    bool next(std::vector<int64_t> &a, std::vector<int64_t> &b);

  private:
    struct Entry {
        uint64_t pair;  // a << 32 | b
        uint32_t size;  // number of the size of the group
        bool operator<(const Entry &other) const { return pair != other.pair ? pair < other.pair : size < other.size; }
    };
    struct Sized {
        size_t group;
        uint32_t size;
    };

    void choose(size_t groups, int64_t budget);
    void divide(size_t block);
    void count(int64_t budget);
    void rewind();
    // Lists the pairs of groups of the first `sizes` sizes with a below `last`, after those of the call before.
    void list(uint32_t sizes, int64_t last);

    const int64_t *members_;
    const uint8_t *probes_;
    const int64_t *offsets_;
    std::vector<Sized> chosen_;    // by size
    std::vector<int64_t> sizes_;   // of the chosen groups, ascending
    std::vector<int64_t> cursor_;  // by chosen group: the next a
    std::vector<int64_t> ends_;    // of the ranges
    std::vector<Entry> entries_;   // sorted, each pair once
    uint32_t included_ = 0;        // sizes
    size_t range_ = 0;
    int64_t largest_ = 0, count_ = 0;
};

}  // namespace neardup
