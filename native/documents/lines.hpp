// The definition of a line, shared by scanning, counting and selecting.
//
// A line ends with '\n', which belongs to it; the last line may lack it. The content of a line ends before "\n" or
// "\r\n". A line is blank if its content is only JSON white space; a UTF-8 byte order mark at the start of a file is
// skipped. Every line that is not blank is one document.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace neardup {

struct Line {
    const char *begin;  // the start of the line, including a byte order mark
    const char *first;  // the start of its content
    const char *last;   // the end of its content
    const char *next;   // the start of the next line
    bool blank;
};

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

inline const char *skip_space(const char *p, const char *end) {
    while (p < end && is_space(*p)) ++p;
    return p;
}

// The line at p (p < end).
inline Line line_at(const char *p, const char *end, bool start_of_file) {
    const size_t left = static_cast<size_t>(end - p);
    const auto *newline = static_cast<const char *>(std::memchr(p, '\n', left));
    Line line{p, p, newline ? newline : end, newline ? newline + 1 : end, false};
    if (line.last > p && line.last[-1] == '\r') --line.last;
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    const std::string_view content(p, static_cast<size_t>(line.last - p));
    if (start_of_file && content.starts_with(mark)) line.first += mark.size();
    line.blank = skip_space(line.first, line.last) == line.last;
    return line;
}

int64_t count_lines(std::string_view chunk);

// Where each line begins; the chunk is shorter than 4 GB.
std::vector<uint32_t> line_starts(std::string_view chunk);

struct Selection {
    std::vector<std::string_view> runs;  // adjacent kept lines, parts of the chunk
    int64_t documents = 0;               // lines that are not blank, kept or not
    bool last_kept = true;
};

// The kept lines, unchanged. `keep` has one entry per document; documents beyond it are not kept. A blank line is kept if
// the document before it is (`previous_kept` for the first lines of the chunk), so that keeping all documents returns
// all bytes.
Selection select_lines(std::string_view chunk, std::span<const uint8_t> keep, bool start_of_file,
                       bool previous_kept);

}  // namespace neardup
