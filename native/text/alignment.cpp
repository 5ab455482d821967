#include "text/alignment.hpp"

#include <algorithm>
#include <numeric>

#include "text/sentences.hpp"
#include "text/utf8.hpp"

namespace neardup {
namespace {

constexpr uint32_t longest_slide = 256;

bool begins_with_digit(const uint8_t *p, const uint8_t *end) {
    return unicode::record(decode(p, end).cp).flags & unicode::digit;
}

}  // namespace

bool CutText::paragraph_at(size_t word) {
    if (word == 0 || word == places.size()) return true;
    const uint8_t *from = text + places[word - 1].end, *to = text + places[word].begin;
    if (from >= to) return false;
    const int breaks = line_breaks(from, to);
    if (breaks != 1) return breaks > 1;
    if (blank_lines < 0) blank_lines = line_breaks(text + places[0].begin, text + places.back().end) > 1;
    return !blank_lines;
}

// Only the first byte of a word matters.
bool CutText::sentence_at(size_t word) {
    if (paragraph_at(word)) return true;
    const uint8_t *from = text + places[word - 1].end, *to = text + places[word].begin;
    return from < to && sentence_end(from, to + 1) <= to;
}

uint8_t CutText::edges_at(size_t word) {
    if (paragraph_at(word)) return begins_sentence | begins_paragraph;
    return sentence_at(word) ? begins_sentence : 0;
}

Aligner::Aligner(const TextOptions &options, const WordMap *map, const WordMap *numbers, bool by_chance)
    : tokenizer_(options, map), numbers_(numbers), by_chance_(by_chance) {}

void Aligner::cut(const uint8_t *text, size_t size, CutText &out) {
    out.text = text;
    out.size = size;
    out.blank_lines = -1;
    tokenizer_.spans(text, size, out.words, out.places);
}

bool Aligner::align(CutText &a, CutText &b, std::vector<Passage> &out) {
    const bool whole = matcher_.in_order(a.run(), b.run(), by_chance_, shared_);
    slide_all(a, b);
    matcher_.moved(a.run(), b.run(), shared_, moved_);
    lay_out(a, b);
    const size_t before = out.size();
    for (const Stretch &stretch : stretches_) out.push_back({stretch.how, {}, {}});
    place<&Stretch::a, &Passage::a>(a, out.data() + before);
    place<&Stretch::b, &Passage::b>(b, out.data() + before);
    return whole;
}

namespace {

// How well the words begin … end − 1 coincide with paragraphs or sentences.
int fit(CutText &text, uint32_t begin, uint32_t end) {
    const auto worth = [&](uint32_t at) { return text.paragraph_at(at) ? 2 : text.sentence_at(at) ? 1 : 0; };
    return worth(begin) + worth(end);
}

struct Slides {
    uint32_t left = 0, right = 0;
};

// The number of words by which the insertion begin … end − 1 can be moved.
Slides slides(const std::vector<uint64_t> &words, uint32_t begin, uint32_t end, uint32_t before, uint32_t after) {
    Slides found;
    before = std::min(before, longest_slide);
    after = std::min(after, longest_slide);
    while (found.left < before && words[begin - 1 - found.left] == words[end - 1 - found.left]) ++found.left;
    while (found.right < after && words[begin + found.right] == words[end + found.right]) ++found.right;
    return found;
}

int32_t best_fit(CutText &text, uint32_t begin, uint32_t end, Slides possible) {
    int32_t best = 0;
    if (!possible.left && !possible.right) return best;
    int most = fit(text, begin, end);
    for (int32_t by = -static_cast<int32_t>(possible.left); by <= static_cast<int32_t>(possible.right); ++by) {
        const int found = by ? fit(text, begin + static_cast<uint32_t>(by), end + static_cast<uint32_t>(by)) : 0;
        if (found > most) best = by, most = found;
    }
    return best;
}

}  // namespace

// Moves the insertion between two blocks. The best place is one at which a whole block changes to the opposite side of
// the insertion, because two differing passages then become one.
void Aligner::slide(CutText &a, CutText &b, Block &before, Block &after) {
    const bool in_a = before.b_end() == after.b, in_b = before.a_end() == after.a;
    if (!in_a && !in_b) return;
    CutText &text = in_a ? a : b;
    const uint32_t begin = in_a ? before.a_end() : before.b_end(), end = in_a ? after.a : after.b;
    const Slides possible = slides(text.words, begin, end, before.size, after.size);
    const bool first = before.a == 0 && before.b == 0;
    const bool last = after.a_end() == a.run().size && after.b_end() == b.run().size;
    int32_t by = best_fit(text, begin, end, possible);
    if (possible.left == before.size && !first) by = -static_cast<int32_t>(before.size);
    else if (possible.right == after.size && !last) by = static_cast<int32_t>(after.size);
    const auto more = static_cast<uint32_t>(by);  // a negative number wraps, as intended
    before.size += more;
    after = {after.a + more, after.b + more, after.size - more};
}

void Aligner::slide_all(CutText &a, CutText &b) {
    size_t kept = 0;
    for (Block block : shared_) {
        while (kept && block.size) {
            slide(a, b, shared_[kept - 1], block);
            if (shared_[kept - 1].size) break;
            --kept;
        }
        if (block.size) shared_[kept++] = block;
    }
    shared_.resize(kept);
}

void Aligner::lay_out(const CutText &a, const CutText &b) {
    stretches_.clear();
    moved_by_b_ = moved_;
    std::sort(moved_by_b_.begin(), moved_by_b_.end(), [](const Block &x, const Block &y) { return x.b < y.b; });
    next_moved_ = next_moved_by_b_ = 0;
    uint32_t i = 0, j = 0;
    for (const Block &block : shared_) {
        lay_out_gap({i, block.a}, {j, block.b});
        i = block.a_end();
        j = block.b_end();
        stretches_.push_back({How::shared, {block.a, i}, {block.b, j}});
    }
    lay_out_gap({i, a.run().size}, {j, b.run().size});
}

// The remaining parts of both sides are paired in order; parts that only b has come last.
void Aligner::lay_out_gap(Range a, Range b) {
    left_.clear();
    for (; next_moved_by_b_ < moved_by_b_.size() && moved_by_b_[next_moved_by_b_].b < b.end; ++next_moved_by_b_) {
        const Block &block = moved_by_b_[next_moved_by_b_];
        if (block.b > b.begin) left_.push_back({b.begin, block.b});
        b.begin = block.b_end();
    }
    if (b.begin < b.end) left_.push_back(b);
    size_t used = 0;
    uint32_t at = left_.empty() ? b.begin : left_[0].begin;
    const auto differs = [&](Range words) {
        Range with{at, at};
        if (used < left_.size()) with = left_[used++];
        at = with.end;
        if (words.begin < words.end || with.begin < with.end) stretches_.push_back({How::differs, words, with});
    };
    for (; next_moved_ < moved_.size() && moved_[next_moved_].a < a.end; ++next_moved_) {
        const Block &block = moved_[next_moved_];
        if (block.a > a.begin) differs({a.begin, block.a});
        a.begin = block.a_end();
        stretches_.push_back({How::moved, {block.a, a.begin}, {block.b, block.b_end()}});
    }
    if (a.begin < a.end) differs(a);
    while (used < left_.size()) differs({a.end, a.end});
}

uint8_t Aligner::edges(CutText &text, Range words) const {
    const uint8_t begin = text.edges_at(words.begin);
    const uint8_t end = words.begin == words.end ? begin : text.edges_at(words.end);
    const auto found = static_cast<uint8_t>(begin | end << 1);
    for (uint32_t i = words.begin; i < words.end; ++i) {
        const Place &place = text.places[i];
        const bool number = begins_with_digit(text.text + place.begin, text.text + place.end) ||
                            (numbers_ && (*numbers_)(text.words[i]) == WordMap::drop);
        if (!number) return found;
    }
    return words.begin < words.end ? found | only_numbers : found;
}

// Neighbouring words may come from the same characters, because pairs of Chinese characters overlap. A matched passage
// takes all characters of its words and a differing passage the remaining ones, so no character is shown twice.
template <Aligner::Range Aligner::Stretch::*range, Side Passage::*side>
void Aligner::place(CutText &text, Passage *out) {
    order_.resize(stretches_.size());
    std::iota(order_.begin(), order_.end(), 0);
    if (!moved_.empty())
        std::stable_sort(order_.begin(), order_.end(), [&](uint32_t x, uint32_t y) {
            const Range &p = stretches_[x].*range, &q = stretches_[y].*range;
            return p.begin != q.begin ? p.begin < q.begin : p.end < q.end;
        });
    size_t last = 0;
    for (uint32_t i : order_) {
        const Stretch &stretch = stretches_[i];
        const auto [begin, end] = stretch.*range;
        const bool differs = stretch.how == How::differs;
        size_t from = last, to = last;
        if (begin < end) {
            from = std::max(text.places[begin].begin, last);
            to = text.places[end - 1].end;
            if (differs && end < text.places.size()) to = std::min(to, text.places[end].begin);
            to = std::max(from, to);
        }
        last = to;
        const uint8_t flags = stretch.how == How::shared ? 0 : edges(text, {begin, end});
        out[i].*side = {static_cast<uint32_t>(from), static_cast<uint32_t>(to), end - begin, flags};
    }
}

}  // namespace neardup
