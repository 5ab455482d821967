// Terms: the words of which an idf table consists, counted by document and looked up.
//
// alpha: words of at least three letters, without digits, and pairs of characters of scripts without spaces. alnum:
// words that are joined by a single . ' - & + / between them, such as "at&t" or "e-mail", count as one. words: every
// word.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/words.hpp"

namespace neardup {

enum class TermFilter : uint8_t { words, alpha, alnum };

// Holds scratch memory; each thread needs its own.
class TermReader {
  public:
    TermReader(const TextOptions &options, TermFilter filter) : tokenizer_(options), filter_(filter) {}

    // Passes on the terms in order, each with its position among all tokens. Returns the number of tokens.
    template <typename Sink>
    uint32_t each(const uint8_t *text, size_t size, Sink &&sink);

    // Replaces `out` by the hash of each term in order. If every word is a term, the words are not spelled out.
    void hashes(const uint8_t *text, size_t size, std::vector<uint64_t> &out);

  private:
    bool is_term(std::string_view word) const;

    Tokenizer tokenizer_;
    TermFilter filter_;
    std::vector<uint8_t> bytes_;
    std::vector<int64_t> ends_;
};

inline bool joins_term(uint8_t c) { return c == '.' || c == '\'' || c == '-' || c == '&' || c == '+' || c == '/'; }

inline uint64_t term_hash(std::string_view term) {
    return word_hash(reinterpret_cast<const uint8_t *>(term.data()), term.size());
}

template <typename Sink>
uint32_t TermReader::each(const uint8_t *text, size_t size, Sink &&sink) {
    bytes_.clear();
    ends_.assign(1, 0);
    if (filter_ == TermFilter::alnum)
        tokenizer_.joined_words(text, size, joins_term, bytes_, ends_);
    else
        tokenizer_.words(text, size, bytes_, ends_);
    const auto tokens = static_cast<uint32_t>(std::min<size_t>(ends_.size() - 1, UINT32_MAX));
    for (uint32_t i = 0; i < tokens; ++i) {
        const std::string_view word(reinterpret_cast<const char *>(bytes_.data()) + ends_[i],
                                    static_cast<size_t>(ends_[i + 1] - ends_[i]));
        if (is_term(word)) sink(word, i);
    }
    return tokens;
}

// Counts the documents in which each term occurs. Parts may be counted separately and merged in any order.
class TermCounts {
  public:
    void add(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
             TermFilter filter);
    void merge(const TermCounts &other);
    // The same for terms counted elsewhere: term i is bytes[ends[i] .. ends[i + 1]).
    void add_counted(const uint8_t *bytes, const int64_t *ends, const uint32_t *counts, size_t terms);

    size_t size() const { return entries_.size(); }
    uint64_t documents() const { return documents_; }
    // Rarest first, equally rare terms by their bytes, which is by code point.
    void sorted(std::vector<uint8_t> &bytes, std::vector<int64_t> &ends, std::vector<uint32_t> &counts) const;

  private:
    struct Entry {
        uint64_t hash;
        size_t begin;
        uint32_t size, count, last;  // last: the last document, from 1, in which the term was counted
    };

    Entry &entry(std::string_view term, uint64_t hash);
    void grow();
    std::string_view term(const Entry &e) const {
        return {reinterpret_cast<const char *>(arena_.data()) + e.begin, e.size};
    }

    std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024);  // index of the entry, from 1
    std::vector<Entry> entries_;
    std::vector<uint8_t> arena_;
    uint64_t documents_ = 0;
};

// Maps terms to ranks; built from the terms in the order of their table.
class TermTable {
  public:
    TermTable(const uint8_t *bytes, const int64_t *ends, size_t terms);
    static constexpr uint32_t unknown = ~uint32_t{0};
    uint32_t rank(uint64_t hash) const;
    void prefetch(uint64_t hash) const;

  private:
    struct Slot {
        uint64_t hash;
        uint32_t rank = unknown;
    };
    size_t mask_;
    std::vector<Slot> slots_;
};

// The distinct terms of each document with a rank in [low, high), by rank, as columns.
struct DocumentTerms {
    std::vector<uint32_t> ranks, counts, first;  // first: the position of the first occurrence
    std::vector<int64_t> ends;
    std::vector<uint32_t> tokens;  // the number of tokens of each document
};
void document_terms(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                    TermFilter filter, const TermTable &table, uint32_t low, uint32_t high, DocumentTerms &out);

// The same from word hashes, for filters under which every word of the table is a term; at most the `most` rarest terms
// of each document.
void terms_of_words(const uint64_t *words, const int64_t *offsets, size_t documents, const TermTable &table, uint32_t low,
                    uint32_t high, uint32_t most, DocumentTerms &out);

}  // namespace neardup
