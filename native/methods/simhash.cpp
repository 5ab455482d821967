#include "methods/simhash.hpp"

#include <algorithm>

#include "features/shingles.hpp"
#include "hash.hpp"
#include "methods/reading.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

// How often each of 64 bits was 1, one plane a binary digit of all 64 counts (Harley and Seal).
class BitCounts {
  public:
    void add(const uint64_t *values, size_t size) {
        size_t i = 0;
        for (; i + 8 <= size; i += 8) add_eight(values + i);
        for (; i < size; ++i) carry(values[i], 0);
    }
    // Bits whose count is at least `least`.
    uint64_t at_least(uint64_t least) const {
        uint64_t above = 0, equal = ~uint64_t{0};
        for (int i = kPlanes - 1; i >= 0; --i) {
            if (least >> i & 1) {
                equal &= planes_[i];
            } else {
                above |= equal & planes_[i];
                equal &= ~planes_[i];
            }
        }
        return above | equal;
    }

  private:
    static constexpr int kPlanes = 40;

    static void add_three(uint64_t &high, uint64_t &low, uint64_t a, uint64_t b, uint64_t c) {
        const uint64_t u = a ^ b;
        high = (a & b) | (u & c);
        low = u ^ c;
    }
    void add_eight(const uint64_t *v) {
        uint64_t twos[4], fours[2], eight;
        for (int i = 0; i < 4; ++i) add_three(twos[i], planes_[0], planes_[0], v[2 * i], v[2 * i + 1]);
        for (int i = 0; i < 2; ++i) add_three(fours[i], planes_[1], planes_[1], twos[2 * i], twos[2 * i + 1]);
        add_three(eight, planes_[2], planes_[2], fours[0], fours[1]);
        carry(eight, 3);
    }
    void carry(uint64_t bits, int plane) {
        for (; bits; ++plane) {
            const uint64_t both = planes_[plane] & bits;
            planes_[plane] ^= bits;
            bits = both;
        }
    }

    uint64_t planes_[kPlanes] = {};
};

uint64_t majority(const uint64_t *hashes, size_t size) {
    if (size == 0) return 0;
    BitCounts counts;
    counts.add(hashes, size);
    return counts.at_least(size / 2 + 1);  // more ones than zeros: the sum of ±1 is above 0
}

NEARDUP_CLONES void vote(int64_t *sums, uint64_t bits, int64_t weight) {
    for (int i = 0; i < 64; ++i) sums[i] += (bits >> i & 1) ? weight : -weight;
}

class Features {
  public:
    Features(const TextOptions &text, const WordMap *map, const SimhashSettings &s) : tokenizer(text, map), s_(s) {}

    const std::vector<uint64_t> &of(const uint8_t *text, size_t size) {
        tokenizer.hashes(text, size, words);
        if (s_.width == 1 && !s_.distinct) return words;
        if (s_.width == 1)
            features_ = words;
        else
            shingle_hashes(words.data(), words.size(), s_.width, features_);
        if (s_.distinct) {
            std::sort(features_.begin(), features_.end());
            features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
        }
        return features_;
    }

    Tokenizer tokenizer;
    std::vector<uint64_t> words;

  private:
    const SimhashSettings &s_;
    std::vector<uint64_t> features_;
};

// The second half of a 128-bit fingerprint votes with other bits of the same features.
uint64_t lane_hash(uint64_t hash, uint32_t lane) { return lane == 0 ? hash : scramble(hash ^ kSecret[lane]); }

}  // namespace

void prepare_simhash(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                     const WordMap *map, const SimhashSettings &settings, SimhashBatch &out) {
    Features features(text, map, settings);
    std::vector<uint64_t> hashes;
    std::vector<uint8_t> scratch;
    for (size_t d = 0; d < documents; ++d) {
        const uint8_t *document = values + offsets[d];
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        const auto &found = features.of(document, size);
        out.fingerprints.push_back(majority(found.data(), found.size()));
        for (uint32_t lane = 1; lane < settings.lanes; ++lane) {
            hashes.resize(found.size());
            std::transform(found.begin(), found.end(), hashes.begin(), [&](uint64_t h) { return lane_hash(h, lane); });
            out.fingerprints.push_back(majority(hashes.data(), hashes.size()));
        }
        const auto digest = [&](uint64_t seed) {
            return normal_digest(features.tokenizer, features.words, document, size, seed, scratch);
        };
        const bool is_short = features.words.size() < std::max(settings.min_words, 1u);
        out.words.push_back(static_cast<uint32_t>(std::min<size_t>(features.words.size(), UINT32_MAX)));
        out.text_digests.push_back(bytes_digest(document, size, kTextSeed));
        out.normal_digests.push_back(digest(kNormalSeed));
        for (uint64_t seed : {1, 2}) out.short_digests.push_back(is_short ? digest(seed) : 0);
    }
}

void simhash_sums(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                  const WordMap *map, const SimhashSettings &settings, const TermTable *table,
                  std::span<const uint32_t> weights, uint32_t unknown, int64_t *sums) {
    Features features(text, map, settings);
    for (size_t d = 0; d < documents; ++d) {
        for (uint64_t hash : features.of(values + offsets[d], static_cast<size_t>(offsets[d + 1] - offsets[d]))) {
            const uint32_t rank = table ? table->rank(hash) : TermTable::unknown;
            const int64_t weight = rank < weights.size() ? weights[rank] : unknown;
            for (uint32_t lane = 0; lane < settings.lanes; ++lane)
                vote(sums + (d * settings.lanes + lane) * 64, lane_hash(hash, lane), weight);
        }
    }
}

}  // namespace neardup
