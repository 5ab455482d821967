#include "methods/simhash.hpp"

#include <algorithm>

#include "features/shingles.hpp"
#include "hash.hpp"
#include "methods/majority.hpp"
#include "methods/reading.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

template <Instructions>
NEARDUP_INLINE void vote_on(int64_t *sums, uint64_t bits, int64_t weight) {
    for (int i = 0; i < 64; ++i) sums[i] += (bits >> i & 1) ? weight : -weight;
}

NEARDUP_EACH_LEVEL(void, vote, (int64_t *sums, uint64_t bits, int64_t weight), (sums, bits, weight))

// What votes, of the words of one text after another.
class Features {
  public:
    explicit Features(const SimhashSettings &s) : s_(s) {}

    const std::vector<uint64_t> &of(const std::vector<uint64_t> &words) {
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

  private:
    const SimhashSettings &s_;
    std::vector<uint64_t> features_;
};

// The second half of a 128-bit fingerprint votes with other bits of the same features.
uint64_t lane_hash(uint64_t hash, uint32_t lane) { return lane == 0 ? hash : scramble(hash ^ kSecret[lane]); }

void append_fingerprint(const std::vector<uint64_t> &features, uint32_t lanes, std::vector<uint64_t> &scratch,
                        std::vector<uint64_t> &out) {
    out.push_back(majority(features.data(), features.size()));
    for (uint32_t lane = 1; lane < lanes; ++lane) {
        scratch.resize(features.size());
        std::transform(features.begin(), features.end(), scratch.begin(),
                       [&](uint64_t hash) { return lane_hash(hash, lane); });
        out.push_back(majority(scratch.data(), scratch.size()));
    }
}

}  // namespace

void prepare_simhash(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                     const WordMap *map, const SimhashSettings &settings, SimhashBatch &out) {
    Tokenizer tokenizer(text, map);
    Features features(settings);
    std::vector<uint64_t> words, hashes;
    std::vector<uint8_t> scratch;
    for (size_t d = 0; d < documents; ++d) {
        const uint8_t *document = values + offsets[d];
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        out.normal_digests.push_back(read_text(tokenizer, document, size, words, scratch));
        append_fingerprint(features.of(words), settings.lanes, hashes, out.fingerprints);
        out.words.push_back(static_cast<uint32_t>(std::min<size_t>(words.size(), UINT32_MAX)));
        out.text_digests.push_back(bytes_digest(document, size, kTextSeed));
        const bool is_short = words.size() < std::max(settings.min_words, 1u);
        for (uint64_t seed : {1, 2})
            out.short_digests.push_back(is_short ? normal_digest(tokenizer, words, document, size, seed, scratch) : 0);
    }
}

void simhash_sums(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                  const WordMap *map, const SimhashSettings &settings, const TermTable *table,
                  std::span<const uint32_t> weights, uint32_t unknown, int64_t *sums) {
    Tokenizer tokenizer(text, map);
    Features features(settings);
    std::vector<uint64_t> words;
    for (size_t d = 0; d < documents; ++d) {
        tokenizer.hashes(values + offsets[d], static_cast<size_t>(offsets[d + 1] - offsets[d]), words);
        for (uint64_t hash : features.of(words)) {
            const uint32_t rank = table ? table->rank(hash) : TermTable::unknown;
            const int64_t weight = rank < weights.size() ? weights[rank] : unknown;
            for (uint32_t lane = 0; lane < settings.lanes; ++lane)
                vote(sums + (d * settings.lanes + lane) * 64, lane_hash(hash, lane), weight);
        }
    }
}

}  // namespace neardup
