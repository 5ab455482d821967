#include "aligned.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "families.hpp"

namespace neardup {

namespace {

uint32_t feature_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
uint32_t position_of(uint64_t entry) { return static_cast<uint32_t>(entry); }

bool are_positions(Entries words) {
    const auto size = static_cast<uint64_t>(words.size());
    return std::all_of(words.begin, words.end, [size](uint64_t entry) { return position_of(entry) < size; });
}

Entries words_at(const uint64_t *values, const int64_t *offsets, int64_t document, size_t families, size_t at) {
    Families own = families_of(values, offsets, document, families);
    for (size_t f = 0; f < at; ++f) own.take(f);
    const Entries words = own.take(at);
    return are_positions(words) ? words : Entries{words.begin, words.begin};
}

struct Place {
    int64_t p, q;
};

// Holds scratch memory; each thread needs its own.
class Aligning {
  public:
    void align(Entries p, Entries q, AlignedWords &out) {
        if (goes_first(q, p)) std::swap(p, q);
        find_anchors(p, q);
        chain();
        lay_out(p, p_);
        lay_out(q, q_);
        extend(out);
    }

  private:
    // The texts are ordered by their content, so that exchanging a and b changes nothing.
    static bool goes_first(Entries x, Entries y) {
        if (x.size() != y.size()) return x.size() < y.size();
        return std::lexicographical_compare(x.begin, x.end, y.begin, y.end);
    }

    static const uint64_t *after(Entries words) {
        const uint32_t feature = feature_of(*words.begin);
        const uint64_t *next = words.begin + 1;
        while (next < words.end && feature_of(*next) == feature) ++next;
        return next;
    }

    // Finds the anchors, in the order of p.
    void find_anchors(Entries p, Entries q) {
        anchors_.clear();
        while (p.begin < p.end && q.begin < q.end) {
            const uint32_t x = feature_of(*p.begin), y = feature_of(*q.begin);
            if (x != y) {
                p.begin += x < y;
                q.begin += y < x;
                continue;
            }
            const uint64_t *const p_next = after(p), *const q_next = after(q);
            if (p_next - p.begin == 1 && q_next - q.begin == 1) {
                anchors_.push_back(uint64_t{position_of(*p.begin)} << 32 | position_of(*q.begin));
            }
            p.begin = p_next;
            q.begin = q_next;
        }
        std::sort(anchors_.begin(), anchors_.end());
    }

    // Finds the longest increasing subsequence of positions in q by patience sorting.
    void chain() {
        constexpr uint32_t none = UINT32_MAX;
        piles_.clear();
        before_.resize(anchors_.size());
        for (size_t i = 0; i < anchors_.size(); ++i) {
            const uint32_t at = position_of(anchors_[i]);
            const auto pile = std::lower_bound(piles_.begin(), piles_.end(), at,
                                               [&](uint32_t top, uint32_t q) { return position_of(anchors_[top]) < q; });
            before_[i] = pile == piles_.begin() ? none : *(pile - 1);
            if (pile == piles_.end()) {
                piles_.push_back(static_cast<uint32_t>(i));
            } else {
                *pile = static_cast<uint32_t>(i);
            }
        }
        chain_.clear();
        for (uint32_t i = piles_.empty() ? none : piles_.back(); i != none; i = before_[i]) chain_.push_back(anchors_[i]);
        std::reverse(chain_.begin(), chain_.end());
    }

    static void lay_out(Entries words, std::vector<uint32_t> &out) {
        out.assign(static_cast<size_t>(words.size()), 0);
        for (; words.begin < words.end; ++words.begin) out[position_of(*words.begin)] = feature_of(*words.begin);
    }

    void extend(AlignedWords &out) {
        const Place end{static_cast<int64_t>(p_.size()), static_cast<int64_t>(q_.size())};
        Place last{-1, -1};
        run_ = 0;
        for (const uint64_t anchor : chain_) {
            const Place next{static_cast<int64_t>(anchor >> 32), position_of(anchor)};
            take_gap(last, next, out);
            ++out.aligned;
            ++run_;
            last = next;
        }
        take_gap(last, end, out);
        out.run = std::max(out.run, run_);
    }

    // Aligns equal words between two anchors: those after the first, then those before the second.
    void take_gap(Place first, Place second, AlignedWords &out) {
        const int64_t of_p = second.p - first.p - 1, of_q = second.q - first.q - 1, room = std::min(of_p, of_q);
        int64_t ahead = 0, back = 0;
        while (ahead < room && same(first.p + 1 + ahead, first.q + 1 + ahead)) ++ahead;
        while (ahead + back < room && same(second.p - 1 - back, second.q - 1 - back)) ++back;
        out.aligned += ahead + back;
        run_ += ahead;
        if (ahead == of_p && ahead == of_q) return;
        out.run = std::max(out.run, run_);
        run_ = back;
    }

    bool same(int64_t p, int64_t q) const { return p_[static_cast<size_t>(p)] == q_[static_cast<size_t>(q)]; }

    std::vector<uint64_t> anchors_, chain_;  // position in p << 32 | position in q
    std::vector<uint32_t> piles_, before_;
    std::vector<uint32_t> p_, q_;  // words in their order
    int64_t run_ = 0;
};

}  // namespace

void align_profiles(const uint64_t *values, const int64_t *offsets, size_t families, size_t at, const int64_t *a,
                    const int64_t *b, size_t pairs, AlignedWords *out) {
    Aligning aligning;
    for (size_t i = 0; i < pairs; ++i) {
        const Entries p = words_at(values, offsets, a[i], families, at);
        const Entries q = words_at(values, offsets, b[i], families, at);
        out[i] = {p.size(), q.size(), 0, 0};
        aligning.align(p, q, out[i]);
    }
}

}  // namespace neardup
