// Text to normalised text, both UTF-8.
//
// Each character becomes its NFKC_Casefold mapping (or, with case kept, its NFKC without
// default-ignorables); digits and punctuation are masked or deleted as the options say; with
// strip_diacritics nonspacing marks on Latin, Greek and Cyrillic letters go; the result is put into
// NFC. ASCII runs are copied 64 bytes at a time, and the output is kept in NFC at every step, so a
// mark that follows an ASCII letter only has to look back at what was written.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/options.hpp"
#include "text/unicode.hpp"

namespace neardup {

// Where a part of the normalised text comes from; it reaches to the next piece. Byte by byte if `taken` is 0;
// else all of it is from the same `taken` bytes: a character that changed its size, or several that became one.
struct Piece {
    size_t out, in, taken;
};

class Normaliser {
  public:
    // So many bytes after the result are zero and may be read.
    static constexpr size_t padding = 64;

    // With `blank`, a separator that is not ASCII becomes a space: all that words need.
    Normaliser(const TextOptions &options, bool blank);

    // The result stays valid until the next call. With `pieces`, which are cleared, it is also written where
    // each part of the result comes from; that is slower for texts that are not ASCII.
    void run(const uint8_t *text, size_t size, std::vector<Piece> *pieces = nullptr);
    const uint8_t *data() const { return buffer_.data(); }
    size_t size() const { return size_; }

    // Every run of non-ASCII bytes and ASCII letters and digits in the result is one word.
    bool runs_are_words() const { return !mixed_; }

  private:
    struct Tables {
        uint8_t ascii_to[128];    // 0xFF: deleted
        uint32_t two_byte[2048];  // the mapped bytes of a frequent, harmless character, or 0
    };
    // Made once for each choice of options: a text alone is often shorter than the making would take.
    const Tables &tables() const;
    void fill(Tables &tables) const;
    size_t ascii(const uint8_t *text, size_t size);
    size_t ascii_deleting(const uint8_t *text, size_t size);
    const uint8_t *others(const uint8_t *p, const uint8_t *end);
    const uint8_t *simple(const uint8_t *p, const uint8_t *end);
    void character(uint32_t cp);
    void mapped(uint32_t cp);
    void spacing_marks(uint32_t cp);
    void place(uint32_t cp, const unicode::Record &record);
    bool becomes_blank(uint32_t cp, const unicode::Record &record) const;
    void write(uint32_t cp);
    void gather();
    void flush();
    void follow(const uint8_t *text, size_t size);
    void followed(size_t out, size_t in, size_t taken);
    size_t take_back(size_t out);
    void hold(uint32_t cp);
    void pad();
    void reserve(size_t more);

    TextOptions options_;
    bool blank_;
    uint16_t change_flag_, slow_flags_;
    const uint8_t *ascii_to_;
    const uint32_t *two_byte_;

    std::vector<uint8_t> buffer_;
    size_t size_ = 0;
    bool mixed_ = false;
    uint8_t last_ccc_ = 0;      // of the last character written
    bool on_alphabet_ = false;  // the last character that is no mark is a Latin, Greek or Cyrillic letter
    std::vector<uint32_t> run_;            // characters taken back from the output to be composed
    std::vector<uint32_t> scratch_, parts_;

    std::vector<Piece> *pieces_ = nullptr;
    size_t in_ = 0, taken_ = 0;          // the character that is being read
    size_t run_in_ = 0, run_end_ = 0;    // where `run_` comes from
};

}  // namespace neardup
