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

// Of the words in order; a text without words (punctuation, emoji) is its own normal form.
inline uint64_t normal_digest(Tokenizer &tokenizer, const std::vector<uint64_t> &words, const uint8_t *text,
                              size_t size, uint64_t seed, std::vector<uint8_t> &scratch) {
    if (!words.empty()) return sequence_digest(words.data(), words.size(), seed);
    scratch.clear();
    tokenizer.normal_form(text, size, scratch);
    return bytes_digest(scratch.data(), scratch.size(), ~seed);
}

struct Reading {
    std::vector<uint64_t> words;                         // hashes of all documents
    std::vector<int64_t> ends;                           // ends[i] closes document i
    std::vector<uint64_t> text_digests, normal_digests;  // one a document
    std::vector<uint64_t> short_digests;                 // two a document: what stands for it when it is too short
};

void read_words(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                const WordMap *map, Reading &out);

}  // namespace neardup
