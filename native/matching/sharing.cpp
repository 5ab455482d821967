#include "matching/sharing.hpp"

#include <numeric>

#include "matching/most_shared.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

constexpr int64_t kAhead = 12;  // groups

// What `value(g, i)` gives for each member i of group g that is a document from `first` to `last`, by document: that of
// document d is begins[d - first] .. begins[d - first + 1] in `of`. 0 is left out.
template <typename Value>
void by_document(const int64_t *members, const int64_t *offsets, size_t groups, size_t first, size_t last, Value value,
                 std::vector<int64_t> &begins, std::vector<uint64_t> &of) {
    const size_t count = last - first;
    begins.assign(count + 1, 0);
    const auto each = [&](auto &&use) {
        for (size_t g = 0; g < groups; ++g)
            for (int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
                if (const size_t at = static_cast<size_t>(members[i]) - first; at < count)  // large for those before
                    if (const uint64_t found = value(g, i)) use(at, found);
    };
    each([&](size_t at, uint64_t) { ++begins[at + 1]; });
    for (size_t d = 0; d < count; ++d) begins[d + 1] += begins[d];
    of.resize(static_cast<size_t>(begins[count]));
    std::vector<int64_t> next(begins.begin(), begins.end() - 1);
    each([&](size_t at, uint64_t found) { of[static_cast<size_t>(next[at]++)] = found; });
}

}  // namespace

void sharing_pairs(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t documents, int32_t least,
                   size_t most, size_t first, size_t last, SharingPairs &out) {
    std::vector<int64_t> begins;
    std::vector<uint64_t> of;  // where a group begins << 2 | whether the document looks << 1 | 1
    // The first of a group has nobody before it.
    const auto seat = [&](size_t g, int64_t i) {
        if (members[offsets[g]] == members[i]) return uint64_t{0};
        return static_cast<uint64_t>(offsets[g]) << 2 | static_cast<uint64_t>(looks[i] != 0) << 1 | 1;
    };
    by_document(members, offsets, groups, first, last, seat, begins, of);
    MostShared shared(documents);
    // Whom a document has met last << 32 | how many groups they share: nothing is cleared between documents, and hardly any
    // of the others that one meets are listed.
    std::vector<uint64_t> counts(documents);
    std::vector<int64_t> reached;
    const auto enough = static_cast<uint32_t>(std::max(least, 1));
    // The groups of a document lie anywhere, and nearly all of the time is spent on waiting for them.
    const auto ahead = [&](int64_t i) { return of[std::min(static_cast<size_t>(i), of.size() - 1)]; };
    for (size_t d = first; d < last; ++d) {
        const auto document = static_cast<int64_t>(d);
        const uint64_t none = (uint64_t{d} + 1) << 32;
        const auto add = [&](int64_t other) {
            uint64_t &count = counts[static_cast<size_t>(other)];
            count = std::max(count, none) + 1;
            if (static_cast<uint32_t>(count) == enough) reached.push_back(other);
        };
        for (int64_t i = begins[d - first]; i < begins[d - first + 1]; ++i) {
            fetch(members + (ahead(i + kAhead) >> 2), sizeof *members);
            const uint64_t group = of[static_cast<size_t>(i)];
            const bool looking = group >> 1 & 1;
            // It ends at the latest at the document itself.
            for (uint64_t k = group >> 2; members[k] < document; ++k)
                if (looking || looks[k]) add(members[k]);
        }
        for (const int64_t other : reached) shared.meet(other, static_cast<int32_t>(counts[static_cast<size_t>(other)]));
        reached.clear();
        const bool capped = shared.take(least, most, [&](int64_t other, int32_t count) {
            out.a.push_back(other);
            out.b.push_back(document);
            out.shared.push_back(count);
        });
        if (capped) out.capped.push_back(document);
    }
}

void most_shared(const int64_t *a, const int64_t *b, const int32_t *shared, size_t pairs, size_t most, uint8_t *chosen) {
    std::vector<size_t> best;
    const auto before = [&](size_t x, size_t y) { return shared[x] != shared[y] ? shared[x] > shared[y] : a[x] > a[y]; };
    for (size_t i = 0, j; i < pairs; i = j) {
        for (j = i + 1; j < pairs && b[j] == b[i];) ++j;
        const bool all = j - i <= most;
        std::fill(chosen + i, chosen + j, static_cast<uint8_t>(all));
        if (all) continue;
        best.resize(j - i);
        std::iota(best.begin(), best.end(), i);
        std::nth_element(best.begin(), best.begin() + static_cast<ptrdiff_t>(most), best.end(), before);
        for (size_t k = 0; k < most; ++k) chosen[best[k]] = 1;
    }
}

bool larger_pairs(const int64_t *members, const uint8_t *looks, const int64_t *offsets, size_t groups, size_t documents,
                  const int32_t *least, size_t most_counted, size_t most_pairs, SharingPairs &out) {
    size_t counted = 0;
    for (size_t g = 0; g < groups; ++g)
        for (int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
            if (looks[i]) counted += static_cast<size_t>(offsets[g + 1] - i - 1);
    if (counted > most_counted) return false;
    std::vector<int64_t> begins, after(offsets, offsets + groups);  // after[g]: the first member not yet passed
    std::vector<uint64_t> of;
    // The group << 2 | whether the document looks with it << 1 | 1.
    const auto group_of = [&](size_t g, int64_t i) { return uint64_t{g} << 2 | static_cast<uint64_t>(looks[i] != 0) << 1 | 1; };
    by_document(members, offsets, groups, 0, documents, group_of, begins, of);
    // Narrow, so that more of both stays in cache: nearly all of the time is spent on adding.
    const std::vector<uint32_t> narrow(members, members + offsets[groups]);
    std::vector<uint32_t> shared(documents);
    for (size_t d = 0; d < documents && out.a.size() <= most_pairs; ++d) {
        size_t added = 0;
        const auto each_list = [&](auto &&use) {
            for (int64_t i = begins[d]; i < begins[d + 1]; ++i)
                if (const size_t g = of[static_cast<size_t>(i)] >> 2; of[static_cast<size_t>(i)] & 2)
                    use(narrow.data() + after[g], narrow.data() + offsets[g + 1]);
        };
        const auto take = [&](size_t other) {
            if (static_cast<int32_t>(shared[other]) >= least[d]) {
                out.a.push_back(static_cast<int64_t>(d));
                out.b.push_back(static_cast<int64_t>(other));
            }
            shared[other] = 0;
        };
        for (int64_t i = begins[d]; i < begins[d + 1]; ++i) ++after[of[static_cast<size_t>(i)] >> 2];
        each_list([&](const uint32_t *member, const uint32_t *end) {
            added += static_cast<size_t>(end - member);
            for (; member < end; ++member) ++shared[*member];
        });
        shared[d] = 0;  // a set with two features of one hash meets itself
        if (added > documents / 16)
            for (size_t other = d + 1; other < documents; ++other) take(other);
        else
            each_list([&](const uint32_t *member, const uint32_t *end) {
                for (; member < end; ++member)
                    if (shared[*member] > 0) take(*member);
            });
    }
    return out.a.size() <= most_pairs;
}

}  // namespace neardup
