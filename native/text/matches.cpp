#include "text/matches.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "hash.hpp"

namespace neardup {
namespace {

constexpr uint64_t few_cells = 1ull << 20, most_cells = 1ull << 24;
constexpr uint32_t window = 4096;  // its square is most_cells
constexpr size_t gram_sizes[] = {6, 6, 32, 3}, levels = std::size(gram_sizes);
constexpr uint32_t least_moved = 8, words_worth = 4, most_looks = 16, none = ~0u;

// An insertion is one event and costs little; it costs least next to the common beginning or end of the texts.
int64_t gap_cost(int64_t x, int64_t y, bool at_end) {
    const int64_t both = std::min(x, y), one = std::max(x, y) - both;
    return 2 * both + std::min<int64_t>(one, both == 0 && at_end ? 1 : 3);
}

uint64_t gram_hash(const uint64_t *words) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < least_moved; ++i) hash = hash * kSecret[0] + words[i];
    return scramble(hash);
}

}  // namespace

bool Matcher::in_order(WordRun a, WordRun b, bool by_chance, std::vector<Block> &out) {
    a_ = a;
    b_ = b;
    whole_ = true;
    matched_.clear();
    align({0, a.size, 0, b.size}, 0);
    if (!by_chance) give_up_chance();
    out.assign(matched_.begin(), matched_.end());
    return whole_;
}

void Matcher::align(Gap gap, size_t level) {
    const uint32_t shorter = std::min(gap.a_end - gap.a, gap.b_end - gap.b);
    uint32_t head = 0, tail = 0;
    while (head < shorter && a_.data[gap.a + head] == b_.data[gap.b + head]) ++head;
    while (head + tail < shorter && a_.data[gap.a_end - 1 - tail] == b_.data[gap.b_end - 1 - tail]) ++tail;
    add_block(matched_, {gap.a, gap.b, head});
    const Gap inside{gap.a + head, gap.a_end - tail, gap.b + head, gap.b_end - tail};
    if (inside.cells()) align_inside(inside, level);
    add_block(matched_, {inside.a_end, inside.b_end, tail});
}

void Matcher::align_inside(Gap gap, size_t level) {
    if (gap.cells() > few_cells && level < levels && align_between(gap, level)) return;
    if (gap.cells() > most_cells)
        while (++level < levels)
            if (align_between(gap, level)) return;
    if (gap.cells() <= most_cells) return align_exactly(gap);
    align_windows(gap);
}

// Returns false if there are no anchors, or too few to rely on in a gap that can be aligned exactly: a paragraph that
// moved from the beginning to the end would leave no room for the rest.
bool Matcher::align_between(Gap gap, size_t level) {
    std::vector<Block> found;
    anchors_.find(a_.data + gap.a, gap.a_end - gap.a, b_.data + gap.b, gap.b_end - gap.b, gram_sizes[level], found);
    const auto add = [](uint64_t sum, const Block &block) { return sum + block.size; };
    const uint64_t words = std::accumulate(found.begin(), found.end(), uint64_t{0}, add);
    const bool enough = 2 * words >= std::min(gap.a_end - gap.a, gap.b_end - gap.b);
    if (found.empty() || (gap.cells() <= most_cells && !enough)) return false;
    const Gap whole = gap;
    for (const Block &block : found) {
        const uint32_t a = whole.a + block.a, b = whole.b + block.b;
        align({gap.a, a, gap.b, b}, level + 1);
        add_block(matched_, {a, b, block.size});
        gap.a = a + block.size;
        gap.b = b + block.size;
    }
    align({gap.a, whole.a_end, gap.b, whole.b_end}, level + 1);
    return true;
}

void Matcher::align_exactly(Gap gap) {
    subsequence_.find(a_.data + gap.a, gap.a_end - gap.a, b_.data + gap.b, gap.b_end - gap.b, exact_);
    for (const Block &block : exact_) add_block(matched_, {gap.a + block.a, gap.b + block.b, block.size});
}

// The first half of the alignment of each window is kept; the next window begins where the alignment leaves that half.
void Matcher::align_windows(Gap gap) {
    whole_ = false;
    while (gap.cells() > most_cells) {
        const uint32_t n = std::min(window, gap.a_end - gap.a), m = std::min(window, gap.b_end - gap.b);
        const uint32_t half = (n + m) / 2;
        subsequence_.find(a_.data + gap.a, n, b_.data + gap.b, m, exact_);
        uint32_t a = 0, b = 0;
        for (const Block &block : exact_) {
            if (a + b >= half) break;
            const uint32_t before = block.a + block.b;
            const uint32_t size = before < half ? std::min(block.size, (half - before + 1) / 2) : 0;
            add_block(matched_, {gap.a + block.a, gap.b + block.b, size});
            a = block.a + size;
            b = block.b + size;
        }
        const bool matches = a + b >= half;
        gap.a += matches ? a : n;
        gap.b += matches ? b : m;
    }
    align(gap, levels);
}

void Matcher::give_up_chance() {
    const int64_t words = std::min(a_.size, b_.size);
    const int64_t least = 2 * std::clamp<int64_t>(words / 8, 1, words_worth);
    segments_.clear();
    int64_t sum = 0;
    uint32_t a = 0, b = 0;
    constexpr size_t nothing = ~size_t{0};
    for (size_t i = 0; i < matched_.size(); ++i) {
        const Block &block = matched_[i];
        const int64_t x = block.a - a, y = block.b - b;
        const bool ends = i == 1 && matched_[0].a == 0 && matched_[0].b == 0;
        const bool begins = block.a_end() == a_.size && block.b_end() == b_.size;
        sum -= gap_cost(x, y, begins || ends);
        Segment segment{sum, sum + 2 * int64_t{block.size}, i, i, nothing};
        sum = segment.right;
        a = block.a_end();
        b = block.b_end();
        for (;;) {
            size_t j = segments_.empty() ? nothing : segments_.size() - 1;
            while (j != nothing && segments_[j].left >= segment.left) j = segments_[j].link;
            segment.link = j;
            if (j == nothing || segments_[j].right >= segment.right) break;
            segment.left = segments_[j].left;
            segment.first = segments_[j].first;
            segments_.resize(j);
        }
        segments_.push_back(segment);
    }
    size_t kept = 0;
    for (const Segment &segment : segments_) {
        if (segment.right - segment.left < least) continue;
        for (size_t i = segment.first; i <= segment.last; ++i) matched_[kept++] = matched_[i];
    }
    matched_.resize(kept);
}

void Matcher::free_words(WordRun a, WordRun b, const std::vector<Block> &blocks) {
    a_ = a;
    b_ = b;
    gaps_.clear();
    Gap gap{0, 0, 0, 0};
    const auto add = [&](Block block) {
        gap.a_end = block.a;
        gap.b_end = block.b;
        gaps_.push_back(gap);
        gap = {block.a_end(), 0, block.b_end(), 0};
    };
    for (const Block &block : blocks) add(block);
    add({a.size, b.size, 0});
}

void Matcher::list_grams() {
    free_.assign(b_.size, 0);
    at_.clear();
    for (const Gap &gap : gaps_) {
        std::fill(free_.begin() + gap.b, free_.begin() + gap.b_end, 1);
        for (uint32_t at = gap.b; at + least_moved <= gap.b_end; ++at) at_.push_back(at);
    }
    next_.resize(at_.size());
    heads_.assign(std::bit_ceil(at_.size() + 1), none);
    for (size_t i = at_.size(); i-- > 0;) {  // backwards, so that the first occurrence in the text is found first
        uint32_t &head = heads_[gram_hash(b_.data + at_[i]) & (heads_.size() - 1)];
        next_[i] = head;
        head = static_cast<uint32_t>(i);
    }
}

// The longest unmatched run that contains the 8-gram at `at`, within the gap `free`.
Block Matcher::longest_at(uint32_t at, Gap free) const {
    Block best{0, 0, 0};
    uint32_t looks = 0;
    uint32_t i = heads_[gram_hash(a_.data + at) & (heads_.size() - 1)];
    for (; i != none && looks < most_looks; i = next_[i], ++looks) {
        Block block{at, at_[i], 0};
        const auto fits = [&](uint32_t x, uint32_t y) { return free_[y] && a_.data[x] == b_.data[y]; };
        while (block.a_end() < free.a_end && block.b_end() < b_.size && fits(block.a_end(), block.b_end())) ++block.size;
        if (block.size < least_moved) continue;
        while (block.a > free.a && block.b > 0 && fits(block.a - 1, block.b - 1))
            block = {block.a - 1, block.b - 1, block.size + 1};
        if (block.size > best.size) best = block;
    }
    return best;
}

void Matcher::moved(WordRun a, WordRun b, const std::vector<Block> &blocks, std::vector<Block> &out) {
    out.clear();
    free_words(a, b, blocks);
    const auto any = [&](auto size) { return std::any_of(gaps_.begin(), gaps_.end(), size); };
    if (!any([](const Gap &gap) { return gap.a_end - gap.a >= least_moved; })) return;
    if (!any([](const Gap &gap) { return gap.b_end - gap.b >= least_moved; })) return;
    list_grams();
    for (Gap gap : gaps_) {
        for (uint32_t at = gap.a; at + least_moved <= gap.a_end;) {
            const Block block = longest_at(at, gap);
            if (block.size == 0) {
                ++at;
                continue;
            }
            out.push_back(block);
            std::fill_n(free_.begin() + block.b, block.size, 0);
            gap.a = at = block.a_end();
        }
    }
}

}  // namespace neardup
