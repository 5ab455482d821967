#include "text/anchors.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"

namespace neardup {
namespace {

constexpr uint32_t none = ~0u, many = ~0u - 1;
constexpr int most_sampled_bits = 15;  // up to 2^15 k-grams are all examined; of more, about as many

// Calls `each` with the rolling hashes of all k-grams in order.
template <typename Each>
void each_gram(const uint64_t *words, size_t size, size_t k, Each &&each) {
    if (size < k) return;
    uint64_t hash = 0, leaving = 1;
    for (size_t i = 0; i < k; ++i) {
        hash = hash * kSecret[0] + words[i];
        leaving *= kSecret[0];
    }
    for (size_t i = 0;; ++i) {
        each(hash, static_cast<uint32_t>(i));
        if (i + k == size) break;
        hash = hash * kSecret[0] + words[i + k] - leaving * words[i];
    }
}

// Two runs may overlap if only one of the texts repeats words; the first run keeps the words.
void cut_overlaps(std::vector<Block> &blocks) {
    uint32_t a = 0, b = 0;
    for (Block &block : blocks) {
        const uint32_t over = std::max(a > block.a ? a - block.a : 0, b > block.b ? b - block.b : 0);
        const uint32_t gone = std::min(over, block.size);
        block = {block.a + gone, block.b + gone, block.size - gone};
        if (block.size) a = block.a_end(), b = block.b_end();
    }
    std::erase_if(blocks, [](const Block &block) { return block.size == 0; });
}

bool sampled(uint64_t hash, unsigned skip) { return (hash >> 32 & ((1ull << skip) - 1)) == 0; }

}  // namespace

void Anchors::find(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t k, std::vector<Block> &out) {
    out.clear();
    const int extra = static_cast<int>(std::bit_width(std::max(n, m))) - most_sampled_bits;
    const unsigned skip = static_cast<unsigned>(std::max(extra, 0));
    read_first(a, n, k, skip);
    if (grams_.empty()) return;
    read_second(a, b, m, k, skip);
    make_runs(a, b, k);
    chain(out);
    cut_overlaps(out);
}

NEARDUP_INLINE uint32_t &Anchors::slot(uint64_t hash) {
    uint32_t *table = table_.data();
    const Gram *grams = grams_.data();
    const size_t mask = table_.size() - 1;
    size_t at = hash >> 8 & mask;
    while (table[at] && grams[table[at] - 1].hash != hash) at = (at + 1) & mask;
    return table[at];
}

void Anchors::read_first(const uint64_t *a, size_t n, size_t k, unsigned skip) {
    grams_.resize(n);
    Gram *next = grams_.data();
    each_gram(a, n, k, [&](uint64_t rolling, uint32_t at) {
        const uint64_t hash = scramble(rolling);
        *next = {hash, at, none};
        next += sampled(hash, skip);
    });
    grams_.resize(static_cast<size_t>(next - grams_.data()));
    table_.assign(std::bit_ceil(grams_.size() * 2 + 2), 0);
    first_.resize(grams_.size());
    for (uint32_t i = 0; i < grams_.size(); ++i) {
        uint32_t &number = slot(grams_[i].hash);
        if (number) grams_[number - 1].a = many;
        else number = i + 1;
        first_[i] = number - 1;
    }
}

// While b goes on as a does, its k-grams need not be looked up.
void Anchors::read_second(const uint64_t *a, const uint64_t *b, size_t m, size_t k, unsigned skip) {
    const size_t grams = skip ? 0 : grams_.size();  // a sample does not have the next k-gram of a
    uint32_t next = none;                           // the k-gram of a after the one that b had before
    each_gram(b, m, k, [&](uint64_t rolling, uint32_t at) {
        uint32_t number = 0;
        if (next < grams && a[next + k - 1] == b[at + k - 1]) {
            number = first_[next++] + 1;
        } else {
            const uint64_t hash = scramble(rolling);
            if (sampled(hash, skip)) number = slot(hash);
            next = number ? number : none;
        }
        if (!number) return;
        uint32_t &in_b = grams_[number - 1].b;
        in_b = in_b == none ? at : many;
    });
}

// k-grams on the same diagonal with equal words between them form one run. The words are compared, not only hashes.
void Anchors::make_runs(const uint64_t *a, const uint64_t *b, size_t k) {
    runs_.clear();
    const auto extend = [&](Block &block, uint32_t end) {
        while (block.a_end() < end && a[block.a_end()] == b[block.b_end()]) ++block.size;
        return block.a_end() >= end;
    };
    for (const Gram &gram : grams_) {
        if (gram.a == many || gram.b >= many) continue;
        Block block{gram.a, gram.b, 0};
        const uint32_t end = block.a + static_cast<uint32_t>(k);
        Run *before = runs_.empty() ? nullptr : &runs_.back();
        if (before && before->block.b - before->block.a == block.b - block.a && extend(before->block, end))
            before->last = block.a;
        else if (extend(block, end))
            runs_.push_back({block, block.a, none, 0});
    }
}

// Finds the heaviest chain of runs, which are in the order of a, that is also in the order of b.
void Anchors::chain(std::vector<Block> &out) {
    ends_.clear();
    const auto last_b = [](const Run &run) { return run.last + (run.block.b - run.block.a); };
    for (const Run &run : runs_) ends_.push_back(last_b(run));
    std::sort(ends_.begin(), ends_.end());
    best_.assign(ends_.size() + 1, none);
    const auto rank = [&](uint32_t at) { return std::lower_bound(ends_.begin(), ends_.end(), at) - ends_.begin(); };
    const auto heavier = [&](uint32_t x, uint32_t y) {
        return y == none || (x != none && runs_[x].weight >= runs_[y].weight) ? x : y;
    };
    uint32_t top = none;
    for (uint32_t i = 0; i < runs_.size(); ++i) {
        Run &run = runs_[i];
        for (auto at = rank(run.block.b); at > 0; at -= at & -at)
            run.before = heavier(run.before, best_[static_cast<size_t>(at)]);
        run.weight = run.block.size + (run.before == none ? 0 : runs_[run.before].weight);
        for (auto at = rank(last_b(run)) + 1; at < static_cast<ptrdiff_t>(best_.size()); at += at & -at)
            best_[static_cast<size_t>(at)] = heavier(best_[static_cast<size_t>(at)], i);
        top = heavier(top, i);
    }
    for (; top != none; top = runs_[top].before) out.push_back(runs_[top].block);
    std::reverse(out.begin(), out.end());
}

}  // namespace neardup
