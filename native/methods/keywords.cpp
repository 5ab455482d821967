#include "methods/keywords.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"
#include "text/sentences.hpp"

namespace neardup {
namespace {

constexpr uint64_t kTupleSeed = 11;
constexpr uint32_t kMostWeight = (1u << 20) - 1;

struct Keyword {
    uint64_t hash;
    uint32_t rank, count, weight;
};

bool heavier(const Keyword &a, const Keyword &b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    return a.rank != b.rank ? a.rank < b.rank : a.hash < b.hash;
}

class Selector {
  public:
    Selector(const TextOptions &options, const TermTable &table, const KeywordSettings &settings)
        : reader_(options, settings.filter), table_(table), settings_(settings) {}

    void document(const uint8_t *text, size_t size, std::vector<uint64_t> &entries) {
        chosen_.clear();
        tuples_.clear();
        if (settings_.sentences) {
            for (const uint8_t *p = text, *end = text + size; p < end;) {
                const uint8_t *next = sentence_end(p, end);
                piece(p, static_cast<size_t>(next - p));
                p = next;
            }
        } else {
            piece(text, size);
        }
        settings_.tuples ? give_tuples(entries) : give_words(entries);
    }

  private:
    struct Tally {
        uint64_t hash = 0, count = 0;
    };

    void piece(const uint8_t *text, size_t size) {
        count_terms(text, size);
        const auto k = static_cast<ptrdiff_t>(settings_.k), all = static_cast<ptrdiff_t>(terms_.size());
        if (k < all) {
            std::nth_element(terms_.begin(), terms_.begin() + k, terms_.end(), heavier);
            terms_.resize(settings_.k);
        }
        if (!settings_.tuples) {
            chosen_.insert(chosen_.end(), terms_.begin(), terms_.end());
            return;
        }
        if (terms_.empty()) return;
        std::sort(terms_.begin(), terms_.end(), heavier);
        hashes_.clear();
        for (const Keyword &term : terms_) hashes_.push_back(term.hash);
        tuples_.push_back(sequence_digest(hashes_.data(), hashes_.size(), kTupleSeed) >> 32);
    }

    void count_terms(const uint8_t *text, size_t size) {
        reader_.hashes(text, size, hashes_);
        tally_.assign(std::bit_ceil(hashes_.size() * 2 + 1), {});  // a hash is never 0, which marks what is free
        const size_t mask = tally_.size() - 1;
        for (uint64_t hash : hashes_) {
            size_t at = hash & mask;
            while (tally_[at].hash && tally_[at].hash != hash) at = (at + 1) & mask;
            tally_[at].hash = hash;
            ++tally_[at].count;
        }
        terms_.clear();
        for (const Tally &t : tally_) {
            if (!t.hash) continue;
            const uint32_t rank = table_.rank(t.hash);
            if (idf(rank) == 0 || rank < settings_.first_rank) continue;
            const auto count = static_cast<uint32_t>(std::min<uint64_t>(t.count, UINT32_MAX));
            terms_.push_back({t.hash, rank, count, weight(rank, count)});
        }
    }

    uint32_t idf(uint32_t rank) const {
        return rank == TermTable::unknown ? settings_.unknown_idf : settings_.idf[rank];
    }

    uint32_t weight(uint32_t rank, uint32_t count) const {
        const uint64_t tf = settings_.tf[std::min<size_t>(count, settings_.tf.size() - 1)];
        return std::clamp(static_cast<uint32_t>(tf * idf(rank) >> 20), 1u, kMostWeight);
    }

    // The same term comes once for each sentence that has it as a keyword.
    void give_words(std::vector<uint64_t> &entries) {
        std::sort(chosen_.begin(), chosen_.end(), [](const Keyword &a, const Keyword &b) { return a.hash < b.hash; });
        const size_t begin = entries.size();
        for (size_t i = 0, j; i < chosen_.size(); i = j) {
            uint64_t count = 0;
            for (j = i; j < chosen_.size() && chosen_[j].hash == chosen_[i].hash; ++j) count += chosen_[j].count;
            const uint32_t total = weight(chosen_[i].rank, static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)));
            const uint64_t feature = chosen_[i].hash >> 32;
            if (entries.size() > begin && entries.back() >> 32 == feature)  // two terms, one feature: an accident
                entries.back() = feature << 32 | std::min(static_cast<uint32_t>(entries.back()) + total, kMostWeight);
            else
                entries.push_back(feature << 32 | total);
        }
    }

    void give_tuples(std::vector<uint64_t> &entries) {
        std::sort(tuples_.begin(), tuples_.end());
        tuples_.erase(std::unique(tuples_.begin(), tuples_.end()), tuples_.end());
        for (uint64_t feature : tuples_) entries.push_back(feature << 32 | 1);
    }

    TermReader reader_;
    const TermTable &table_;
    const KeywordSettings &settings_;
    std::vector<uint64_t> hashes_, tuples_;
    std::vector<Tally> tally_;
    std::vector<Keyword> terms_, chosen_;
};

}  // namespace

void keywords(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
              const TermTable &table, const KeywordSettings &settings, std::vector<uint64_t> &entries,
              std::vector<int64_t> &ends) {
    Selector selector(options, table, settings);
    for (size_t d = 0; d < documents; ++d) {
        selector.document(values + offsets[d], static_cast<size_t>(offsets[d + 1] - offsets[d]), entries);
        ends.push_back(static_cast<int64_t>(entries.size()));
    }
}

}  // namespace neardup
