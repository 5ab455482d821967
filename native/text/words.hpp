// The words of a text: maximal runs of letters, marks and numbers of the normalised text.
//
// Scripts that are written without spaces (SPACELESS in tools/make_unicode_tables.py) give
// overlapping bigrams of units instead, a unit being a letter with the marks that follow it; a run of
// one unit gives that unit. Any bytes are safe: an invalid one acts as U+FFFD, which separates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hash.hpp"
#include "text/normaliser.hpp"
#include "text/options.hpp"
#include "text/word_hash.hpp"
#include "text/word_map.hpp"

namespace neardup {

struct Place {
    size_t begin, end;
};

// Holds scratch memory: one for each thread. The map must outlive it.
class Tokenizer {
  public:
    explicit Tokenizer(const TextOptions &options, const WordMap *map = nullptr);

    // Clears `out`; one hash a word, the map applied, dropped words left out. The digest, which must be
    // fresh, takes them too: cheaper here than afterwards.
    void hashes(const uint8_t *text, size_t size, std::vector<uint64_t> &out, SequenceDigest *digest = nullptr);

    // The same, and where each word begins and ends in the text, in bytes. Words may come from the same
    // characters: bigrams overlap, and one character may become several words (ﷺ).
    void spans(const uint8_t *text, size_t size, std::vector<uint64_t> &hashes, std::vector<Place> &places);

    // Appends the words and where each ends in `bytes`. The map, which knows only hashes, is not applied.
    void words(const uint8_t *text, size_t size, std::vector<uint8_t> &bytes, std::vector<int64_t> &ends);

    // The same, but words with exactly one byte between them, for which `joins` holds, are one.
    void joined_words(const uint8_t *text, size_t size, bool (*joins)(uint8_t), std::vector<uint8_t> &bytes,
                      std::vector<int64_t> &ends);

    // Clears `out`; the words joined by one space. A text without any word gives itself, normalised with
    // nothing dropped and its white space collapsed: "!!!" and "???" must not become equal.
    void normal_form(const uint8_t *text, size_t size, std::vector<uint8_t> &out);

  private:
    template <typename Sink>
    void each_word(Sink &&sink);
    template <typename Sink>
    void mixed_run(const uint8_t *p, const uint8_t *end, Sink &&sink);
    void apply_map(std::vector<uint64_t> &hashes) const;
    void apply_map(std::vector<uint64_t> &hashes, std::vector<Place> &places) const;

    Normaliser normaliser_, plain_;  // plain_ drops nothing, not even symbols
    const WordMap *map_;
    std::vector<Piece> pieces_;
};

}  // namespace neardup
