#include "decisions/typography.hpp"

#include <algorithm>

#include "text/alignment.hpp"
#include "text/utf8.hpp"

namespace neardup {
namespace {

constexpr size_t kLine = 100;       // characters; a text of longer lines is not hard-wrapped: its lines are paragraphs
constexpr double kLongLines = 0.2;  // of the text, that longer lines may be all the same
constexpr double kWhole = 0.8;      // of a passage, that is whole paragraphs
constexpr size_t kNear = 200;       // bytes in which the beginning or the end of a line is looked for

uint8_t byte(std::string_view part, size_t i) { return i < part.size() ? static_cast<uint8_t>(part[i]) : 0; }
bool between(uint8_t c, uint8_t first, uint8_t last) { return first <= c && c <= last; }
bool continues(uint8_t c) { return between(c, 0x80, 0xBF); }

// The bytes of a mark in UTF-8: Latin-1 signs, general punctuation, CJK and full-width punctuation; else 0.
size_t mark_size(std::string_view part, size_t i) {
    const uint8_t a = byte(part, i), b = byte(part, i + 1), c = byte(part, i + 2);
    if (a == 0xC2) return continues(b) ? 2 : 0;
    if (a == 0xE2) return between(b, 0x80, 0x81) && continues(c) ? 3 : 0;
    if (a == 0xE3) return b == 0x80 && continues(c) ? 3 : 0;
    if (a == 0xEF) return b == 0xBC && (between(c, 0x81, 0x8F) || between(c, 0x9A, 0xA0)) ? 3 : 0;
    return 0;
}

// The bytes of an Arabic, Persian, Devanagari, Bengali, Thai or full-width digit; else 0.
size_t digit_size(std::string_view part, size_t i) {
    const uint8_t a = byte(part, i), b = byte(part, i + 1), c = byte(part, i + 2);
    if (a == 0xD9) return between(b, 0xA0, 0xA9) ? 2 : 0;
    if (a == 0xDB) return between(b, 0xB0, 0xB9) ? 2 : 0;
    if (a == 0xE0 && (b == 0xA5 || b == 0xA7)) return between(c, 0xA6, 0xAF) ? 3 : 0;
    if (a == 0xE0 && b == 0xB9) return between(c, 0x90, 0x99) ? 3 : 0;
    if (a == 0xEF && b == 0xBC) return between(c, 0x90, 0x99) ? 3 : 0;
    return 0;
}

template <typename Size>
void drop(std::string &part, Size &&size_at) {
    size_t kept = 0;
    for (size_t i = 0; i < part.size();) {
        if (const size_t size = size_at(std::string_view(part), i)) {
            i += size;
        } else {
            part[kept++] = part[i++];
        }
    }
    part.resize(kept);
}

bool any_letter(std::string_view part) {
    for (size_t i = 0; i < part.size();) {
        const size_t size = mark_size(part, i);
        if (!size && kLetter[byte(part, i)]) return true;
        i += std::max<size_t>(size, 1);
    }
    return false;
}

// ASCII that Python's bytes take as white space.
bool is_blank(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

// Characters that Python's strings take as white space.
bool is_space(uint32_t cp) {
    return cp == 0x20 || (0x09 <= cp && cp <= 0x0D) || (0x1C <= cp && cp <= 0x1F) || cp == 0x85 || cp == 0xA0 ||
           cp == 0x1680 || (0x2000 <= cp && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F ||
           cp == 0x205F || cp == 0x3000;
}

template <typename Each>
void each_line(std::string_view part, Each &&each) {
    for (size_t begin = 0;;) {
        const size_t end = std::min(part.find('\n', begin), part.size());
        each(part.substr(begin, end - begin));
        if (end == part.size()) return;
        begin = end + 1;
    }
}

// Bytes that begin a character, counted in bytes first so that the loop vectorises.
size_t count_characters(std::string_view part) {
    size_t count = 0;
    for (size_t i = 0; i < part.size();) {
        const size_t end = std::min<size_t>(i + 255, part.size());
        uint8_t some = 0;
        for (; i < end; ++i) some = static_cast<uint8_t>(some + !continues(static_cast<uint8_t>(part[i])));
        count += some;
    }
    return count;
}

template <typename Each>
void each_character(std::string_view part, Each &&each) {
    const auto *p = reinterpret_cast<const uint8_t *>(part.data()), *end = p + part.size();
    while (p < end) {
        const Decoded c = decode(p, end);
        each(c.cp);
        p += c.size;
    }
}

std::vector<uint32_t> characters(std::string_view part) {
    std::vector<uint32_t> out;
    each_character(part, [&](uint32_t cp) { out.push_back(cp); });
    return out;
}

// Where the first and the last paragraph break within a side begin; npos: there is none.
struct Breaks {
    size_t first = std::string_view::npos, last = std::string_view::npos;
};

Breaks paragraph_breaks(const WrittenSide &side) {
    const std::string_view text = side.text->bytes().substr(0, side.end);
    const bool wrapped = side.text->wrapped();
    Breaks breaks;
    for (size_t at = text.find('\n', side.begin); at != std::string_view::npos;) {
        size_t next = at + 1;
        bool parts = true;
        if (wrapped) {
            next = text.find_first_not_of(" \t\r", at + 1);
            parts = next != std::string_view::npos && text[next] == '\n';
            next = parts ? next + 1 : at + 1;
        }
        if (parts) {
            breaks.last = at;
            if (breaks.first == std::string_view::npos) breaks.first = at;
        }
        at = text.find('\n', next);
    }
    return breaks;
}

bool is_bar(uint32_t cp) { return cp == '|' || cp == 0x2022 || cp == 0xB7 || cp == 0xBB; }

bool ends_sentence_with(uint32_t cp) {
    return cp == '.' || cp == '!' || cp == '?' || cp == 0x3002 || cp == 0xFF01 || cp == 0xFF1F;
}

}  // namespace

// Lines of at most kLine bytes are short, so most of a hard-wrapped text need not be counted.
bool WrittenText::wrapped() {
    if (wrapped_ < 0) {
        size_t lines = 0, in_long = 0;
        each_line(bytes_, [&](std::string_view line) {
            ++lines;
            const size_t length = line.size() > kLine ? count_characters(line) : 0;
            in_long += length > kLine ? length : 0;
        });
        const size_t all = in_long ? count_characters(bytes_) - (lines - 1) : 0;  // line ends do not count
        wrapped_ = !(static_cast<double>(in_long) > kLongLines * static_cast<double>(all));
    }
    return wrapped_;
}

void letters(std::string_view part, std::string &out) {
    out.resize(part.size());
    char *to = out.data();
    uint8_t all = 0;
    for (char c : part) {
        const uint8_t letter = kLetter[static_cast<uint8_t>(c)];
        *to = static_cast<char>(letter);
        to += letter != 0;
        all |= letter;
    }
    out.resize(static_cast<size_t>(to - out.data()));
    if (all >= 128) drop(out, mark_size);
}

void without_digits(std::string_view letters, std::string &out) {
    out.resize(letters.size());
    char *to = out.data();
    uint8_t all = 0;
    for (char c : letters) {
        *to = c;
        to += !('0' <= c && c <= '9');
        all |= static_cast<uint8_t>(c);
    }
    out.resize(static_cast<size_t>(to - out.data()));
    if (all >= 128) drop(out, digit_size);
}

std::vector<std::string_view> written_lines(const WrittenSide &side) {
    std::vector<std::string_view> lines;
    each_line(side.bytes(), [&](std::string_view line) {
        if (!std::all_of(line.begin(), line.end(), is_blank)) lines.push_back(line);
    });
    return lines;
}

int64_t more_characters(const WrittenSide &a, const WrittenSide &b) {
    if (std::min(byte(a.bytes(), 0), byte(b.bytes(), 0)) < kSpaceless) return 0;
    const std::vector<uint32_t> one = characters(a.bytes()), other = characters(b.bytes());
    const auto &shorter = one.size() <= other.size() ? one : other, &longer = &shorter == &one ? other : one;
    const auto differ = std::mismatch(shorter.begin(), shorter.end(), longer.begin()).first;
    const bool rest_ends_it = std::equal(differ, shorter.end(), longer.end() - (shorter.end() - differ));
    return rest_ends_it ? static_cast<int64_t>(one.size()) - static_cast<int64_t>(other.size()) : 0;
}

bool begins_line(const WrittenSide &side) {
    const size_t floor = side.begin > kNear ? side.begin - kNear : 0;
    const std::string_view near = side.text->bytes().substr(floor, side.begin - floor);
    // Most sides have an ASCII letter, which belongs to no mark, close before them in their line.
    for (size_t i = near.size(); i-- > 0 && near[i] != '\n' && byte(near, i) < 128;)
        if (kLetter[byte(near, i)]) return false;
    const size_t at = near.rfind('\n');
    if (at == std::string_view::npos) return floor == 0 && !any_letter(near);
    return !any_letter(near.substr(at));
}

bool ends_line(const WrittenSide &side) {
    const std::string_view rest = side.text->bytes().substr(side.end), near = rest.substr(0, kNear);
    const size_t at = near.find('\n');
    if (at == std::string_view::npos) return rest.size() <= kNear && !any_letter(rest);
    return !any_letter(near.substr(0, at));
}

bool begins_a_paragraph(const WrittenSide &side) {
    return side.edges & begins_paragraph || (!side.text->wrapped() && begins_line(side));
}

bool ends_a_paragraph(const WrittenSide &side) {
    return side.edges & ends_paragraph || (!side.text->wrapped() && ends_line(side));
}

bool whole_paragraphs(const WrittenSide &side) {
    const Breaks breaks = paragraph_breaks(side);
    size_t first = breaks.first, last = breaks.last;
    if (begins_a_paragraph(side)) {
        first = side.begin;
        if (last == std::string_view::npos) last = first;
    }
    if (ends_a_paragraph(side)) {
        last = side.end;
        if (first == std::string_view::npos) first = last;
    }
    if (first == std::string_view::npos) return false;
    return static_cast<double>(last - first) >= kWhole * static_cast<double>(side.end - side.begin);
}

bool short_lines(std::string_view part, size_t most) {
    bool all_short = true;
    each_line(part, [&](std::string_view line) {
        size_t words = 0;
        for (size_t i = 0; i < line.size(); ++i) words += !is_blank(line[i]) && (i == 0 || is_blank(line[i - 1]));
        all_short &= words <= most;
    });
    return all_short;
}

MenuEntries menu_entries(std::string_view part) {
    constexpr uint32_t none = ~uint32_t{0};
    MenuEntries found;
    uint32_t last = none;  // character of this entry that is no space
    const auto close = [&] {
        found.entries += last != none;
        found.sentences += ends_sentence_with(last);
        last = none;
    };
    each_character(part, [&](uint32_t cp) {
        found.bars += is_bar(cp);
        if (is_bar(cp) || cp == '\n') close();
        else if (!is_space(cp)) last = cp;
    });
    close();
    return found;
}

}  // namespace neardup
