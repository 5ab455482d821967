#include "passages/anchors.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"
#include "simd.hpp"

namespace neardup {

namespace {

constexpr size_t digest_bytes = 8, low_bytes = 2, document_bytes = 4;
constexpr int low_bits = anchor_bits - row_bits;

// Words are hashes already, so a multiplication spreads them over 64 bits.
NEARDUP_INLINE uint64_t spread(uint32_t word) { return word * kSecret[0]; }

// A cyclic polynomial (Cohen 1997) of the words of a gram, which is mixed afterwards.
uint64_t polynomial(const uint32_t *words, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; ++i) value = std::rotl(value, 1) ^ spread(words[i]);
    return value;
}

NEARDUP_INLINE uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 32) * kSecret[1];
    return x ^ x >> 29;
}

size_t entries_of(const Row &row) { return (row.size - digest_bytes) / (low_bytes + document_bytes); }

uint32_t low_at(const Row &row, size_t i) {
    const uint8_t *p = row.data + digest_bytes + low_bytes * i;
    return uint32_t{p[0]} | uint32_t{p[1]} << 8;
}

uint32_t document_at(const Row &row, size_t i) {
    const uint8_t *p = row.data + digest_bytes + low_bytes * entries_of(row) + document_bytes * i;
    return uint32_t{p[0]} | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
}

void put(uint64_t value, size_t bytes, std::vector<uint8_t> &out) {
    for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> 8 * i));
}

}  // namespace

void winnow(const uint32_t *words, uint32_t size, uint32_t gram, uint32_t window, std::vector<uint64_t> &hashes,
            std::vector<Sampled> &out) {
    out.clear();
    if (size < gram) return;
    const uint32_t grams = size - gram + 1;
    hashes.resize(grams);
    uint64_t rolling = polynomial(words, gram);
    hashes[0] = mixed(rolling);
    for (uint32_t i = 1; i < grams; ++i) {
        rolling = std::rotl(rolling, 1) ^ std::rotl(spread(words[i - 1]), static_cast<int>(gram)) ^
                  spread(words[i + gram - 1]);
        hashes[i] = mixed(rolling);
    }
    window = std::min(window, grams);
    constexpr uint32_t none = UINT32_MAX;
    uint32_t least = none;  // the rightmost one with the smallest hash
    for (uint32_t end = window; end <= grams; ++end) {
        const uint32_t begin = end - window;
        if (least == none || least < begin) {
            least = begin;
            for (uint32_t i = begin + 1; i < end; ++i)
                if (hashes[i] <= hashes[least]) least = i;
        } else if (hashes[end - 1] <= hashes[least]) {
            least = end - 1;
        } else {
            continue;
        }
        out.push_back({least, hashes[least]});
    }
}

void AnchorTable::build() {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    const int bits = std::min(26, static_cast<int>(std::bit_width(pairs_.size())) + 1);
    shift_ = anchor_bits - bits;
    starts_.assign((size_t{1} << bits) + 1, 0);
    for (const auto &pair : pairs_) ++starts_[static_cast<size_t>(pair.first >> shift_) + 1];
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
}

void pack_rows(const uint64_t *postings, size_t size, uint64_t first, size_t count, std::vector<uint8_t> &values,
               std::vector<int64_t> &offsets) {
    values.reserve(size * (low_bytes + document_bytes) + count * digest_bytes);
    offsets.push_back(0);
    const uint64_t *at = postings, *end = postings + size;
    for (uint64_t number = first; number < first + count; ++number) {
        const uint64_t *until = std::find_if(
            at, end, [&](uint64_t posting) { return anchor_of_posting(posting) >> low_bits != number; });
        const size_t begin = values.size();
        values.resize(begin + digest_bytes);
        for (const uint64_t *p = at; p != until; ++p) put(anchor_of_posting(*p), low_bytes, values);
        for (const uint64_t *p = at; p != until; ++p)
            put(*p & ((uint64_t{1} << number_bits) - 1), document_bytes, values);
        const uint64_t digest =
            bytes_digest(values.data() + begin + digest_bytes, values.size() - begin - digest_bytes, number);
        for (size_t i = 0; i < digest_bytes; ++i) values[begin + i] = static_cast<uint8_t>(digest >> 8 * i);
        offsets.push_back(static_cast<int64_t>(values.size()));
        at = until;
    }
}

bool is_whole(const Row &row) {
    if (row.size < digest_bytes || (row.size - digest_bytes) % (low_bytes + document_bytes)) return false;
    return load64_le(row.data) == bytes_digest(row.data + digest_bytes, row.size - digest_bytes, row.number);
}

void unpack_row(const Row &row, std::vector<uint64_t> &postings) {
    for (size_t i = 0; i < entries_of(row); ++i)
        postings.push_back((row.number << low_bits | low_at(row, i)) << number_bits | document_at(row, i));
}

void find_in_row(const Row &row, const uint64_t *anchors, size_t count, std::vector<uint32_t> &documents) {
    const size_t entries = entries_of(row);
    const uint64_t *anchor = std::lower_bound(anchors, anchors + count, row.number << low_bits);
    for (; anchor != anchors + count && *anchor >> low_bits == row.number; ++anchor) {
        const auto low = static_cast<uint32_t>(*anchor & ((uint32_t{1} << low_bits) - 1));
        size_t from = 0, to = entries;
        while (from < to) {
            const size_t middle = (from + to) / 2;
            if (low_at(row, middle) < low)
                from = middle + 1;
            else
                to = middle;
        }
        for (; from < entries && low_at(row, from) == low; ++from) documents.push_back(document_at(row, from));
    }
}

}  // namespace neardup
