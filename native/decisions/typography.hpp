// One side of a passage as it was written: its letters, and how it sits in lines and paragraphs.
//
// Works on the bytes of valid UTF-8. The words of a side are those that text/alignment.hpp counts, or characters in
// scripts without spaces. tests/reference/differences.py says the same in Python.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neardup {

inline constexpr uint8_t kSpaceless = 0xE0;  // the first byte of a character of Han, Kana, Hangul, Thai … in UTF-8

// A text that passages are cut from.
class WrittenText {
  public:
    explicit WrittenText(std::string_view bytes) : bytes_(bytes) {}
    std::string_view bytes() const { return bytes_; }
    // Whether its lines are short, so that blank lines part its paragraphs; else line ends do.
    bool wrapped();

  private:
    std::string_view bytes_;
    int8_t wrapped_ = -1;  // −1: not known yet
};

struct WrittenSide {
    WrittenText *text;
    uint32_t begin, end;  // bytes of the text
    int64_t words;
    uint8_t edges;  // text/alignment.hpp

    std::string_view bytes() const { return text->bytes().substr(begin, end - begin); }
};

// What is left of a byte in letters: a small letter, a digit or a byte of a longer character; else 0.
inline constexpr std::array<uint8_t, 256> kLetter = [] {
    std::array<uint8_t, 256> of{};
    for (unsigned c = 0; c < 256; ++c) {
        const bool upper = 'A' <= c && c <= 'Z', lower = 'a' <= c && c <= 'z', digit = '0' <= c && c <= '9';
        of[c] = static_cast<uint8_t>(upper ? c + 0x20 : lower || digit || c >= 128 ? c : 0);
    }
    return of;
}();

// A part in small letters, without spaces and marks; letters without digits. Both replace `out`, whose memory is used
// again from passage to passage.
void letters(std::string_view part, std::string &out);
void without_digits(std::string_view letters, std::string &out);

// The lines of a side that are not blank.
std::vector<std::string_view> written_lines(const WrittenSide &side);

// How many characters `a` has more (`b`: below 0) where the script has no spaces and that is all the difference;
// else 0. Both sides have words.
int64_t more_characters(const WrittenSide &a, const WrittenSide &b);

bool begins_line(const WrittenSide &side);
bool ends_line(const WrittenSide &side);
bool begins_a_paragraph(const WrittenSide &side);
bool ends_a_paragraph(const WrittenSide &side);

// Whether nearly all of it is paragraphs that the text on the other side has not at all.
bool whole_paragraphs(const WrittenSide &side);

// Whether no line has more than `most` words.
bool short_lines(std::string_view part, size_t most);

// The entries of a side that bars and line ends part: how many there are, how many bars, and how many entries end
// as a sentence does.
struct MenuEntries {
    size_t entries = 0, bars = 0, sentences = 0;
};
MenuEntries menu_entries(std::string_view part);

}  // namespace neardup
