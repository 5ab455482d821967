// The words of a text: maximal runs of letters, marks and numbers of the normalised text.
//
// In scripts that are written without spaces (SPACELESS in tools/make_unicode_tables.py), words are
// overlapping bigrams of units; a unit is a letter with the marks that follow it. A run of one unit is
// one word. An invalid byte acts as U+FFFD, which separates words.
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

// Holds scratch memory; each thread needs its own. The map must outlive it.
class Tokenizer {
  public:
    explicit Tokenizer(const TextOptions &options, const WordMap *map = nullptr);

    // Replaces `out` by one hash per word, with the map applied and without dropped words. The hashes are also added
    // to the digest, which must be new; this is cheaper than a second pass.
    void hashes(const uint8_t *text, size_t size, std::vector<uint64_t> &out, SequenceDigest *digest = nullptr);

    // The same, with the begin and end of each word in the text, in bytes. Several words may come from the same
    // characters: bigrams overlap, and one character may become several words (ﷺ).
    void spans(const uint8_t *text, size_t size, std::vector<uint64_t> &hashes, std::vector<Place> &places);

    // Appends the words and their ends in `bytes`. The map is not applied, because it contains only hashes.
    void words(const uint8_t *text, size_t size, std::vector<uint8_t> &bytes, std::vector<int64_t> &ends);

    // The same, but two words with exactly one byte between them for which `joins` is true are one word.
    void joined_words(const uint8_t *text, size_t size, bool (*joins)(uint8_t), std::vector<uint8_t> &bytes,
                      std::vector<int64_t> &ends);

    // Replaces `out` by the words, joined by single spaces. A text without words keeps its symbols, normalised and with
    // its white space collapsed, because "!!!" and "???" must not become equal.
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
