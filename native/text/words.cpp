#include "text/words.hpp"

#include <algorithm>
#include <bit>

#include "text/edges.hpp"
#include "text/run_hashes.hpp"
#include "text/utf8.hpp"

namespace neardup {

namespace {

constexpr uint64_t high_bits = 0x8080808080808080ull;

// Loads the same bytes as padded_word_hash, so that the compiler shares the loads.
NEARDUP_INLINE bool is_ascii(const uint8_t *p, size_t size) {
    using word_hash_detail::masks;
    if (size > 16) return std::none_of(p, p + size, [](uint8_t c) { return c & 0x80; });
    return !(((load64_le(p) & masks.lo[size]) | (load64_le(p + 8) & masks.hi[size])) & high_bits);
}

// Most runs are words of one alphabet. Only lead bytes are examined, because ASCII in a run is ordinary.
bool is_ordinary(const uint8_t *p, size_t size) {
    using word_hash_detail::masks;
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t bytes = load64_le(p + i) & masks.lo[std::min<size_t>(size - i, 8)];
        for (uint64_t leads = bytes & bytes << 1 & high_bits; leads; leads &= leads - 1) {
            const Decoded c = decode_valid(p + i + std::countr_zero(leads) / 8);
            const uint8_t kind = unicode::record(c.cp).kind;
            if (kind != unicode::ordinary && kind != unicode::mark) return false;
        }
    }
    return true;
}

// The kind as which a character of each kind acts at the start of a run.
constexpr uint8_t without_base[] = {unicode::separator, unicode::ordinary, unicode::spaceless, unicode::ordinary,
                                    unicode::spaceless};

struct HashSink {
    std::vector<uint64_t> &out;
    const uint8_t *after;  // the end of the text; bytes after it, usually the next text, are prefetched
    SequenceDigest *digest;
    uint64_t *next = out.data();
    size_t digested = 0;

    size_t count() const { return static_cast<size_t>(next - out.data()); }
    void reserve(size_t more) {
        const size_t used = count();
        if (out.size() < used + more) out.resize(std::max(out.size() * 2, used + more));
        next = out.data() + used;
    }
    void operator()(const uint8_t *p, size_t size) { *next++ = padded_word_hash(p, size); }
    void runs(const uint8_t *base, const uint16_t *edges, size_t runs) {
        fetch(after, Edges::window);
        after += Edges::window;
        if (!digest) {
            next = hash_runs(base, edges, runs, next);
            return;
        }
        next = hash_runs(base, edges, runs, next, *digest, out.data() + digested);
        digested += runs / kHashedTogether * kHashedTogether;
    }
    void finish() {
        out.resize(count());
        if (digest) digest->add(out.data() + digested, out.size() - digested);
    }
};

struct PlaceSink {
    const uint8_t *text;  // normalised
    std::vector<uint64_t> &hashes;
    std::vector<Place> &places;
    size_t count = 0;

    // From the size for the text before, because a vector that grows is filled with zeros first.
    void reserve(size_t more) {
        const size_t least = std::min(hashes.size(), places.size());
        const size_t size = least < count + more ? std::max(least * 2, count + more) : least;
        hashes.resize(size);
        places.resize(size);
    }
    void operator()(const uint8_t *p, size_t size) {
        const auto begin = static_cast<size_t>(p - text);
        hashes[count] = padded_word_hash(p, size);
        places[count++] = {begin, begin + size};
    }
    void runs(const uint8_t *base, const uint16_t *edges, size_t runs) {
        const auto from = static_cast<size_t>(base - text);
        hash_runs(base, edges, runs, hashes.data() + count);
        Place *out = places.data() + count;
        for (size_t i = 0; i < runs; ++i) out[i] = {from + edges[2 * i], from + edges[2 * i + 1]};
        count += runs;
    }
    void finish() {
        hashes.resize(count);
        places.resize(count);
    }
};

// Turns positions in the normalised text into positions in the original text. Begins never decrease, nor do ends.
void trace(const std::vector<Piece> &pieces, std::vector<Place> &places) {
    if (pieces.size() == 1 && !pieces[0].taken && pieces[0].in == pieces[0].out) return;
    size_t first = 0, last = 0;
    const auto piece_of = [&](size_t at, size_t &i) -> const Piece & {
        while (i + 1 < pieces.size() && pieces[i + 1].out <= at) ++i;
        return pieces[i];
    };
    for (Place &place : places) {
        const Piece &from = piece_of(place.begin, first), &to = piece_of(place.end - 1, last);
        place.begin = from.in + (from.taken ? 0 : place.begin - from.out);
        place.end = to.in + (to.taken ? to.taken : place.end - to.out);
    }
}

struct WordSink {
    std::vector<uint8_t> &bytes;
    std::vector<int64_t> &ends;

    void reserve(size_t) {}
    void operator()(const uint8_t *p, size_t size) {
        bytes.insert(bytes.end(), p, p + size);
        ends.push_back(static_cast<int64_t>(bytes.size()));
    }
};

// Words are read from the normalised text in order, so the bytes between two words can be examined.
struct NeighbourSink {
    bool (*joins)(uint8_t);
    WordSink to;
    const uint8_t *last = nullptr;  // where the word before ended

    void reserve(size_t) {}
    void operator()(const uint8_t *p, size_t size) {
        if (last && p == last + 1 && joins(*last)) {
            to.ends.pop_back();
            to(last, size + 1);
        } else {
            to(p, size);
        }
        last = p + size;
    }
};

struct JoinSink {
    std::vector<uint8_t> &out;

    void reserve(size_t) {}
    void operator()(const uint8_t *p, size_t size) {
        if (!out.empty()) out.push_back(' ');
        out.insert(out.end(), p, p + size);
    }
};

// Reads one run of a script without spaces and emits a bigram whenever a unit begins.
struct Units {
    const uint8_t *before = nullptr, *current = nullptr;
    bool two = false;

    template <typename Sink>
    void begin(const uint8_t *p, Sink &sink) {
        if (two) sink(before, static_cast<size_t>(p - before));
        two = current != nullptr;
        before = current;
        current = p;
    }
    template <typename Sink>
    void end(const uint8_t *p, Sink &sink) {
        const uint8_t *from = two ? before : current;
        sink(from, static_cast<size_t>(p - from));
        *this = {};
    }
};

TextOptions dropping_nothing(TextOptions options) {
    options.digits = TextOptions::Digits::keep;
    options.punctuation = TextOptions::Punctuation::split;
    return options;
}

void collapse(const uint8_t *p, const uint8_t *end, std::vector<uint8_t> &out) {
    bool space = false, any = false;
    while (p < end) {
        const Decoded c = decode_valid(p);
        if (unicode::record(c.cp).flags & unicode::white) {
            space = any;
        } else {
            if (space) out.push_back(' ');
            out.insert(out.end(), p, p + c.size);
            space = false;
            any = true;
        }
        p += c.size;
    }
}

}  // namespace

Tokenizer::Tokenizer(const TextOptions &options, const WordMap *map)
    : normaliser_(options, true), plain_(dropping_nothing(options), false), map_(map) {}

// Reads a run between ASCII separators that contains other characters.
template <typename Sink>
void Tokenizer::mixed_run(const uint8_t *p, const uint8_t *end, Sink &&sink) {
    using namespace unicode;
    if (const size_t size = static_cast<size_t>(end - p); is_ordinary(p, size)) return sink(p, size);
    uint8_t state = separator;
    const uint8_t *start = p;
    Units units;
    const auto close = [&](const uint8_t *at) {
        if (state == ordinary) sink(start, static_cast<size_t>(at - start));
        if (state == spaceless) units.end(at, sink);
    };
    while (p < end) {
        const Decoded c = decode_valid(p);
        const Record &r = record(c.cp);
        const bool goes_on = is_mark(r) && state != separator;
        const uint8_t kind = goes_on ? state : without_base[r.kind];
        if (kind != state) {
            close(p);
            state = kind;
            start = p;
        }
        if (state == spaceless && !goes_on) units.begin(p, sink);
        p += c.size;
    }
    close(end);
}

template <typename Sink>
void Tokenizer::each_word(Sink &&sink) {
    const bool runs_are_words = normaliser_.runs_are_words();
    Edges edges(normaliser_.data(), normaliser_.size());
    while (edges.next()) {
        const uint16_t *edge = edges.begin();
        size_t n = edges.pairs();
        sink.reserve(n);
        const auto run = [&](const uint8_t *p, const uint8_t *end) {
            const auto size = static_cast<size_t>(end - p);
            if (runs_are_words || is_ascii(p, size)) [[likely]] {
                sink(p, size);
            } else {
                sink.reserve(size + n);
                mixed_run(p, end, sink);
            }
        };
        if (const uint8_t *from = edges.carried()) {
            run(from, edges.base() + edge[1]);
            edge += 2;
            --n;
        }
        if constexpr (requires { sink.runs(edges.base(), edge, n); }) {
            if (runs_are_words) {
                sink.runs(edges.base(), edge, n);
                continue;
            }
        }
        for (size_t i = 0; i < n; ++i, edge += 2) run(edges.base() + edge[0], edges.base() + edge[1]);
    }
}

void Tokenizer::hashes(const uint8_t *text, size_t size, std::vector<uint64_t> &out, SequenceDigest *digest) {
    normaliser_.run(text, size);
    HashSink sink{out, text + size, map_ ? nullptr : digest};
    each_word(sink);
    sink.finish();
    if (!map_) return;
    apply_map(out);
    if (digest) digest->add(out.data(), out.size());
}

void Tokenizer::apply_map(std::vector<uint64_t> &hashes) const {
    size_t kept = 0;
    for (uint64_t word : hashes) {
        hashes[kept] = (*map_)(word);
        kept += hashes[kept] != WordMap::drop;
    }
    hashes.resize(kept);
}

void Tokenizer::spans(const uint8_t *text, size_t size, std::vector<uint64_t> &hashes, std::vector<Place> &places) {
    normaliser_.run(text, size, &pieces_);
    PlaceSink sink{normaliser_.data(), hashes, places};
    each_word(sink);
    sink.finish();
    trace(pieces_, places);
    if (map_) apply_map(hashes, places);
}

void Tokenizer::apply_map(std::vector<uint64_t> &hashes, std::vector<Place> &places) const {
    size_t kept = 0;
    for (size_t i = 0; i < hashes.size(); ++i) {
        hashes[kept] = (*map_)(hashes[i]);
        places[kept] = places[i];
        kept += hashes[kept] != WordMap::drop;
    }
    hashes.resize(kept);
    places.resize(kept);
}

void Tokenizer::words(const uint8_t *text, size_t size, std::vector<uint8_t> &bytes, std::vector<int64_t> &ends) {
    normaliser_.run(text, size);
    each_word(WordSink{bytes, ends});
}

void Tokenizer::joined_words(const uint8_t *text, size_t size, bool (*joins)(uint8_t), std::vector<uint8_t> &bytes,
                             std::vector<int64_t> &ends) {
    normaliser_.run(text, size);
    each_word(NeighbourSink{joins, WordSink{bytes, ends}});
}

void Tokenizer::normal_form(const uint8_t *text, size_t size, std::vector<uint8_t> &out) {
    normaliser_.run(text, size);
    out.clear();
    each_word(JoinSink{out});
    if (!out.empty()) return;
    plain_.run(text, size);
    collapse(plain_.data(), plain_.data() + plain_.size(), out);
}

}  // namespace neardup
