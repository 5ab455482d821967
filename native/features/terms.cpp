#include "features/terms.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "text/utf8.hpp"

namespace neardup {
namespace {

constexpr uint32_t kFewestLetters = 3;

}  // namespace

bool TermReader::is_term(std::string_view word) const {
    if (filter_ != TermFilter::alpha) return true;
    uint32_t letters = 0;
    bool spaceless = false;
    const auto *p = reinterpret_cast<const uint8_t *>(word.data()), *end = p + word.size();
    while (p < end) {
        const Decoded c = decode_valid(p);
        const unicode::Record &r = unicode::record(c.cp);
        if (r.flags & unicode::digit) return false;
        spaceless |= r.kind == unicode::spaceless;
        letters += !unicode::is_mark(r);
        p += c.size;
    }
    return spaceless || letters >= kFewestLetters;
}

void TermReader::hashes(const uint8_t *text, size_t size, std::vector<uint64_t> &out) {
    if (filter_ == TermFilter::words) return tokenizer_.hashes(text, size, out);
    out.clear();
    each(text, size, [&](std::string_view word, uint32_t) { out.push_back(term_hash(word)); });
}

TermCounts::Entry &TermCounts::entry(std::string_view term, uint64_t hash) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at]; at = (at + 1) & (slots_.size() - 1))
        if (Entry &e = entries_[slots_[at] - 1]; e.hash == hash) return e;
    entries_.push_back({hash, arena_.size(), static_cast<uint32_t>(term.size()), 0, 0});
    arena_.insert(arena_.end(), term.begin(), term.end());
    slots_[at] = static_cast<uint32_t>(entries_.size());
    return entries_.back();
}

void TermCounts::grow() {
    slots_.assign(slots_.size() * 4, 0);
    for (size_t i = 0; i < entries_.size(); ++i) {
        size_t at = entries_[i].hash & (slots_.size() - 1);
        while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = static_cast<uint32_t>(i + 1);
    }
}

void TermCounts::add(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                     TermFilter filter) {
    TermReader reader(options, filter);
    for (size_t d = 0; d < documents; ++d) {
        const auto now = static_cast<uint32_t>(++documents_);
        reader.each(values + offsets[d], static_cast<size_t>(offsets[d + 1] - offsets[d]),
                    [&](std::string_view word, uint32_t) {
                        Entry &e = entry(word, term_hash(word));
                        e.count += e.last != now;
                        e.last = now;
                    });
    }
}

void TermCounts::merge(const TermCounts &other) {
    for (const Entry &e : other.entries_) entry(other.term(e), e.hash).count += e.count;
    documents_ += other.documents_;
}

void TermCounts::add_counted(const uint8_t *bytes, const int64_t *ends, const uint32_t *counts, size_t terms) {
    for (size_t i = 0; i < terms; ++i) {
        const std::string_view term(reinterpret_cast<const char *>(bytes) + ends[i],
                                    static_cast<size_t>(ends[i + 1] - ends[i]));
        entry(term, term_hash(term)).count += counts[i];
    }
}

void TermCounts::sorted(std::vector<uint8_t> &bytes, std::vector<int64_t> &ends, std::vector<uint32_t> &counts) const {
    std::vector<uint32_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const Entry &x = entries_[a], &y = entries_[b];
        return x.count != y.count ? x.count < y.count : term(x) < term(y);
    });
    ends.push_back(0);
    bytes.reserve(arena_.size());
    for (uint32_t i : order) {
        const std::string_view word = term(entries_[i]);
        bytes.insert(bytes.end(), word.begin(), word.end());
        ends.push_back(static_cast<int64_t>(bytes.size()));
        counts.push_back(entries_[i].count);
    }
}

TermTable::TermTable(const uint8_t *bytes, const int64_t *ends, size_t terms)
    : mask_(std::bit_ceil(terms * 2 + 2) - 1), slots_(mask_ + 1) {
    for (size_t i = 0; i < terms; ++i) {
        const uint64_t hash = word_hash(bytes + ends[i], static_cast<size_t>(ends[i + 1] - ends[i]));
        size_t at = hash & mask_;
        while (slots_[at].rank != unknown) at = (at + 1) & mask_;
        slots_[at] = {hash, static_cast<uint32_t>(i)};
    }
}

uint32_t TermTable::rank(uint64_t hash) const {
    size_t at = hash & mask_;
    while (slots_[at].rank != unknown && slots_[at].hash != hash) at = (at + 1) & mask_;
    return slots_[at].rank;
}

void TermTable::prefetch(uint64_t hash) const {
#if defined(__GNUC__)
    __builtin_prefetch(&slots_[hash & mask_]);
#else
    (void)hash;
#endif
}

void document_terms(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                    TermFilter filter, const TermTable &table, uint32_t low, uint32_t high, DocumentTerms &out) {
    TermReader reader(options, filter);
    std::vector<uint64_t> found;  // rank in the upper half, position in the lower
    for (size_t d = 0; d < documents; ++d) {
        found.clear();
        out.tokens.push_back(reader.each(values + offsets[d], static_cast<size_t>(offsets[d + 1] - offsets[d]),
                                         [&](std::string_view word, uint32_t position) {
                                             const uint32_t rank = table.rank(term_hash(word));
                                             if (rank >= low && rank < high)
                                                 found.push_back(uint64_t{rank} << 32 | position);
                                         }));
        std::sort(found.begin(), found.end());
        for (size_t i = 0; i < found.size(); ++i) {
            const auto rank = static_cast<uint32_t>(found[i] >> 32);
            if (i && static_cast<uint32_t>(found[i - 1] >> 32) == rank) {
                ++out.counts.back();
                continue;
            }
            out.ranks.push_back(rank);
            out.counts.push_back(1);
            out.first.push_back(static_cast<uint32_t>(found[i]));
        }
        out.ends.push_back(static_cast<int64_t>(out.ranks.size()));
    }
}

void terms_of_words(const uint64_t *words, const int64_t *offsets, size_t documents, const TermTable &table, uint32_t low,
                    uint32_t high, uint32_t most, DocumentTerms &out) {
    constexpr int64_t ahead = 24;  // a table of a million terms is not in cache
    std::vector<uint64_t> seen(high > low ? high - low : 0);  // by rank: the last document, from 1, and its index there
    std::vector<uint64_t> found;                              // rank in the upper half, index into `counts` below
    std::vector<uint32_t> counts, first;
    for (size_t d = 0; d < documents; ++d) {
        found.clear(), counts.clear(), first.clear();
        const int64_t begin = offsets[d], end = std::min(offsets[d + 1], begin + int64_t{UINT32_MAX});
        for (int64_t i = begin; i < end; ++i) {
            if (i + ahead < end) table.prefetch(words[i + ahead]);
            const uint32_t rank = table.rank(words[i]);
            if (rank < low || rank >= high) continue;
            uint64_t &last = seen[rank - low];
            if (last >> 32 == d + 1) {
                ++counts[last & 0xffffffffu];
                continue;
            }
            last = (d + 1) << 32 | found.size();
            found.push_back(uint64_t{rank} << 32 | found.size());
            counts.push_back(1);
            first.push_back(static_cast<uint32_t>(i - begin));
        }
        const size_t kept = std::min<size_t>(most, found.size());
        const auto middle = found.begin() + static_cast<ptrdiff_t>(kept);
        if (kept < found.size()) std::nth_element(found.begin(), middle, found.end());
        std::sort(found.begin(), middle);
        for (size_t i = 0; i < kept; ++i) {
            out.ranks.push_back(static_cast<uint32_t>(found[i] >> 32));
            out.counts.push_back(counts[found[i] & 0xffffffffu]);
            out.first.push_back(first[found[i] & 0xffffffffu]);
        }
        out.ends.push_back(static_cast<int64_t>(out.ranks.size()));
        out.tokens.push_back(static_cast<uint32_t>(end - begin));
    }
}

}  // namespace neardup
