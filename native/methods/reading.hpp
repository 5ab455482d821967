// What every method needs of a text before its own work begins: its words, and digests by which
// copies and short documents are known.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hash.hpp"
#include "text/words.hpp"

namespace neardup {

inline constexpr uint64_t kTextSeed = 7, kNormalSeed = 8;

// Of a text without words (punctuation, emoji), which is its own normal form.
inline uint64_t wordless_digest(Tokenizer &tokenizer, const uint8_t *text, size_t size, uint64_t seed,
                                std::vector<uint8_t> &scratch) {
    tokenizer.normal_form(text, size, scratch);
    return bytes_digest(scratch.data(), scratch.size(), ~seed);
}

// Of the words in order.
inline uint64_t normal_digest(Tokenizer &tokenizer, const std::vector<uint64_t> &words, const uint8_t *text,
                              size_t size, uint64_t seed, std::vector<uint8_t> &scratch) {
    if (words.empty()) return wordless_digest(tokenizer, text, size, seed, scratch);
    return sequence_digest(words.data(), words.size(), seed);
}

// The words of a text, and their digest of kNormalSeed, which costs less while they are hashed than afterwards.
inline uint64_t read_text(Tokenizer &tokenizer, const uint8_t *text, size_t size, std::vector<uint64_t> &words,
                          std::vector<uint8_t> &scratch) {
    SequenceDigest digest({kNormalSeed});
    tokenizer.hashes(text, size, words, &digest);
    return words.empty() ? wordless_digest(tokenizer, text, size, kNormalSeed, scratch) : digest.value();
}

struct Reading {
    std::vector<uint64_t> words;                         // hashes of all documents
    std::vector<int64_t> ends;                           // ends[i] closes document i
    std::vector<uint64_t> text_digests, normal_digests;  // one a document
    std::vector<uint64_t> short_digests;                 // two a document: what stands for it when it is too short
};

// Without `hashes` only the numbers of words are given out, not the words.
void read_words(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                const WordMap *map, bool hashes, Reading &out);

}  // namespace neardup
