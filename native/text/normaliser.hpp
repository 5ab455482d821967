// Turns text into normalised text, both UTF-8.
//
// Each character becomes its NFKC_Casefold mapping (or, with case kept, its NFKC without
// default-ignorables). Digits and punctuation are masked or deleted according to the options, and
// strip_diacritics removes nonspacing marks on Latin, Greek and Cyrillic letters. The result is in
// NFC. ASCII runs are copied 64 bytes at a time. The output is in NFC after every step, so a mark
// after an ASCII letter has to look back at the output only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/ascii.hpp"
#include "text/options.hpp"
#include "text/unicode.hpp"

namespace neardup {

// The origin of a part of the normalised text, which extends to the next piece. If `taken` is 0, bytes correspond one
// to one; else the whole part comes from `taken` bytes: a character that changed its size, or several that became one.
struct Piece {
    size_t out, in, taken;
};

class Normaliser {
  public:
    // This number of bytes after the result is zero and may be read.
    static constexpr size_t padding = 64;

    // With `blank`, a separator that is not ASCII becomes a space, which suffices to find words.
    Normaliser(const TextOptions &options, bool blank);

    // The result stays valid until the next call. `pieces`, if given, is replaced by the origins of all parts of the
    // result; that is slower for texts that are not ASCII.
    void run(const uint8_t *text, size_t size, std::vector<Piece> *pieces = nullptr);
    const uint8_t *data() const { return buffer_.data(); }
    size_t size() const { return size_; }

    // Whether every run of non-ASCII bytes and ASCII letters and digits in the result is one word.
    bool runs_are_words() const { return !mixed_; }

  private:
    struct Tables {
        uint8_t ascii_to[128];    // 0xFF: deleted
        uint32_t two_byte[2048];  // the mapped bytes of a frequent character that needs no composition, or 0
    };
    // Built once for each choice of options, because building them can take longer than normalising a short text.
    const Tables &tables() const;
    void fill(Tables &tables) const;
    AsciiRule ascii_rule() const;
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
    KeptBytes kept_;  // the ASCII characters that are not deleted

    std::vector<uint8_t> buffer_;
    size_t size_ = 0;
    bool mixed_ = false;
    uint8_t last_ccc_ = 0;      // of the last character written
    bool on_alphabet_ = false;  // the last character that is not a mark is a Latin, Greek or Cyrillic letter
    std::vector<uint32_t> run_;            // characters removed from the output to be composed
    std::vector<uint32_t> scratch_, parts_;

    std::vector<Piece> *pieces_ = nullptr;
    size_t in_ = 0, taken_ = 0;          // the current character
    size_t run_in_ = 0, run_end_ = 0;    // the origin of `run_`
};

}  // namespace neardup
