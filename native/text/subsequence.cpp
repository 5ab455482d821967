#include "text/subsequence.hpp"

#include <algorithm>
#include <bit>

#include "simd.hpp"

namespace neardup {

namespace {

constexpr size_t first_slack = 32;  // words without a partner that the first band has room for

// In arithmetic, because compilers turn comparisons into branches. Both are below 2^63.
NEARDUP_INLINE uint64_t all_if_less(uint64_t a, uint64_t b) { return -((a - b) >> 63); }

struct WordTable {
    uint64_t *words;
    uint32_t *ids;  // `before` or less: an empty slot, left from an earlier call
    size_t mask;
    uint32_t before;

    // One branch a step, which is seldom taken. Half of the words are new, so a branch on that would often be wrong.
    NEARDUP_INLINE size_t slot(uint64_t word) const {
        size_t at = word & mask;
        while ((words[at] ^ word) & all_if_less(before, ids[at])) at = (at + 1) & mask;
        return at;
    }
    // 0: none.
    NEARDUP_INLINE uint32_t id(size_t at) const { return std::max(ids[at], before) - before; }
};

}  // namespace

void add_block(std::vector<Block> &blocks, Block block) {
    if (!block.size) return;
    if (!blocks.empty() && blocks.back().a_end() == block.a && blocks.back().b_end() == block.b)
        blocks.back().size += block.size;
    else
        blocks.push_back(block);
}

// Words that only one side has cannot match and are left out.
void Subsequence::find(const uint64_t *a, size_t n, const uint64_t *b, size_t m, std::vector<Block> &out) {
    out.clear();
    const bool swapped = m < n;  // the pattern is the shorter side
    number(swapped ? b : a, std::min(n, m));
    keep_common(swapped ? a : b, std::max(n, m));
    if (text_.empty()) return;
    const size_t patterns = pattern_.size(), texts = text_.size(), width = (patterns + 63) / 64;
    fill_masks(width);
    for (size_t slack = first_slack;; slack *= 4) {
        const size_t longer = std::max(patterns, texts);
        const Band band{slack + longer - patterns, slack + longer - texts, width};
        const size_t length = fill_rows(band);
        // If a longest subsequence left the band, this one would be shorter, and its own diagonals not in the band.
        if (band.stride() < width && (texts - length > band.below || patterns - length > band.above)) continue;
        return walk_back(band, swapped, out);
    }
}

// Ids go on from those of the call before, so that the table need not be cleared.
void Subsequence::number(const uint64_t *pattern, size_t size) {
    mask_ = std::bit_ceil(size * 2 + 2) - 1;
    if (ids_.size() <= mask_) {
        words_.resize(mask_ + 1);
        ids_.resize(mask_ + 1);
    }
    before_ += distinct_;
    if (before_ > ~uint32_t{0} - size) {
        std::fill(ids_.begin(), ids_.end(), 0);
        before_ = 0;
    }
    pattern_.resize(size);
    const WordTable table{words_.data(), ids_.data(), mask_, before_};
    Word *out = pattern_.data();
    uint32_t last = 0;
    for (uint32_t i = 0; i < size; ++i) {
        const size_t at = table.slot(pattern[i]);
        const uint32_t known = table.id(at), is_new = static_cast<uint32_t>(all_if_less(known, 1));  // all bits or none
        last -= is_new;
        const uint32_t id = known | (last & is_new);
        table.ids[at] = id + table.before;
        table.words[at] = pattern[i];
        out[i] = {i, id};
    }
    distinct_ = last;
}

void Subsequence::keep_common(const uint64_t *text, size_t size) {
    text_.resize(size);
    common_.assign(distinct_ + 1, 0);
    const WordTable table{words_.data(), ids_.data(), mask_, before_};
    uint8_t *common = common_.data();
    Word *out = text_.data();
    for (uint32_t i = 0; i < size; ++i) {
        const uint32_t id = table.id(table.slot(text[i]));
        common[id] = 1;
        *out = {i, id};
        out += id != 0;
    }
    text_.resize(static_cast<size_t>(out - text_.data()));
    out = pattern_.data();
    for (const Word word : pattern_) {
        *out = word;
        out += common[word.id];
    }
    pattern_.resize(static_cast<size_t>(out - pattern_.data()));
}

void Subsequence::fill_masks(size_t width) {
    masks_.assign((distinct_ + 1) * width, 0);
    for (size_t i = 0; i < pattern_.size(); ++i) masks_[pattern_[i].id * width + i / 64] |= 1ull << i % 64;
}

// Bit j of row i is 0 if the first i + 1 words of the text have one more word in common with the first j + 1 words of
// the pattern than with the first j. What is right of the band has no match yet, so its bits are 1; what is left of it
// gets no more. Returns the length of the subsequence.
size_t Subsequence::fill_rows(const Band &band) {
    const size_t stride = band.stride(), pitch = stride + 1, needed = (text_.size() + 1) * pitch;
    if (rows_size_ < needed) {
        rows_ = std::make_unique_for_overwrite<uint64_t[]>(needed);
        rows_size_ = needed;
    }
    std::fill_n(rows_.get(), pitch, ~0ull);
    const uint64_t *before = rows_.get();
    uint64_t *row = rows_.get() + pitch;
    size_t first = 0, length = 0;
    for (size_t at = 0; at < text_.size(); ++at, before = row, row += pitch) {
        const size_t moves = band.first(at) - first;  // 0 or 1
        const uint64_t *mask = masks_.data() + text_[at].id * band.width + first + moves;
        if (moves) length += counted_ones(~before[0]);
        first += moves;
        uint64_t carry = 0;
        for (size_t i = 0; i < stride; ++i) {
            const uint64_t v = before[i + moves], u = v & mask[i], sum = v + u, whole = sum + carry;
            carry = (sum < v) | (whole < sum);
            row[i] = whole | (v & ~mask[i]);
        }
        row[stride] = ~0ull;
    }
    for (size_t i = 0; i < stride; ++i) length += counted_ones(~before[i]);
    return length;
}

// Equal last words can always be matched; otherwise the matrix shows which side can drop its last word.
void Subsequence::walk_back(const Band &band, bool swapped, std::vector<Block> &out) const {
    size_t i = text_.size(), j = pattern_.size();
    const auto is_set = [&, pitch = band.stride() + 1](size_t row, size_t bit) {
        return rows_[(row + 1) * pitch + bit / 64 - band.first(row)] >> bit % 64 & 1;
    };
    while (i && j) {
        if (text_[i - 1].id == pattern_[j - 1].id) {
            const uint32_t x = pattern_[--j].at, y = text_[--i].at;
            const uint32_t a = swapped ? y : x, b = swapped ? x : y;
            if (!out.empty() && out.back().a == a + 1 && out.back().b == b + 1)
                out.back() = {a, b, out.back().size + 1};
            else
                out.push_back({a, b, 1});
        } else if (is_set(i - 1, j - 1)) {
            --j;
        } else {
            --i;
        }
    }
    std::reverse(out.begin(), out.end());
}

}  // namespace neardup
