#include "matching/near_bits.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

constexpr size_t kBrute = 192;       // runs up to this long are compared all with all
constexpr int kMostBucketBits = 18;  // counters that stay in the second cache

struct Entry {
    uint64_t key;
    uint32_t place;
};

// Keys are mixed, so leading bits part them evenly and what is left for the sort is short.
void sort_by_key(std::vector<Entry> &entries, std::vector<Entry> &scratch) {
    const int bits = std::clamp<int>(std::bit_width(entries.size()) - 3, 1, kMostBucketBits);
    std::vector<size_t> ends((size_t{1} << bits) + 1, 0);
    for (const Entry &e : entries) ++ends[(e.key >> (64 - bits)) + 1];
    for (size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
    scratch.resize(entries.size());
    for (const Entry &e : entries) scratch[ends[e.key >> (64 - bits)]++] = e;
    entries.swap(scratch);
    size_t begin = 0;
    for (size_t b = 0; b + 1 < ends.size(); ++b) {
        std::sort(entries.begin() + static_cast<ptrdiff_t>(begin), entries.begin() + static_cast<ptrdiff_t>(ends[b]),
                  [](const Entry &x, const Entry &y) { return x.key != y.key ? x.key < y.key : x.place < y.place; });
        begin = ends[b];
    }
}

template <typename Run>
void each_run(const std::vector<Entry> &entries, Run &&run) {
    for (size_t i = 0, j; i < entries.size(); i = j) {
        for (j = i + 1; j < entries.size() && entries[j].key == entries[i].key;) ++j;
        if (j - i > 1) run(entries.data() + i, j - i);
    }
}

class Table {
  public:
    Table(std::span<const uint64_t> values, std::span<const int64_t> codes, const BitTables &tables, size_t table,
          size_t most_pairs, NearPairs &out)
        : values_(values), codes_(codes), tables_(tables), table_(table), most_(most_pairs), out_(out) {}

    void run() {
        const size_t documents = values_.size() / tables_.lanes;
        std::vector<Entry> entries(documents), scratch;
        for (size_t d = 0; d < documents; ++d)
            entries[d] = {masked_key(d, mask(table_)) ^ code_key(d), static_cast<uint32_t>(d)};
        sort_by_key(entries, scratch);
        each_run(entries, [&](const Entry *first, size_t size) { near_in(first, size); });
    }

  private:
    const uint64_t *mask(size_t table) const { return tables_.masks.data() + table * tables_.lanes; }

    uint64_t masked_key(size_t d, const uint64_t *mask) const {
        uint64_t key = kSecret[0];
        for (size_t l = 0; l < tables_.lanes; ++l) key = scramble(key ^ (values_[d * tables_.lanes + l] & mask[l]));
        return key;
    }
    uint64_t code_key(size_t d) const {
        return codes_.empty() ? 0 : scramble(static_cast<uint64_t>(codes_[d]) + kSecret[2]);
    }
    bool agree(size_t x, size_t y, const uint64_t *mask) const {
        for (size_t l = 0; l < tables_.lanes; ++l)
            if ((values_[x * tables_.lanes + l] ^ values_[y * tables_.lanes + l]) & mask[l]) return false;
        return true;
    }
    bool near(size_t x, size_t y) const {
        uint32_t differ = 0;
        for (size_t l = 0; l < tables_.lanes; ++l)
            differ += counted_ones(values_[x * tables_.lanes + l] ^ values_[y * tables_.lanes + l]);
        return differ <= tables_.k;
    }
    bool met_before(size_t x, size_t y) const {
        for (size_t t = 0; t < table_; ++t)
            if (agree(x, y, mask(t))) return true;
        return false;
    }
    // Keys are hashes: that two places share one says only that they very likely agree.
    void compare(size_t x, size_t y) {
        if (!near(x, y) || !agree(x, y, mask(table_)) || met_before(x, y)) return;
        if (!codes_.empty() && codes_[x] != codes_[y]) return;
        out_.a.push_back(static_cast<int64_t>(std::min(x, y)));
        out_.b.push_back(static_cast<int64_t>(std::max(x, y)));
    }

    // Documents of one key. More near pairs than are wanted, and they are handed over as a crowd.
    void near_in(const Entry *first, size_t size) {
        const size_t before = out_.a.size();
        const bool all = size <= kBrute ? brute(first, size) : divided(first, size);
        if (all) return;
        out_.a.resize(before);
        out_.b.resize(before);
        for (size_t i = 0; i < size; ++i) out_.members.push_back(first[i].place);
        out_.ends.push_back(static_cast<int64_t>(out_.members.size()));
    }
    bool brute(const Entry *first, size_t size) {
        for (size_t i = 0; i < size; ++i) {
            for (size_t j = i + 1; j < size; ++j) compare(first[i].place, first[j].place);
            if (out_.a.size() > most_) return false;
        }
        return true;
    }
    // The bits outside the mask in k + 1 blocks: near ones agree in one of them, and are compared there.
    bool divided(const Entry *first, size_t size) {
        const std::vector<uint64_t> blocks = free_blocks();
        std::vector<Entry> entries(first, first + size), scratch;
        bool all = true;
        for (size_t block = 0; all && block <= tables_.k; ++block) {
            const uint64_t *mask = blocks.data() + block * tables_.lanes;
            for (Entry &e : entries) e.key = masked_key(e.place, mask);
            sort_by_key(entries, scratch);
            each_run(entries, [&](const Entry *run, size_t length) {
                for (size_t i = 0; all && i < length; ++i) {
                    for (size_t j = i + 1; j < length; ++j)
                        if (!agree_earlier(run[i].place, run[j].place, blocks, block))
                            compare(run[i].place, run[j].place);
                    all = out_.a.size() <= most_;
                }
            });
        }
        return all;
    }
    bool agree_earlier(size_t x, size_t y, const std::vector<uint64_t> &blocks, size_t block) const {
        for (size_t b = 0; b < block; ++b)
            if (agree(x, y, blocks.data() + b * tables_.lanes)) return true;
        return false;
    }
    std::vector<uint64_t> free_blocks() const {
        std::vector<uint64_t> blocks((tables_.k + 1) * tables_.lanes, 0);
        size_t next = 0;
        for (size_t bit = 0; bit < 64 * tables_.lanes; ++bit) {
            const uint64_t one = uint64_t{1} << (bit % 64);
            if (mask(table_)[bit / 64] & one) continue;
            blocks[next++ % (tables_.k + 1) * tables_.lanes + bit / 64] |= one;
        }
        return blocks;
    }

    std::span<const uint64_t> values_;
    std::span<const int64_t> codes_;
    const BitTables &tables_;
    size_t table_, most_;
    NearPairs &out_;
};

}  // namespace

void near_pairs(std::span<const uint64_t> values, std::span<const int64_t> codes, const BitTables &tables, size_t table,
                size_t most_pairs, NearPairs &out) {
    Table(values, codes, tables, table, most_pairs, out).run();
}

void bit_distances(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   int64_t *out) {
    for (size_t i = 0; i < pairs; ++i) {
        const uint64_t *x = values + offsets[a[i]], *y = values + offsets[b[i]];
        int64_t differ = 0;
        for (int64_t l = 0; l < offsets[a[i] + 1] - offsets[a[i]]; ++l) differ += counted_ones(x[l] ^ y[l]);
        out[i] = differ;
    }
}

}  // namespace neardup
