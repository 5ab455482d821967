#include "methods/learned.hpp"

#include <algorithm>
#include <array>

#include "features/families.hpp"
#include "features/minhash.hpp"
#include "features/overlap.hpp"
#include "hash.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

constexpr uint64_t kSpread = 0x9E3779B97F4A7C15ull;
constexpr uint32_t kOrder = 0x85EBCA6Bu;  // another order than that of the grams, which are hashes already
constexpr double kFar = 3;  // hashes are spread evenly, so what is that far beyond the last key is not looked at

constexpr size_t kHighAhead = 8;

NEARDUP_INLINE uint32_t feature_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
NEARDUP_INLINE int64_t weight_of(uint64_t entry) { return static_cast<int64_t>(entry & 0xffffffffu) >> 2; }

// Makes the keys of one document after the other; holds scratch memory.
class KeyMaker {
  public:
    explicit KeyMaker(const ProfileKeys &settings) : settings_(settings), minima_(settings.functions) {}

    // `count_of(i)` is the number of documents that have gram i.
    template <typename GramOf, typename CountOf>
    void append(size_t size, GramOf gram_of, CountOf count_of, std::vector<uint64_t> &keys) {
        const auto begin = static_cast<ptrdiff_t>(keys.size());
        uint64_t number = 0;
        for (const auto &one : settings_.classes) {
            chosen_.resize(size + 1);
            size_t count = 0;
            for (size_t i = 0; i < size; ++i) {
                const uint32_t gram = gram_of(i), n = count_of(i);
                chosen_[count] = uint64_t{gram * kOrder} << 32 | gram;
                count += (n >= one.least) & (n <= one.last);
            }
            append_first(count, one.most, ++number << 32, keys);
        }
        append_bands(size, gram_of, keys);
        std::sort(keys.begin() + begin, keys.end());
    }

  private:
    void append_first(size_t count, size_t most, uint64_t kind, std::vector<uint64_t> &keys) {
        if (count == 0) return;
        const double limit = std::min(kFar * static_cast<double>(most) / static_cast<double>(count), 1.0) * 0x1p32;
        size_t near = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint64_t one = chosen_[i];
            chosen_[near] = one;
            near += static_cast<double>(one >> 32) < limit;
        }
        const size_t taken = std::min(most, near);
        const auto first = chosen_.begin();
        std::nth_element(first, first + static_cast<ptrdiff_t>(taken), first + static_cast<ptrdiff_t>(near));
        for (size_t i = 0; i < taken; ++i) keys.push_back(((chosen_[i] & 0xffffffffu) + kind) * kSpread);
    }

    template <typename GramOf>
    void append_bands(size_t size, GramOf gram_of, std::vector<uint64_t> &keys) {
        hashes_.resize(size);
        for (size_t i = 0; i < size; ++i) hashes_[i] = scramble(gram_of(i) ^ kSecret[0]);
        minhash(hashes_.data(), size, settings_.multipliers, settings_.functions, minima_.data());
        for (uint32_t band = 0; band < settings_.bands; ++band) {
            const uint64_t key = band_key(minima_.data() + size_t{band} * settings_.rows, settings_.rows, band) * kSpread;
            for (uint32_t number = 0; number < settings_.shared; ++number) keys.push_back(key + number);
        }
    }

    const ProfileKeys &settings_;
    std::vector<uint64_t> chosen_, hashes_;
    std::vector<uint32_t> minima_;
};

// Weighs the features of one family after the other; holds scratch memory.
class Weigher {
  public:
    explicit Weigher(const FamilyTable &table) : table_(table) {
        std::copy_n(table.weight_of_count, kLow, low_.begin());
        low_[kLow] = 0;
    }

    // A branch on whether a count is high would be mispredicted: entries with high counts are listed first.
    void weigh(const uint32_t *features, size_t size, uint64_t *entries, std::vector<uint32_t> &counts) {
        const SlotCounts &slots = table_.counts;
        counts.resize(size);
        high_.resize(size + 1);
        size_t listed = 0;
        for (size_t i = 0; i < size; ++i) {
            if (i + kSlotsAhead < size) slots.fetch_slot(features[i + kSlotsAhead]);
            const uint32_t low = slots.low[slots.slot_of(features[i])];
            high_[listed] = static_cast<uint32_t>(i);
            listed += low == kLow;
            counts[i] = low;
            entries[i] = uint64_t{features[i]} << 32 | low_[low];
        }
        for (size_t k = 0; k < listed; ++k) {
            if (k + kHighAhead < listed) slots.fetch_high(features[high_[k + kHighAhead]]);
            const uint32_t i = high_[k];
            counts[i] = slots.high_count(features[i]);
            entries[i] |= table_.weight_of_count[counts[i]];
        }
    }

  private:
    const FamilyTable &table_;
    std::array<uint64_t, kLow + 1> low_;
    std::vector<uint32_t> high_;
};

// Whether the heads say how many features follow.
bool is_profile(const uint32_t *row, int64_t size, size_t families) {
    const auto head = static_cast<int64_t>(families);
    uint64_t features = 0;
    for (size_t f = 0; size >= head && f < families; ++f) features += row[f];
    return size >= head && features == static_cast<uint64_t>(size - head);
}

void mark_noise(uint64_t *entries, size_t size, const NoiseRule &rule) {
    int64_t lone = 0;
    for (size_t i = 0; i < size; ++i) lone += (entries[i] & 3) == kLone;
    const auto words = static_cast<int64_t>(size);
    if (words < rule.fewest || static_cast<double>(lone) < rule.share * static_cast<double>(words)) return;
    for (size_t i = 0; i < size; ++i) entries[i] |= (entries[i] & 3) == kLone ? kNoise : 0;
}

}  // namespace

void profile_keys(const uint32_t *grams, const int64_t *offsets, size_t documents, const SlotCounts &counts,
                  const ProfileKeys &settings, std::vector<uint64_t> &keys, std::vector<int64_t> &ends) {
    KeyMaker maker(settings);
    std::vector<uint32_t> found;
    for (size_t d = 0; d < documents; ++d) {
        const uint32_t *const own = grams + offsets[d];
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        found.resize(size);
        for (size_t i = 0; i < size; ++i) {
            if (i + kSlotsAhead < size) counts.fetch_slot(own[i + kSlotsAhead]);
            found[i] = counts.of(own[i]);
        }
        maker.append(size, [&](size_t i) { return own[i]; }, [&](size_t i) { return found[i]; }, keys);
        ends.push_back(static_cast<int64_t>(keys.size()));
    }
}

void weigh_profiles(const uint32_t *rows, const int64_t *offsets, size_t documents, const std::vector<FamilyTable> &tables,
                    const NoiseRule &noise, size_t grams, const ProfileKeys &settings, uint64_t *out,
                    std::vector<uint64_t> &keys, std::vector<int64_t> &ends) {
    KeyMaker maker(settings);
    std::vector<Weigher> weighers(tables.begin(), tables.end());
    std::vector<uint32_t> counts, gram_counts;
    for (size_t d = 0; d < documents; ++d) {
        const uint32_t *row = rows + offsets[d], *const end = rows + offsets[d + 1], *own = nullptr;
        const bool whole = is_profile(row, end - row, tables.size());
        gram_counts.clear();
        if (whole) out = std::copy_n(row, tables.size(), out);
        const uint32_t *next = whole ? row + tables.size() : row;
        for (size_t f = 0; whole && f < tables.size(); ++f) {
            weighers[f].weigh(next, row[f], out, f == grams ? gram_counts : counts);
            if (f == noise.family) mark_noise(out, row[f], noise);
            if (f == grams) own = next;
            next += row[f];
            out += row[f];
        }
        while (next < end) *out++ = uint64_t{*next++} << 32 | 1;
        const auto gram_of = [&](size_t i) { return own[i]; };
        const auto count_of = [&](size_t i) { return gram_counts[i]; };
        if (!gram_counts.empty()) maker.append(gram_counts.size(), gram_of, count_of, keys);
        ends.push_back(static_cast<int64_t>(keys.size()));
    }
}

void rare_grams(const uint64_t *values, const int64_t *offsets, size_t documents, size_t families, size_t grams,
                int64_t least, uint32_t every, RareGrams &out) {
    for (size_t d = 0; d < documents; ++d) {
        Families own = families_of(values, offsets, static_cast<int64_t>(d), families);
        for (size_t f = 0; f < grams; ++f) own.take(f);
        const Entries entries = own.take(grams);
        int64_t known = 0;
        const size_t before = out.entries.size();
        const bool wanted = entries.size() >= least;
        out.entries.resize(before + (wanted ? static_cast<size_t>(entries.size()) + 1 : 0));
        uint64_t *next = out.entries.data() + before;
        for (const uint64_t *entry = entries.begin; entry < entries.end; ++entry) {
            const uint64_t rarity = *entry & 3;
            known += weight_of(*entry) & -static_cast<int64_t>(rarity < kLone);
            if (!wanted) continue;
            *next = *entry;
            next += (rarity == kRare) & (every <= 1 || feature_of(*entry) % every == 0);
        }
        out.entries.resize(static_cast<size_t>(next - out.entries.data()));
        out.ends.push_back(static_cast<int64_t>(out.entries.size()));
        out.known.push_back(known);
        out.sizes.push_back(entries.size());
    }
}

}  // namespace neardup
