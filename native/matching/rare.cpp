#include "matching/rare.hpp"

#include <algorithm>

#include "hash.hpp"

namespace neardup {
namespace {

uint64_t key_of(uint64_t feature) { return scramble(feature ^ kSecret[1]); }

constexpr uint8_t kExact = 128, kMost = 255, kStep = 8;

// Above kExact a count grows on average by one for every 2, 4, 8 … features, kStep times for each of these.
bool counts_again(uint8_t count, uint64_t random) { return random >> (63 - (count - kExact) / kStep) == 0; }

// Collects the keys of one part of the key space.
class Part {
  public:
    Part(uint64_t part, uint64_t parts, RareKeys &out) : part_(part), parts_(parts), out_(out) {}

    void add(uint64_t feature, bool looks) {
        const uint64_t key = key_of(feature);
        if (key % parts_ != part_) return;
        out_.keys.push_back(key);
        probes_ += looks;
    }
    void close() {
        out_.ends.push_back(static_cast<int64_t>(out_.keys.size()));
        out_.probes.push_back(probes_);
        probes_ = 0;
    }

  private:
    uint64_t part_, parts_;
    RareKeys &out_;
    int32_t probes_ = 0;
};

// The set as count << 32 | feature, without unique features; returns the number of features left out.
size_t ranked(const uint32_t *features, size_t size, const uint8_t *counts, size_t slots, std::vector<uint64_t> &out) {
    out.resize(size);
    size_t kept = 0;
    for (size_t i = 0; i < size; ++i) {
        const uint64_t count = counts[features[i] & (slots - 1)];
        out[kept] = count << 32 | features[i];
        kept += count != 1;
    }
    out.resize(kept);
    return size - kept;
}

}  // namespace

void count_features(const uint32_t *features, size_t size, uint8_t *counts, size_t slots) {
    uint64_t random = kSecret[0];
    for (size_t i = 0; i < size; ++i) {
        uint8_t &count = counts[features[i] & (slots - 1)];
        if (count < kExact) {
            ++count;
        } else if (count < kMost && counts_again(count, random = scramble(random + features[i]))) {
            ++count;
        }
    }
}

void rare_prefixes(const uint32_t *features, const int64_t *offsets, const int64_t *sizes, size_t documents,
                   const uint8_t *counts, size_t slots, bool all, uint64_t part, uint64_t parts, RareKeys &out) {
    Part keys(part, parts, out);
    std::vector<uint64_t> order;
    for (size_t d = 0; d < documents; ++d, keys.close()) {
        const uint32_t *set = features + offsets[d];
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        size_t prefix = std::min(static_cast<size_t>(sizes[d]), size);
        if (slots == 0) {  // sets are sorted, so the head is the prefix
            for (size_t i = 0; i < (all ? size : prefix); ++i) keys.add(set[i], i < prefix);
            continue;
        }
        // The features left out are the rarest and therefore the beginning of the prefix, or all of it.
        prefix -= std::min(prefix, ranked(set, size, counts, slots, order));
        if (prefix > 0 && prefix < order.size())
            std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(prefix - 1), order.end());
        for (size_t i = 0; i < (all ? order.size() : prefix); ++i) keys.add(order[i] & 0xffffffffu, i < prefix);
    }
}

namespace {

struct Weighted {
    uint64_t order, mass;  // order: count or lightness in the upper half, feature in the lower
    bool operator<(const Weighted &other) const { return order < other.order; }
};

// The head of the entries in `set`, whose total mass is `left`: it grows as long as at least `needed` remains.
void add_head(std::vector<Weighted> &set, uint64_t left, uint64_t needed, Part &keys) {
    std::sort(set.begin(), set.end());
    for (size_t i = 0; i < set.size() && left >= needed; ++i) {
        left -= set[i].mass;
        keys.add(set[i].order & 0xffffffffu, true);
    }
}

// The same without sorting: counts are bytes, so the head is all entries of small counts and some of one more count.
class CountedHead {
  public:
    void add(uint8_t count, uint64_t feature, uint64_t mass) {
        if (count == 1) return;  // unique: first in the order, but not a key
        set_.push_back({uint64_t{count} << 32 | feature, mass});
        mass_[count] += mass;
        left_ += mass;
    }
    void close(uint64_t needed, Part &keys) {
        unsigned count = 0;
        for (; count < 256 && left_ >= needed + mass_[count]; ++count) left_ -= mass_[count];
        const uint64_t limit = uint64_t{count} << 32;
        last_.clear();
        for (const Weighted &one : set_) {
            if (one.order < limit)
                keys.add(one.order & 0xffffffffu, true);
            else if (one.order >> 32 == count)
                last_.push_back(one);
        }
        add_head(last_, left_, needed, keys);
        set_.clear();
        std::fill(std::begin(mass_), std::end(mass_), 0);
        left_ = 0;
    }

  private:
    std::vector<Weighted> set_, last_;
    uint64_t mass_[256] = {}, left_ = 0;
};

}  // namespace

void rare_weighted_prefixes(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                            bool squared, const uint8_t *counts, size_t slots, uint64_t part, uint64_t parts,
                            RareKeys &out) {
    Part keys(part, parts, out);
    CountedHead head;
    std::vector<Weighted> set;
    for (size_t d = 0; d < documents; ++d, keys.close()) {
        const uint64_t least = std::max<uint64_t>(needed[d], 1);
        uint64_t left = 0;
        set.clear();
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
            const uint64_t feature = entries[i] >> 32, weight = entries[i] & 0xffffffffu;
            const uint64_t mass = squared ? weight * weight : weight;
            if (slots) {
                head.add(counts[feature & (slots - 1)], feature, mass);
            } else {
                set.push_back({(0xffffffffu - weight) << 32 | feature, mass});
                left += mass;
            }
        }
        slots ? head.close(least, keys) : add_head(set, left, least, keys);
    }
}

void rare_vector_pairs(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                       const uint8_t *counts, size_t slots, uint32_t common, uint64_t part, uint64_t parts,
                       RareKeys &out) {
    struct Entry {
        uint64_t order, mass;  // order: count in the upper half, feature in the lower
        bool operator<(const Entry &other) const { return order < other.order; }
    };
    std::vector<Entry> set;
    std::vector<uint64_t> often;  // keys of the common features of the head
    for (size_t d = 0; d < documents; ++d) {
        set.clear();
        often.clear();
        uint64_t left = 0, heaviest = 0;
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
            const uint64_t feature = entries[i] >> 32, weight = entries[i] & 0xffffffffu;
            set.push_back({uint64_t{counts[feature & (slots - 1)]} << 32 | feature, weight * weight});
            left += set.back().mass;
            heaviest = std::max(heaviest, set.back().mass);
        }
        std::sort(set.begin(), set.end());
        const size_t before = out.keys.size();
        const auto give = [&](uint64_t key) {
            if (key % parts == part) out.keys.push_back(key);
        };
        for (size_t i = 0; i < set.size() && left + heaviest >= needed[d]; ++i) {
            left -= set[i].mass;
            const uint64_t key = key_of(set[i].order & 0xffffffffu);
            const bool rare = set[i].order >> 32 <= common;
            if (rare || set[i].mass >= needed[d]) give(key);
            if (rare) continue;
            for (uint64_t other : often) give(scramble(fold_multiply(other, kSecret[2]) ^ key));
            often.push_back(key);
        }
        out.ends.push_back(static_cast<int64_t>(out.keys.size()));
        out.probes.push_back(static_cast<int32_t>(out.keys.size() - before));
    }
}

}  // namespace neardup
