// Passages that documents share: seeds from sampled word grams, verified and extended to their full length.
//
// The words of all documents are held as 32-bit hashes. Of each document a sample of its grams (runs of `gram` words)
// is looked up: in every window of `window` grams the one with the smallest hash (winnowing; Schleimer, Wilkerson and
// Aiken 2003), so documents that share `gram + window - 1` words share a sampled gram. An equal gram is a seed. The
// seed is extended word by word in both directions; where the words differ, the extension goes on behind a gap of at
// most `gap` words on either side if enough words agree there (as BLAST does with its drop-off). What is reported is
// a copy: two spans of words, and how many of their words agree.
//
// Documents are taken in a given order, and each is compared only with what came before it, as in LZ77: a copy names
// an earlier place with the same text. With gap = 0, a word is inside a copy if and only if it lies in a run of
// `words` words that stands at an earlier place (of the same document: at least `words` words before), unless a gram
// occurs more than `most` times. Grams inside a copy are not looked up again and not stored, because what they would
// find is inside the copy. So a page that 100,000 documents share is stored once, and one word repeated a million
// times is one copy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "passages/anchors.hpp"

namespace neardup {

struct CopySettings {
    uint32_t words = 20;       // the shortest copy
    uint32_t gram = 6;         // words of a seed
    uint32_t window = 8;       // a seed is sampled from so many grams
    uint32_t gap = 8;          // words without a counterpart that an extension may cross
    uint32_t most = 16;        // places that are tried for a gram
    uint32_t similarity = 75;  // percent of the words of a copy that must agree
    uint32_t anchor = 0;       // words of a gram that both documents must have, for `against`; 0 asks for none
    uint32_t anchor_window = 1;
};

// Words [begin, end) of `document` are those of `source`, up to edits; `matched` of them agree.
struct Copy {
    uint32_t document, begin, end, source, source_begin, source_end, matched;
};

// A place of a passage. The first place has no source: `copy` is -1, else the index of the copy.
struct PassagePlace {
    uint32_t passage, document, begin, end;
    int64_t copy;
};

// A place where the gram at `position` of `document` was stored before. A source of UINT32_MAX is none, and only names
// a document that may repeat itself.
struct SeedList {
    uint32_t document, position, source, source_position;
};

// A sampled gram that is not stored because a copy has it; `tag` is the low half of its hash.
struct CoveredGram {
    uint32_t document, position, tag;
};

// An array that grows, or one in memory of somebody else that has room enough.
template <typename T>
class Room {
  public:
    T &operator[](size_t i) { return data_[i]; }
    const T &operator[](size_t i) const { return data_[i]; }
    size_t size() const { return size_; }
    bool lent() const { return lent_; }
    size_t bytes() const { return own_.capacity() * sizeof(T); }
    void lend(T *data, size_t size) {
        own_ = std::vector<T>();
        data_ = data;
        size_ = size;
        lent_ = true;
    }
    void reserve(size_t size) { own_.reserve(size); }
    void assign(size_t size) { own(std::vector<T>(size)); }
    void own(std::vector<T> &&values) {
        own_ = std::move(values);
        data_ = own_.data();
        size_ = own_.size();
    }
    void push_back(const T &value) {
        if (lent_) {
            data_[size_++] = value;
            return;
        }
        own_.push_back(value);
        data_ = own_.data();
        size_ = own_.size();
    }

  private:
    std::vector<T> own_;
    T *data_ = nullptr;
    size_t size_ = 0;
    bool lent_ = false;
};

class Copies {
  public:
    explicit Copies(const CopySettings &settings);
    Copies(const Copies &) = delete;

    // Adds documents, numbered in the order of their arrival.
    void hold(const uint64_t *words, const int64_t *offsets, size_t documents);

    // Adds documents whose words stay where they are, such as in a file that is mapped into memory.
    void borrow(const uint32_t *words, const int64_t *offsets, size_t documents);

    // Where the grams of `find` are stored, instead of in memory of its own: bytes for `samples` grams, all zero.
    void lend(uint8_t *entries, uint8_t *slots, size_t samples);
    static size_t entry_bytes(size_t samples) { return samples * sizeof(Entry); }
    static size_t slot_bytes(size_t samples) { return slots_for(samples) * sizeof(Slot); }

    // Makes room for about so many grams, before the first of them.
    void reserve(size_t samples);

    // The grams that `find` samples from all held documents.
    size_t samples() const;

    // Memory of the words and grams, without what is borrowed or lent.
    size_t bytes() const { return held_ * sizeof(uint32_t) + entries_.bytes() + slots_.bytes(); }

    // Compares these held documents with those before them, and appends the copies that cover all that was found.
    void find(const uint32_t *documents, size_t count);

    // As `find`, for documents whose stored grams are given, sorted by document and position: what other documents
    // stored before. Documents have these `numbers` in the whole collection. Gives the grams that are not stored.
    void listed(const SeedList *lists, size_t count, const uint32_t *numbers, std::vector<CoveredGram> &out);

    // Takes copies that were found elsewhere, in the order of their documents, for `places`.
    void adopt(std::vector<Copy> &&copies) { copies_ = std::move(copies); }

    // Stores the grams of all held documents, every one of them: for `against`.
    void index();

    // All copies between the held documents (`source`) and others (`document`, numbered from 0) that share an anchor.
    // May be called from several threads.
    void against(const uint64_t *words, const int64_t *offsets, size_t documents, std::vector<Copy> &out) const;

    const std::vector<Copy> &copies() const { return copies_; }
    const CopySettings &settings() const { return settings_; }
    size_t documents() const { return starts_.size(); }
    size_t words_of(size_t document) const { return sizes_[document]; }

    // Groups the places of copies: a copy belongs to the passage of an earlier place that has most of its words.
    std::vector<PassagePlace> places() const;

  private:
    // Numbers of entries count from 1, so that memory full of zeros is empty.
    struct Entry {
        uint32_t document, position, next;
    };
    struct Slot {
        uint32_t tag, head;
    };
    struct Target {
        const uint32_t *words;
        uint32_t size, document;
        bool held;
    };
    struct Scratch;

    const uint32_t *words(uint32_t document) const { return starts_[document]; }
    void sample(const Target &target, uint32_t window, Scratch &scratch) const;
    void take(const Target &target, Scratch &scratch);
    void compare(const Target &target, Scratch &scratch) const;
    bool meet(const Target &target, Scratch &scratch) const;
    bool extend(const Target &target, const Entry &seed, uint32_t position, Scratch &scratch) const;
    void store(uint32_t document, uint32_t position, uint64_t hash, size_t slot);
    size_t slot_of(uint64_t hash) const;
    static size_t slots_for(size_t samples);
    void grow();
    Entry &entry(uint32_t number) { return entries_[number - 1]; }
    const Entry &entry(uint32_t number) const { return entries_[number - 1]; }

    CopySettings settings_;
    std::vector<std::unique_ptr<uint32_t[]>> blocks_;
    size_t block_left_ = 0, held_ = 0;
    uint32_t *block_at_ = nullptr;
    std::vector<const uint32_t *> starts_;
    std::vector<uint32_t> sizes_;
    uint32_t number(uint32_t document) const { return numbers_.empty() ? document : numbers_[document]; }

    std::vector<uint32_t> numbers_;
    Room<Entry> entries_;
    Room<Slot> slots_;
    size_t used_ = 0;
    std::vector<Copy> copies_;
    AnchorTable anchors_;
};

}  // namespace neardup
