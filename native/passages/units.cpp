#include "passages/units.hpp"

#include <algorithm>

#include "text/sentences.hpp"

namespace neardup {

namespace {

const uint8_t *line_end(const uint8_t *p, const uint8_t *end) {
    const uint8_t *found = std::find(p, end, '\n');
    return found == end ? end : found + 1;
}

bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// After the blank lines that end the paragraph.
const uint8_t *paragraph_end(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        p = line_end(p, end);
        const uint8_t *next = std::find_if_not(p, end, is_blank);
        if (std::find(p, next, '\n') != next || next == end) {
            while (next > p && next[-1] != '\n') --next;  // the indent belongs to the next paragraph
            return next == p ? end : next;
        }
    }
    return end;
}

size_t characters(const uint8_t *from, const uint8_t *to) {
    return static_cast<size_t>(std::count_if(from, to, [](uint8_t c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void UnitFinder::divide(const uint8_t *text, size_t size) {
    const auto next = unit_ == Unit::sentence ? sentence_end : unit_ == Unit::line ? line_end : paragraph_end;
    starts_.clear();
    firsts_.clear();
    size_t word = 0;
    for (const uint8_t *p = text, *end = text + size; p < end;) {
        const auto start = static_cast<size_t>(p - text);
        starts_.push_back(start);
        while (word < places_.size() && places_[word].begin < start) ++word;
        firsts_.push_back(word);
        p = next(p, end);
    }
    starts_.push_back(size);
    firsts_.push_back(places_.size());
}

bool UnitFinder::snap(WordSpan span, size_t &begin, size_t &end) const {
    // A unit without words at the edge is left out: the first unit begins with a word of the span, and so on.
    const auto first = std::lower_bound(firsts_.begin(), firsts_.end(), span.begin);
    const auto last = std::upper_bound(firsts_.begin(), firsts_.end(), span.end);
    if (first == firsts_.end() || last == firsts_.begin()) return false;
    auto from = static_cast<size_t>(first - firsts_.begin());
    auto to = static_cast<size_t>(last - firsts_.begin()) - 1;
    while (from + 1 < firsts_.size() && from < to && firsts_[from + 1] == firsts_[from]) ++from;
    while (to > from && to >= 1 && firsts_[to - 1] == firsts_[to]) --to;
    if (from >= to || firsts_[to] <= firsts_[from]) return false;
    begin = starts_[from];
    end = starts_[to];
    return true;
}

void UnitFinder::add(const uint8_t *text, size_t size, const WordSpan *spans, size_t count,
                     std::vector<TextSpan> &out) {
    if (!count) return;
    tokenizer_.spans(text, size, hashes_, places_);
    if (unit_ != Unit::word) divide(text, size);
    size_t counted = 0, before = 0;  // bytes, and the characters in them
    for (size_t i = 0; i < count; ++i) {
        size_t begin = 0, end = 0;
        bool some = spans[i].begin < spans[i].end && spans[i].end <= places_.size();
        if (some && unit_ == Unit::word) {
            begin = places_[spans[i].begin].begin;
            end = places_[spans[i].end - 1].end;
        } else if (some) {
            some = snap(spans[i], begin, end);
        }
        if (!some) {
            out.push_back({-1, -1, -1, -1});
            continue;
        }
        if (begin < counted) counted = before = 0;  // a span that snapped to the same first unit
        before += characters(text + counted, text + begin);
        counted = begin;
        const auto b = static_cast<int64_t>(before);
        out.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(end), b,
                       b + static_cast<int64_t>(characters(text + begin, text + end))});
    }
}

}  // namespace neardup
