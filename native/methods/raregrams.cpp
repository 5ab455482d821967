#include "methods/raregrams.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "features/common_entries.hpp"
#include "features/families.hpp"
#include "features/minhash.hpp"
#include "features/gram_samples.hpp"
#include "hash.hpp"
#include "simd.hpp"

namespace neardup {

namespace {

using sampled::feature_of;
using sampled::level_of;

struct Row {
    Entries entries;
    uint32_t level;
    bool whole;  // too short to be sampled
};

Row row_of(const uint64_t *values, const int64_t *offsets, int64_t document) {
    const uint64_t *begin = values + offsets[document], *const end = values + offsets[document + 1];
    if (begin == end || !sampled::is_head(*begin)) return {{begin, end}, 0, true};
    return {{begin + 1, end}, sampled::level_of_head(*begin), false};
}

size_t row_bytes(const int64_t *offsets, int64_t document) {
    return static_cast<size_t>(offsets[document + 1] - offsets[document]) * sizeof(uint64_t);
}

uint64_t class_of(uint64_t entry) { return entry & 3; }
NEARDUP_INLINE bool many_have(uint64_t rarity) { return rarity == kManyHave || rarity == kSomeHave; }
NEARDUP_INLINE int64_t weight_of(uint64_t entry) { return static_cast<int64_t>(entry & 0x7fffffu) >> 2; }

struct Sizes {
    int64_t features, lone, known, figures, many;
};

template <Instructions>
NEARDUP_INLINE void add_sizes_on(const uint64_t *entry, size_t count, uint32_t level, Sizes *out) {
    int64_t features = 0, lone = 0, known = 0, figures = 0, many = 0;
    for (size_t i = 0; i < count; ++i) {
        const int64_t in = (entry[i] >> 24 & sampled::kMostLevel) >= level;
        const int64_t alone = in & static_cast<int64_t>((entry[i] & 3) == kOneHas);
        features += in;
        lone += alone;
        known += weight_of(entry[i]) & -(in - alone);
        figures += in & static_cast<int64_t>(entry[i] >> 23);
        many += in & static_cast<int64_t>(many_have(entry[i] & 3));
    }
    *out = {features, lone, known, figures, many};
}

NEARDUP_EACH_LEVEL(void, add_sizes, (const uint64_t *entry, size_t count, uint32_t level, Sizes *out),
                   (entry, count, level, out))

Sizes sizes_at(const Row &row, uint32_t level) {
    Sizes sizes{row.entries.size(), 0, row.entries.size(), 0, 0};
    if (!row.whole) add_sizes(row.entries.begin, static_cast<size_t>(row.entries.size()), level, &sizes);
    return sizes;
}

// Remembers the sizes of documents, because most are in several pairs.
class SizesOf {
  public:
    explicit SizesOf(size_t pairs) : slots_(std::min(std::bit_ceil(2 * pairs + 1), kMostSlots)) {}

    Sizes at(const Row &row, int64_t document, uint32_t level) {
        // A document is mostly asked for at its own level and at the next one.
        Slot &slot = slots_[(2 * static_cast<size_t>(document) + (level & 1)) & (slots_.size() - 1)];
        if (slot.document != document || slot.level != level) slot = {document, level, sizes_at(row, level)};
        return slot.sizes;
    }

  private:
    static constexpr size_t kMostSlots = 1 << 16;
    struct Slot {
        int64_t document = -1;
        uint32_t level = 0;
        Sizes sizes;
    };
    std::vector<Slot> slots_;
};

GramSums compared(const Row &a, const Row &b, uint32_t level, const Sizes &of_a, const Sizes &of_b,
                  std::vector<Match> &room) {
    GramSums sums{};
    if (a.whole != b.whole) return sums;
    int64_t of_lone = 0, many = 0;
    const auto add = [&](const Match *match, const Match *end) {
        for (; match < end; ++match) {
            const int64_t in = std::min(level_of(match->p), level_of(match->q)) >= level;
            const int64_t weight = a.whole ? 1 : std::min(weight_of(match->p), weight_of(match->q)) & -in;
            const uint64_t rarity = class_of(match->p);
            sums.common += weight;
            sums.shared += in;
            many += in & static_cast<int64_t>(many_have(rarity));
            sums.common_figures += in & (a.whole ? 0 : sampled::figure_of(match->p));
            sums.rare += in & static_cast<int64_t>(rarity == kFewHave || rarity == kOneHas);
            of_lone += weight & -static_cast<int64_t>(rarity == kOneHas);
        }
    };
    if (a.whole) for_common_entries(a.entries, b.entries, room, add);
    else for_common_distinct(a.entries, b.entries, room, add);
    sums.a = of_a.known + of_lone;
    sums.b = of_b.known + of_lone;
    sums.smaller = std::min(of_a.features, of_b.features);
    sums.own = std::min(of_a.lone, of_b.lone);
    sums.figures = std::min(of_a.figures, of_b.figures);
    sums.level = level;
    sums.lone = of_a.lone + of_b.lone;
    sums.apart = a.whole ? 0 : of_a.many + of_b.many - 2 * many;
    return sums;
}

// Makes the keys of one document after the other; holds scratch memory.
class KeyMaker {
  public:
    explicit KeyMaker(const GramKeys &settings) : settings_(settings), minima_(settings.functions) {}

    // Returns how many of the keys look.
    size_t append(const Row &row, std::vector<uint64_t> &keys) {
        const size_t begin = keys.size();
        divide(row.entries);
        append_first(rare_, row.level, settings_.rare, kRareKey, keys);
        append_first(lone_, row.level, settings_.lone, kLoneKey, keys);
        const size_t before_bands = keys.size();
        append_bands(keys);
        std::sort(keys.begin() + static_cast<ptrdiff_t>(begin), keys.end());
        return (goes_on(row.entries) ? before_bands : keys.size()) - begin;
    }

  private:
    static constexpr uint64_t kBand = uint64_t{1} << 63;  // so that bands are the last of sorted keys
    static constexpr uint64_t kRareKey = uint64_t{1} << 32, kLoneKey = uint64_t{2} << 32;

    // The entries that a few or some documents have, that one has, and the hashes of those that others have. No branch
    // depends on a class: they come in no order.
    void divide(Entries entries) {
        static_assert((kFewHave & kSomeHave & 1) && !(kManyHave & 1) && !(kOneHas & 1));
        const auto size = static_cast<size_t>(entries.size());
        for (auto *part : {&rare_, &lone_, &hashes_}) part->resize(size + 1);
        size_t rare = 0, lone = 0, known = 0;
        for (size_t i = 0; i < size; ++i) {
            const uint64_t entry = entries.begin[i], alone = class_of(entry) == kOneHas;
            rare_[rare] = lone_[lone] = entry;
            hashes_[known] = scramble(feature_of(entry) ^ kSecret[0]);
            rare += entry & 1;
            lone += alone;
            known += 1 - alone;
        }
        rare_.resize(rare);
        lone_.resize(lone);
        hashes_.resize(known);
    }

    bool goes_on(Entries entries) const {
        const size_t lone = lone_.size();
        return lone >= settings_.own && lone * settings_.own_share >= static_cast<size_t>(entries.size());
    }

    // Half of the features of a sample have its level, so only those of the highest levels are ordered.
    void append_first(const std::vector<uint64_t> &entries, uint32_t lowest, size_t most, uint64_t kind,
                      std::vector<uint64_t> &keys) {
        if (most == 0) return;
        const auto from = [](uint64_t level) { return level << 24; };
        const auto level_bits = from(sampled::kMostLevel);
        uint32_t level = std::min<uint32_t>(lowest + static_cast<uint32_t>(std::bit_width(entries.size() / most)), sampled::kMostLevel);
        const auto enough = [&] {
            size_t count = 0;
            for (const uint64_t entry : entries) count += (entry & level_bits) >= from(level);
            return count >= most;
        };
        while (level > 0 && !enough()) --level;
        ranks_.clear();
        for (const uint64_t entry : entries)
            if ((entry & level_bits) >= from(level))
                ranks_.push_back(uint64_t{sampled::kMostLevel - level_of(entry)} << 32 | feature_of(entry));
        const size_t taken = std::min(most, ranks_.size());
        std::nth_element(ranks_.begin(), ranks_.begin() + static_cast<ptrdiff_t>(taken), ranks_.end());
        for (size_t i = 0; i < taken; ++i) keys.push_back(scramble((ranks_[i] & 0xffffffffu) | kind) & ~kBand);
    }

    void append_bands(std::vector<uint64_t> &keys) {
        if (hashes_.size() < settings_.fewest) return;
        minhash(hashes_.data(), hashes_.size(), settings_.multipliers, settings_.functions, minima_.data());
        for (uint32_t band = 0; band < settings_.bands; ++band) {
            const uint64_t key = band_key(minima_.data() + size_t{band} * settings_.rows, settings_.rows, band);
            keys.push_back(key | kBand);
            keys.push_back(scramble(key) | kBand);
        }
    }

    const GramKeys &settings_;
    std::vector<uint64_t> rare_, lone_, hashes_, ranks_;
    std::vector<uint32_t> minima_;
};

}  // namespace

// A branch on whether a count is high would be mispredicted: entries with high counts are listed first.
void weigh_grams(uint64_t *values, const int64_t *offsets, size_t documents, const SlotCounts &counts,
                 const uint32_t *weight_of_count) {
    std::array<uint64_t, kLow + 1> weights;
    std::copy_n(weight_of_count, kLow, weights.begin());
    weights[kLow] = 0;
    std::vector<uint64_t *> high;
    for (size_t d = 0; d < documents; ++d) {
        if (offsets[d] == offsets[d + 1] || !sampled::is_head(values[offsets[d]])) continue;
        uint64_t *const end = values + offsets[d + 1];
        high.resize(static_cast<size_t>(offsets[d + 1] - offsets[d]));
        size_t listed = 0;
        for (uint64_t *entry = values + offsets[d] + 1; entry < end; ++entry) {
            if (end - entry > static_cast<ptrdiff_t>(kSlotsAhead)) counts.fetch_slot(feature_of(entry[kSlotsAhead]));
            const uint32_t low = counts.low[counts.slot_of(feature_of(*entry))];
            high[listed] = entry;
            listed += low == kLow;
            *entry |= weights[low];
        }
        for (size_t i = 0; i < listed; ++i) *high[i] |= weight_of_count[counts.high_count(feature_of(*high[i]))];
    }
}

void gram_keys(const uint64_t *values, const int64_t *offsets, size_t documents, const GramKeys &settings,
               std::vector<uint64_t> &keys, std::vector<int64_t> &ends, std::vector<int32_t> &probes) {
    KeyMaker maker(settings);
    for (size_t d = 0; d < documents; ++d) {
        const Row row = row_of(values, offsets, static_cast<int64_t>(d));
        probes.push_back(static_cast<int32_t>(maker.append(row, keys)));
        ends.push_back(static_cast<int64_t>(keys.size()));
    }
}

void compare_grams(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   GramSums *out) {
    std::vector<Match> room;
    SizesOf sizes(pairs);
    for (size_t i = 0; i < pairs; ++i) {
        // The next rows are mostly far away.
        if (i + 1 < pairs)
            for (const int64_t next : {a[i + 1], b[i + 1]})
                if (next != a[i] && next != b[i]) fetch(values + offsets[next], row_bytes(offsets, next));
        const Row x = row_of(values, offsets, a[i]), y = row_of(values, offsets, b[i]);
        const uint32_t level = std::max(x.level, y.level);
        out[i] = compared(x, y, level, sizes.at(x, a[i], level), sizes.at(y, b[i], level), room);
    }
}

}  // namespace neardup
