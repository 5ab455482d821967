#include "methods/simhash.hpp"

#include <algorithm>

#include "features/shingles.hpp"
#include "hash.hpp"
#include "methods/majority.hpp"
#include "methods/reading.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

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
