#include "matching/paths.hpp"

#include <algorithm>

#include "hash.hpp"

namespace neardup {
namespace {

constexpr int kEighths = 8;
constexpr ptrdiff_t kNear = 64;
// If this many consecutive features separate so few sets, they may be versions of one text, and are compared first.
constexpr size_t kTrial = 3;
constexpr int kTrialGain = 20;

uint32_t window_width(int64_t m) {
    if (m <= 1) return ~uint32_t{0};  // one value less than all 2³²
    return static_cast<uint32_t>(((uint64_t{1} << 32) + static_cast<uint64_t>(m) - 1) / static_cast<uint64_t>(m));
}

uint64_t child(uint64_t path, uint32_t feature) {
    return scramble(fold_multiply(path ^ kSecret[2], feature ^ kSecret[3])) & path::kHash;
}

// Extends the paths of one set after another.
class Walk {
  public:
    Walk(const Features &sets, uint32_t deepest, int few_bits, std::vector<uint64_t> &out)
        : sets_(sets), deepest_(deepest), few_bits_(few_bits), out_(out) {}

    void read(size_t document, int64_t m) {
        begin_ = sets_.values + sets_.offsets[document];
        end_ = sets_.values + sets_.offsets[document + 1];
        width_ = window_width(m);
    }

    void go_on(uint64_t path) {
        const int crowd = static_cast<int>((path & path::kCrowd) >> path::kCrowdAt);
        start_ = kEighths * (crowd - few_bits_);
        on_path_.clear();
        step(path & path::kHash, static_cast<uint32_t>(path & path::kDepth), start_);
    }

  private:
    // `crowd` is the ratio of expected to wanted sets on the path, in eighths of a bit.
    void step(uint64_t path, uint32_t depth, int crowd) {
        const uint32_t first = static_cast<uint32_t>(scramble(path) >> 32);
        const uint32_t *f = at(first);
        for (ptrdiff_t left = end_ - begin_; left > 0; --left, ++f) {
            if (f == end_) f = begin_;
            if (*f - first >= width_) return;
            add(path, depth, crowd, *f);
        }
    }

    void add(uint64_t path, uint32_t depth, int crowd, uint32_t feature) {
        const uint64_t longer = child(path, feature);
        const bool again = std::find(on_path_.begin(), on_path_.end(), feature) != on_path_.end();
        if (!again) crowd -= sets_.rarity[feature & (sets_.slots - 1)];  // a feature separates sets only once
        const bool parts_few = on_path_.size() + 1 == kTrial && start_ - crowd < kTrialGain;
        if (crowd <= 0 || depth + 1 >= deepest_ || parts_few) {
            out_.push_back(longer | (depth + 1));
            return;
        }
        on_path_.push_back(feature);
        step(longer, depth + 1, crowd);
        on_path_.pop_back();
    }

    // The first feature that is at least `value`. Features are spread evenly, so the first guess is close.
    const uint32_t *at(uint32_t value) const {
        const ptrdiff_t size = end_ - begin_;
        ptrdiff_t low = static_cast<ptrdiff_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(size) >> 32), reach = kNear;
        low = std::max<ptrdiff_t>(low - reach / 2, 0);
        for (; low > 0 && begin_[low] >= value; reach *= 2) low = std::max<ptrdiff_t>(low - reach, 0);
        while (low + reach < size && begin_[low + reach] < value) low += reach;
        ptrdiff_t left = std::min(reach, size - low);
        for (; left > 1; left -= left / 2) low += begin_[low + left / 2 - 1] < value ? left / 2 : 0;  // no branch
        return begin_ + low + (left > 0 && begin_[low] < value);
    }

    const Features &sets_;
    const uint32_t *begin_ = nullptr, *end_ = nullptr;
    uint32_t width_ = 0, deepest_;
    int few_bits_, start_ = 0;
    std::vector<uint32_t> on_path_;
    std::vector<uint64_t> &out_;
};

}  // namespace

void longer_paths(const Features &sets, const int64_t *m, const uint64_t *paths, const int64_t *offsets,
                  size_t documents, int few_bits, uint32_t deepest, Paths &out) {
    Walk walk(sets, deepest, few_bits, out.values);
    for (size_t d = 0; d < documents; ++d) {
        if (offsets[d + 1] > offsets[d]) walk.read(d, m[d]);
        for (int64_t p = offsets[d]; p < offsets[d + 1]; ++p) walk.go_on(paths[p]);
        out.offsets.push_back(static_cast<int64_t>(out.values.size()));
    }
}

}  // namespace neardup
