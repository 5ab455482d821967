#include "text/sentences.hpp"

#include <array>

#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace neardup {
namespace {

enum Mark : uint8_t { plain, white, line, paragraph, closer, stop, full_stop };

constexpr std::array<Mark, 128> ascii_marks() {
    std::array<Mark, 128> marks{};
    for (char c : {' ', '\t'}) marks[static_cast<size_t>(c)] = white;
    for (char c : {'\n', '\r'}) marks[static_cast<size_t>(c)] = line;
    for (char c : {'\v', '\f'}) marks[static_cast<size_t>(c)] = paragraph;
    for (char c : {'"', '\'', ')', ']', '}'}) marks[static_cast<size_t>(c)] = closer;
    for (char c : {'.', '!', '?'}) marks[static_cast<size_t>(c)] = stop;
    return marks;
}
constexpr std::array<Mark, 128> kAscii = ascii_marks();

// Bytes inside a sentence, whatever stands beside them: most of a text, which is passed over at once.
constexpr std::array<bool, 256> inner_bytes() {
    std::array<bool, 256> inner{};
    for (size_t c = 0; c < 128; ++c)
        inner[c] = kAscii[c] == plain || kAscii[c] == closer || kAscii[c] == white;
    return inner;
}
constexpr std::array<bool, 256> kInner = inner_bytes();

Mark mark_beyond_ascii(uint32_t cp) {
    switch (cp) {
        case 0x2026: case 0xFF0E: case 0x203C: case 0x203D: case 0x2047: case 0x2048: case 0x2049:
            return stop;
        case 0x3002: case 0xFF01: case 0xFF1F: case 0xFF61:              // Chinese, Japanese
        case 0x0964: case 0x0965:                                        // danda
        case 0x061F: case 0x06D4: case 0x0700: case 0x0701: case 0x0702: // Arabic, Urdu, Syriac
        case 0x0589: case 0x1362: case 0x1367: case 0x1368:              // Armenian, Ethiopic
        case 0x104A: case 0x104B: case 0x17D4: case 0x17D5:              // Burmese, Khmer
        case 0x1803: case 0x1809: case 0x0F0D: case 0x0F0E:              // Mongolian, Tibetan
        case 0xFE52: case 0xFE56: case 0xFE57:
            return full_stop;
        case 0x00BB: case 0x2019: case 0x201C: case 0x201D: case 0x203A:  // “ closes in German
        case 0x3009: case 0x300B: case 0x300D: case 0x300F: case 0x3011: case 0xFF09: case 0xFF3D: case 0xFF63:
            return closer;
        case 0x0085: case 0x2028:
            return line;
        case 0x2029:
            return paragraph;
        default:
            return unicode::record(cp).flags & unicode::white ? white : plain;
    }
}

struct Character {
    Mark mark;
    uint32_t size;
};

Character next(const uint8_t *p, const uint8_t *end) {
    if (*p < 0x80) return {kAscii[*p], 1};
    const Decoded c = decode(p, end);
    return {mark_beyond_ascii(c.cp), c.size};
}

bool is_white(Mark mark) { return mark >= white && mark <= paragraph; }

// Past a run of white space; `lines` counts its line breaks, "\r\n" as one.
const uint8_t *past_white(const uint8_t *p, const uint8_t *end, int &lines) {
    lines = 0;
    while (p < end) {
        const Character c = next(p, end);
        if (!is_white(c.mark)) break;
        const bool pair = *p == '\r' && p + 1 < end && p[1] == '\n';
        if (lines < 2) lines += c.mark == paragraph ? 2 : c.mark == line && !pair;
        p += c.size;
    }
    return p;
}

}  // namespace

const uint8_t *sentence_end(const uint8_t *p, const uint8_t *end) {
    int lines;
    p = past_white(p, end, lines);
    while (p < end) {
        while (p < end && kInner[*p]) ++p;
        if (p == end) return end;
        Character c = next(p, end);
        if (c.mark == line || c.mark == paragraph || c.mark == white) {
            p = past_white(p, end, lines);
            if (lines >= 2) return p;
        } else if (c.mark == stop || c.mark == full_stop) {
            bool ends = false;
            do {
                ends |= c.mark == full_stop;
                p += c.size;
                if (p == end) return end;
                c = next(p, end);
            } while (c.mark >= closer);
            if (ends || is_white(c.mark)) return past_white(p, end, lines);
        } else {
            p += c.size;
        }
    }
    return end;
}

int line_breaks(const uint8_t *p, const uint8_t *end) {
    int most = 0, lines;
    while (p < end && most < 2) {
        const Character c = next(p, end);
        if (is_white(c.mark)) {
            p = past_white(p, end, lines);
            most = lines > most ? lines : most;
        } else {
            p += c.size;
        }
    }
    return most;
}

}  // namespace neardup
