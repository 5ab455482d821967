#include "text/subsequence.hpp"

#include <algorithm>
#include <bit>

namespace neardup {

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
    const size_t width = (pattern_.size() + 63) / 64;
    fill_masks(width);
    fill_rows(width);
    walk_back(width, swapped, out);
}

void Subsequence::number(const uint64_t *pattern, size_t size) {
    const size_t mask = std::bit_ceil(size * 2 + 2) - 1;
    words_.resize(mask + 1);
    ids_.assign(mask + 1, 0);
    pattern_.clear();
    distinct_ = 0;
    for (size_t i = 0; i < size; ++i) {
        size_t at = pattern[i] & mask;
        while (ids_[at] && words_[at] != pattern[i]) at = (at + 1) & mask;
        if (!ids_[at]) {
            words_[at] = pattern[i];
            ids_[at] = ++distinct_;
        }
        pattern_.push_back({static_cast<uint32_t>(i), ids_[at]});
    }
}

uint32_t Subsequence::id_of(uint64_t word) const {
    const size_t mask = ids_.size() - 1;
    size_t at = word & mask;
    while (ids_[at] && words_[at] != word) at = (at + 1) & mask;
    return ids_[at];
}

void Subsequence::keep_common(const uint64_t *text, size_t size) {
    text_.clear();
    common_.assign(distinct_ + 1, 0);
    for (size_t i = 0; i < size; ++i) {
        const uint32_t id = id_of(text[i]);
        if (!id) continue;
        common_[id] = 1;
        text_.push_back({static_cast<uint32_t>(i), id});
    }
    std::erase_if(pattern_, [&](const Word &word) { return !common_[word.id]; });
}

void Subsequence::fill_masks(size_t width) {
    masks_.assign((distinct_ + 1) * width, 0);
    for (size_t i = 0; i < pattern_.size(); ++i) masks_[pattern_[i].id * width + i / 64] |= 1ull << i % 64;
}

// Bit j of row i is 0 if the first i + 1 words of the text have one more word in common with the first j + 1 words of
// the pattern than with the first j.
void Subsequence::fill_rows(size_t width) {
    const size_t needed = (text_.size() + 1) * width;
    if (rows_size_ < needed) {
        rows_ = std::make_unique_for_overwrite<uint64_t[]>(needed);
        rows_size_ = needed;
    }
    const uint64_t *before = rows_.get();
    std::fill_n(rows_.get(), width, ~0ull);
    uint64_t *row = rows_.get() + width;
    for (const Word &word : text_) {
        const uint64_t *mask = masks_.data() + word.id * width;
        uint64_t carry = 0;
        for (size_t i = 0; i < width; ++i) {
            const uint64_t v = before[i], u = v & mask[i], sum = v + u, whole = sum + carry;
            carry = (sum < v) | (whole < sum);
            row[i] = whole | (v & ~mask[i]);
        }
        before = row;
        row += width;
    }
}

// Equal last words can always be matched; otherwise the matrix shows which side can drop its last word.
void Subsequence::walk_back(size_t width, bool swapped, std::vector<Block> &out) const {
    size_t i = text_.size(), j = pattern_.size();
    while (i && j) {
        if (text_[i - 1].id == pattern_[j - 1].id) {
            const uint32_t x = pattern_[--j].at, y = text_[--i].at;
            const uint32_t a = swapped ? y : x, b = swapped ? x : y;
            if (!out.empty() && out.back().a == a + 1 && out.back().b == b + 1)
                out.back() = {a, b, out.back().size + 1};
            else
                out.push_back({a, b, 1});
        } else if (rows_[i * width + (j - 1) / 64] >> (j - 1) % 64 & 1) {
            --j;
        } else {
            --i;
        }
    }
    std::reverse(out.begin(), out.end());
}

}  // namespace neardup
