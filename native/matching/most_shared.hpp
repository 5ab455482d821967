// Counts with whom one document shares groups, and chooses those with whom it shares most.
//
// In some contents every document meets every other and none match: stock sentences, permutations of the same words.
// So that these do not cost their square, a document is compared with a limited number of others. Documents that match
// share more groups, or smaller ones, than documents that meet by chance, so the limit seldom costs answers.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class MostShared {
  public:
    explicit MostShared(size_t documents = 0) : shared_(documents) {}

    void grow(size_t documents) {
        if (shared_.size() < documents) shared_.resize(documents);
    }
    // A group has the weight `idf`, below 2⁸.
    void add(int64_t other, int64_t idf = 0) {
        int64_t &shared = shared_[static_cast<size_t>(other)];
        if (shared == 0) met_.push_back(other);
        shared += idf << 32 | 1;
    }
    // One that was not added before, and with whom so many groups are shared.
    void meet(int64_t other, int32_t groups) {
        shared_[static_cast<size_t>(other)] = groups;
        met_.push_back(other);
    }
    // Of a group of so many of all documents, in bits.
    static int64_t idf(size_t members, size_t documents) {
        const auto all = static_cast<int64_t>(std::bit_width(documents)), here = static_cast<int64_t>(std::bit_width(members));
        return std::max<int64_t>(all - here, 0) + 1;
    }
    // Calls use(other, shared) for those that share at least `least` groups, ascending, and forgets all. At most `most`
    // of greatest weight are chosen, then those that share most, then the latest; 0 means all. Returns whether some were
    // left out.
    template <typename Use>
    bool take(int32_t least, size_t most, Use &&use) {
        if (least > 1) std::erase_if(met_, [&](int64_t other) { return forgotten(other, least); });
        const bool left_out = most > 0 && met_.size() > most;
        if (left_out) {
            const auto before = [&](int64_t x, int64_t y) {
                const int64_t p = shared_[static_cast<size_t>(x)], q = shared_[static_cast<size_t>(y)];
                return p != q ? p > q : x > y;
            };
            const auto end = met_.begin() + static_cast<ptrdiff_t>(most);
            std::nth_element(met_.begin(), end, met_.end(), before);
            for (auto other = end; other < met_.end(); ++other) shared_[static_cast<size_t>(*other)] = 0;
            met_.erase(end, met_.end());
        }
        std::sort(met_.begin(), met_.end());
        for (const int64_t other : met_) {
            use(other, static_cast<int32_t>(shared_[static_cast<size_t>(other)]));
            shared_[static_cast<size_t>(other)] = 0;
        }
        met_.clear();
        return left_out;
    }

  private:
    bool forgotten(int64_t other, int32_t least) {
        int64_t &shared = shared_[static_cast<size_t>(other)];
        if (static_cast<int32_t>(shared) >= least) return false;
        shared = 0;
        return true;
    }

    std::vector<int64_t> shared_;  // by document: the sum of weights in the upper half, the number of groups in the lower
    std::vector<int64_t> met_;
};

// How many members of groups are looked at for each document that may be chosen.
inline constexpr size_t kListed = 64;

}  // namespace neardup
