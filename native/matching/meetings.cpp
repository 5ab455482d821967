#include "matching/meetings.hpp"

#include <algorithm>
#include <bit>

#include "features/parity.hpp"

namespace neardup {
namespace {

constexpr int kDeepestBits = 6;                // 2^6 times more comparisons are allowed at the greatest depth
constexpr int kSample = 8, kAlike = 6;         // a crowd is similar if 6 of 8 sampled pairs may pass
constexpr ptrdiff_t kAhead = 24;               // sketches are prefetched this many entries ahead

struct Entry {
    uint64_t path;
    uint32_t place;  // by size
};

// Paths are hashes, so leading bits divide them evenly, and the remaining sorts are short.
void sort_entries(std::vector<Entry> &entries, int skipped_bits) {
    const int bits = std::clamp<int>(std::bit_width(entries.size()) - 3, 1, 17);
    std::vector<uint32_t> ends((size_t{1} << bits) + 1, 0);
    const auto bucket = [&](uint64_t path) { return (path << skipped_bits) >> (64 - bits); };
    for (const Entry &e : entries) ++ends[bucket(e.path) + 1];
    for (size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
    std::vector<Entry> sorted(entries.size());
    for (const Entry &e : entries) sorted[ends[bucket(e.path)]++] = e;
    entries.swap(sorted);
    const auto before = [](const Entry &x, const Entry &y) { return x.path != y.path ? x.path < y.path : x.place < y.place; };
    size_t begin = 0;
    for (size_t b = 0; b + 1 < ends.size(); begin = ends[b++])
        std::sort(entries.begin() + static_cast<ptrdiff_t>(begin), entries.begin() + ends[b], before);
}

class Part {
  public:
    Part(const Outlines &outlines, const uint32_t *by_size, size_t documents, const Rounds &rounds, Meetings &out)
        : outlines_(outlines), by_size_(by_size), sizes_(documents), rounds_(rounds), out_(out) {
        for (size_t i = 0; i < documents; ++i) sizes_[i] = outlines.sizes[by_size[i]];
    }

    void run(const std::vector<Entry> &entries) {
        const Entry *const end = entries.data() + entries.size();
        for (const Entry *i = entries.data(), *j; i < end; i = j) {
            for (j = i + 1; j < end && j->path == i->path;) ++j;
            for (const Entry *e = i; e < j; ++e)
                if (end - e > kAhead) fetch(e[kAhead]);
            if (j - i > 1) group(i, j);
        }
        std::sort(out_.pairs.begin(), out_.pairs.end());
        out_.pairs.erase(std::unique(out_.pairs.begin(), out_.pairs.end()), out_.pairs.end());
    }

  private:
    uint32_t document(const Entry &e) const { return by_size_[e.place]; }
    int64_t size(const Entry &e) const { return sizes_[e.place]; }

    void fetch(const Entry &e) const { outlines_.fetch(document(e)); }

    // Calls use(x, end) for every member x; the members after it, up to `end`, have a similar size.
    template <typename Use>
    void each(const Entry *first, const Entry *last, Use &&use) const {
        const Entry *end = first;
        for (const Entry *x = first; x < last; ++x) {
            while (end < last && outlines_.near_in_size(size(*x), size(*end))) ++end;
            use(x, end);
        }
    }

    void group(const Entry *first, const Entry *last) {
        int64_t pairs = 0;
        each(first, last, [&](const Entry *x, const Entry *end) { pairs += end - x - 1; });
        const int64_t others = 2 * pairs / (last - first);
        const bool deepest = (first->path & path::kDepth) >= rounds_.deepest;
        if (others >> rounds_.few_bits == 0)
            compare(first, last);
        else if (alike(first, last))
            leave(first, last);
        else if (!deepest)
            go_on(first, last, others);
        else if (others >> (rounds_.few_bits + kDeepestBits) == 0)
            compare(first, last);
        else
            leave(first, last);
    }

    void compare(const Entry *first, const Entry *last) {
        each(first, last, [&](const Entry *x, const Entry *end) {
            out_.compared += end - x - 1;
            for (const Entry *y = x + 1; y < end; ++y) {
                const uint32_t a = document(*x), b = document(*y);
                if (outlines_.may_pass(a, b)) out_.pairs.push_back(uint64_t{std::min(a, b)} << 32 | std::max(a, b));
            }
        });
    }

    // Versions of one text stay together on any path. A member is compared with the middle one of the members of similar
    // size, because its neighbours in size may be copies of one document among many different ones.
    bool alike(const Entry *first, const Entry *last) const {
        int passed = 0, sampled = 0;
        const ptrdiff_t step = std::max<ptrdiff_t>((last - first) / kSample, 1);
        each(first, last, [&](const Entry *x, const Entry *end) {
            if ((x - first) % step || sampled == kSample || end - x < 2) return;
            ++sampled;
            passed += outlines_.may_pass(document(*x), document(x[(end - x) / 2]));
        });
        return passed >= kAlike;
    }

    void go_on(const Entry *first, const Entry *last, int64_t others) {
        const uint64_t crowd = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(others))) << path::kCrowdAt;
        for (const Entry *e = first; e < last; ++e) {
            out_.open.push_back(e->path | crowd);
            out_.open_documents.push_back(document(*e));
        }
    }

    void leave(const Entry *first, const Entry *last) {
        for (const Entry *e = first; e < last; ++e) out_.members.push_back(document(*e));
        std::sort(out_.members.begin() + static_cast<ptrdiff_t>(out_.ends.back()), out_.members.end());
        out_.ends.push_back(static_cast<int64_t>(out_.members.size()));
    }

    const Outlines &outlines_;
    const uint32_t *by_size_;
    std::vector<int64_t> sizes_;  // by place
    const Rounds &rounds_;
    Meetings &out_;
};

}  // namespace

void Outlines::fetch([[maybe_unused]] uint32_t document) const {
#if defined(__GNUC__) || defined(__clang__)
    const uint64_t *sketch = words + offsets[document];
    __builtin_prefetch(sketch);
    __builtin_prefetch(sketch + 8);
    __builtin_prefetch(sketch + 16);
#endif
}

bool Outlines::may_pass(uint32_t a, uint32_t b) const {
    const int64_t larger = std::max(sizes[a], sizes[b]);
    const int64_t most = sizes[a] + sizes[b] - 2 * ((larger * num + den - 1) / den);  // the greatest |A△B| of a pair that passes
    return differing_bits(words + offsets[a], static_cast<size_t>(offsets[a + 1] - offsets[a]), words + offsets[b],
                          static_cast<size_t>(offsets[b + 1] - offsets[b]), most) <= most;
}

void may_pass(const Outlines &outlines, const uint32_t *a, const uint32_t *b, size_t pairs, uint8_t *may) {
    const auto ahead = static_cast<size_t>(kAhead);
    for (size_t i = 0; i < pairs; ++i) {
        if (i + ahead < pairs)
            for (const uint32_t document : {a[i + ahead], b[i + ahead]}) outlines.fetch(document);
        const int64_t x = outlines.sizes[a[i]], y = outlines.sizes[b[i]];
        may[i] = outlines.near_in_size(std::min(x, y), std::max(x, y)) && outlines.may_pass(a[i], b[i]);
    }
}

void meet(const uint64_t *paths, const int64_t *offsets, const uint32_t *by_size, const uint32_t *place,
          size_t documents, const Outlines &outlines, const Rounds &rounds, Meetings &out) {
    std::vector<Entry> entries;
    const int bits = rounds.part_bits;
    const size_t share = static_cast<size_t>(offsets[documents]) >> bits;
    entries.reserve(share + share / 16 + 16);
    for (size_t d = 0; d < documents; ++d)
        for (int64_t p = offsets[d]; p < offsets[d + 1]; ++p)
            if (bits == 0 || paths[p] >> (64 - bits) == rounds.part) entries.push_back({paths[p], place[d]});
    sort_entries(entries, bits);
    Part(outlines, by_size, documents, rounds, out).run(entries);
}

}  // namespace neardup
