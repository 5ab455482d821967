// Coverage-guided inputs for every kernel, under ASan and UBSan: `make fuzz`.
//
// The first byte of an input chooses the kernel, the second its settings, and the rest is cut into documents at 0x1F.
// Bytes, words, feature sets and weighted sets are derived from these documents, valid as Python hands them over, in
// memory of exactly their size. Each kernel runs with portable instructions and with those of another level: what it returns is
// folded into one number, and two numbers that differ abort the process like a sanitizer does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>

#include "decisions/differences.hpp"
#include "decisions/typography.hpp"
#include "documents/csv.hpp"
#include "documents/id_set.hpp"
#include "documents/jsonl.hpp"
#include "documents/lines.hpp"
#include "features/aligned.hpp"
#include "features/slot_counts.hpp"
#include "features/minhash.hpp"
#include "features/numbers.hpp"
#include "features/overlap.hpp"
#include "features/parity.hpp"
#include "features/profiles.hpp"
#include "features/gram_samples.hpp"
#include "features/qgrams.hpp"
#include "features/shingles.hpp"
#include "features/sketch.hpp"
#include "features/spots.hpp"
#include "features/terms.hpp"
#include "hash.hpp"
#include "matching/average_link.hpp"
#include "matching/gather.hpp"
#include "matching/greedy.hpp"
#include "matching/group_pairs.hpp"
#include "matching/groups.hpp"
#include "matching/hot_walk.hpp"
#include "matching/meetings.hpp"
#include "matching/near_bits.hpp"
#include "matching/paths.hpp"
#include "matching/rare.hpp"
#include "matching/sharing.hpp"
#include "methods/fingerprint.hpp"
#include "methods/imatch.hpp"
#include "methods/keywords.hpp"
#include "methods/learned.hpp"
#include "methods/raregrams.hpp"
#include "methods/reading.hpp"
#include "methods/shingles.hpp"
#include "methods/simhash.hpp"
#include "methods/termvector.hpp"
#include "online/bitmap_window.hpp"
#include "online/postings.hpp"
#include "passages/anchors.hpp"
#include "passages/copies.hpp"
#include "passages/units.hpp"
#include "simd.hpp"
#include "text/alignment.hpp"
#include "text/recognition.hpp"
#include "text/sentences.hpp"
#include "text/words.hpp"

namespace {

using namespace neardup;
using Offsets = std::vector<int64_t>;

// What kernels returned, as one number.
class Digest {
  public:
    template <typename T>
    void add(const std::vector<T> &values) {
        add(values.data(), values.size() * sizeof(T));
    }
    void add(const void *bytes, size_t size) {
        value_ = fold_multiply(value_ ^ bytes_digest(static_cast<const uint8_t *>(bytes), size, size), kSecret[1]);
    }
    void add(uint64_t number) { add(&number, sizeof number); }
    uint64_t value() const { return value_; }

  private:
    uint64_t value_ = 0;
};

void need(bool held, const char *what) {
    if (held) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}

// Documents as kernels get them: values and offsets.
template <typename T>
struct Rows {
    std::vector<T> values;
    Offsets offsets{0};

    void close() { offsets.push_back(static_cast<int64_t>(values.size())); }
    size_t size() const { return offsets.size() - 1; }
    const T *begin(size_t d) const { return values.data() + offsets[d]; }
    size_t length(size_t d) const { return static_cast<size_t>(offsets[d + 1] - offsets[d]); }
    void fit() {
        values = std::vector<T>(values);  // no room behind the last value that a kernel could read unseen
        offsets = Offsets(offsets);
    }
};

constexpr size_t kMostDocuments = 8;

struct Input {
    uint8_t settings;
    std::string bytes;
    Rows<uint8_t> texts;
    Offsets a, b;  // every pair of documents

    Input(const uint8_t *data, size_t size) : settings(data[1]), bytes(data + 2, data + size) {
        bytes.shrink_to_fit();
        for (const char c : bytes) {
            if (c == 0x1F && texts.size() + 1 < kMostDocuments) texts.close();
            else texts.values.push_back(static_cast<uint8_t>(c));
        }
        texts.close();
        texts.fit();
        for (int64_t i = 0; i < static_cast<int64_t>(texts.size()); ++i)
            for (int64_t j = 0; j < static_cast<int64_t>(texts.size()); ++j) a.push_back(i), b.push_back(j);
    }
    bool flag(int bit) const { return settings >> bit & 1; }
    uint32_t number(int bit, uint32_t width) const { return settings >> bit & ((1u << width) - 1); }
    TextOptions options() const {
        return {flag(0), static_cast<TextOptions::Digits>(number(1, 2) % 3), static_cast<TextOptions::Punctuation>(number(3, 1)),
                flag(4)};
    }
    // Each byte is a word, so that documents share words.
    Rows<uint64_t> words() const {
        Rows<uint64_t> out;
        for (size_t d = 0; d < texts.size(); ++d) {
            for (size_t i = 0; i < texts.length(d); ++i) out.values.push_back(scramble(texts.begin(d)[i] + 1));
            out.close();
        }
        out.fit();
        return out;
    }
    // Sorted, without repeats.
    Rows<uint32_t> sets() const { return distinct<uint32_t>([](uint8_t c) { return static_cast<uint32_t>(scramble(c + 1)); }); }
    // feature << 32 | weight << 2 | class, by feature.
    Rows<uint64_t> weighted() const {
        return distinct<uint64_t>([](uint8_t c) { return (scramble(c + 1) & 0xffffffff00000000) | c * 5u; });
    }
    // A head of counts, then the entries of each family.
    Rows<uint64_t> profiles(size_t families) const {
        const Rows<uint64_t> plain = weighted();
        Rows<uint64_t> out;
        for (size_t d = 0; d < plain.size(); ++d) {
            const size_t size = plain.length(d), share = size / families;
            for (size_t f = 0; f < families; ++f) out.values.push_back(f + 1 < families ? share : size - f * share);
            out.values.insert(out.values.end(), plain.begin(d), plain.begin(d) + size);
            out.close();
        }
        out.fit();
        return out;
    }
    std::vector<int32_t> probes(const Offsets &offsets) const {
        std::vector<int32_t> out;
        for (size_t d = 0; d + 1 < offsets.size(); ++d)
            out.push_back(static_cast<int32_t>((offsets[d + 1] - offsets[d]) * (settings & 3) / 3));
        return out;
    }

  private:
    template <typename T, typename Make>
    Rows<T> distinct(Make make) const {
        Rows<T> out;
        for (size_t d = 0; d < texts.size(); ++d) {
            std::vector<T> one;
            for (size_t i = 0; i < texts.length(d); ++i) one.push_back(make(texts.begin(d)[i]));
            std::sort(one.begin(), one.end());
            one.erase(std::unique(one.begin(), one.end()), one.end());
            out.values.insert(out.values.end(), one.begin(), one.end());
            out.close();
        }
        out.fit();
        return out;
    }
};

template <typename Sums>
void add_sums(Digest &out, const std::vector<Sums> &sums) {
    out.add(sums.data(), sums.size() * sizeof(Sums));
}

std::vector<uint32_t> multipliers(size_t count) {
    std::vector<uint32_t> out;
    for (size_t i = 0; i < count; ++i) out.push_back(static_cast<uint32_t>(scramble(i + 77)) | 1);
    return out;
}

template <typename Offset, typename Value>
void check_rows(const std::vector<Offset> &offsets, const std::vector<Value> &values) {
    need(std::is_sorted(offsets.begin(), offsets.end()), "offsets fall");
    need(offsets.empty() || static_cast<size_t>(offsets.back()) == values.size(), "the last offset is not the size");
}

// ---- documents

void jsonl_lines(const Input &in, Digest &out) {
    const std::vector<std::string> fields{"id", "text", "date"};
    const auto scan = jsonl::scan(in.bytes, fields, in.flag(0));
    for (const auto &field : scan.fields) {
        need(field.offsets.size() == scan.status.size() + 1, "a line without a field");
        out.add(field.types), out.add(field.offsets), out.add(field.values.data(), field.values.size());
    }
    out.add(scan.status), out.add(scan.position);
}

void csv_records(const Input &in, Digest &out) {
    const char delimiter = ",;\t|"[in.number(0, 2)];
    const auto scan = csv::scan(in.bytes, delimiter, {0, 2, 5});
    for (const auto &field : scan.fields) out.add(field.offsets), out.add(field.values.data(), field.values.size());
    out.add(scan.starts), out.add(scan.widths);
    const int64_t whole = csv::whole_records(in.bytes, delimiter);
    need(whole <= static_cast<int64_t>(in.bytes.size()), "whole records end behind the chunk");
}

void lines(const Input &in, Digest &out) {
    const std::vector<uint8_t> all(in.bytes.size() + 1, 1), some(in.bytes.size() / 2, in.settings & 1);
    const auto whole = select_lines(in.bytes, all, in.flag(0), true);
    need(in.bytes.empty() ? whole.runs.empty() : whole.runs.size() == 1 && whole.runs[0] == in.bytes,
         "keeping every line changes bytes");
    const auto part = select_lines(in.bytes, some, in.flag(0), in.flag(1));
    for (const auto run : part.runs) out.add(run.data(), run.size());
    const auto starts = line_starts(in.bytes);
    need(static_cast<int64_t>(starts.size()) == count_lines(in.bytes), "a line without a start");
    out.add(starts);
}

void ids(const Input &in, Digest &out) {
    const auto words = in.words();
    Offsets first(words.values.size());
    IdSet().add(words.values.data(), words.values.size(), first.data());
    for (size_t i = 0; i < first.size(); ++i) need(first[i] < static_cast<int64_t>(i), "an id before itself");
    out.add(first);
}

// ---- text

void words(const Input &in, Digest &out) {
    const auto some = in.words();
    const WordMap map(some.values.data(), some.values.data(), some.values.size());
    Tokenizer tokenizer(in.options(), in.flag(5) ? &map : nullptr);
    std::vector<uint64_t> hashes, again;
    std::vector<Place> places;
    std::vector<uint8_t> form, bytes;
    for (size_t d = 0; d < in.texts.size(); ++d) {
        const uint8_t *text = in.texts.begin(d);
        const size_t size = in.texts.length(d);
        tokenizer.hashes(text, size, hashes), tokenizer.spans(text, size, again, places);
        need(hashes == again, "spans and hashes differ");
        for (const Place &place : places) need(place.begin <= place.end && place.end <= size, "a word outside its text");
        tokenizer.normal_form(text, size, form);
        Offsets ends{0};
        bytes.clear();
        tokenizer.words(text, size, bytes, ends), tokenizer.joined_words(text, size, joins_term, bytes, ends);
        check_rows(ends, bytes);
        out.add(hashes), out.add(form), out.add(bytes);
    }
}

void sentences(const Input &in, Digest &out) {
    for (size_t d = 0; d < in.texts.size(); ++d) {
        const uint8_t *p = in.texts.begin(d), *end = p + in.texts.length(d);
        while (p < end) {
            const uint8_t *next = sentence_end(p, end);
            need(next > p && next <= end, "a sentence without a character");
            out.add(static_cast<uint64_t>(next - p)), out.add(static_cast<uint64_t>(line_breaks(p, next)));
            p = next;
        }
    }
}

void alignment(const Input &in, Digest &out) {
    Aligner aligner(in.options(), nullptr, nullptr, in.flag(6));
    CutText a, b;
    std::vector<Passage> passages;
    for (size_t d = 0; d + 1 < std::min<size_t>(in.texts.size(), 5); ++d) {
        aligner.cut(in.texts.begin(d), in.texts.length(d), a), aligner.cut(in.texts.begin(d + 1), in.texts.length(d + 1), b);
        passages.clear();
        aligner.align(a, b, passages);
        for (const Passage &passage : passages)
            need(passage.a.end <= a.size && passage.b.end <= b.size, "a passage outside its text");
        const auto measured = measure_differences(a, b, passages);
        out.add(static_cast<uint64_t>(measured.shared)), out.add(measured.counts.data(), sizeof measured.counts);
    }
}

void recognition(const Input &in, Digest &out) {
    static thread_local Recogniser recogniser;  // a table of all characters
    std::vector<uint8_t> a, b;
    Tokenizer tokenizer(in.options(), nullptr);
    for (size_t d = 0; d + 1 < in.texts.size(); ++d) {
        tokenizer.normal_form(in.texts.begin(d), in.texts.length(d), a);
        tokenizer.normal_form(in.texts.begin(d + 1), in.texts.length(d + 1), b);
        a.shrink_to_fit(), b.shrink_to_fit();
        const auto whole = recogniser.compare(a.data(), a.size(), b.data(), b.size(), 101);
        const auto some = recogniser.compare(a.data(), a.size(), b.data(), b.size(), in.number(0, 7));
        need(whole.found <= whole.pieces && some.found <= some.pieces, "more pieces found than there are");
        out.add(static_cast<uint64_t>(whole.found)), out.add(static_cast<uint64_t>(whole.pieces)), out.add(static_cast<uint64_t>(some.found));
    }
}

void matches(const Input &in, Digest &out) {
    const auto all = in.words();
    Matcher matcher;
    for (size_t d = 0; d + 1 < all.size(); ++d) {
        const WordRun a{all.begin(d), static_cast<uint32_t>(all.length(d))}, b{all.begin(d + 1), static_cast<uint32_t>(all.length(d + 1))};
        std::vector<Block> blocks, moved;
        matcher.in_order(a, b, in.flag(0), blocks), matcher.moved(a, b, blocks, moved);
        for (const auto *some : {&blocks, &moved})
            for (const Block &block : *some) {
                need(block.a + block.size <= a.size && block.b + block.size <= b.size, "a block outside its words");
                need(std::equal(a.data + block.a, a.data + block.a + block.size, b.data + block.b), "a block of unequal words");
            }
        add_sums(out, blocks), add_sums(out, moved);
    }
}

void typography(const Input &in, Digest &out) {
    for (size_t d = 0; d + 1 < in.texts.size(); ++d) {
        WrittenText text({reinterpret_cast<const char *>(in.texts.begin(d)), in.texts.length(d)});
        const auto size = static_cast<uint32_t>(in.texts.length(d)), from = std::min<uint32_t>(in.settings, size);
        const WrittenSide side{&text, from, size, 3, in.settings}, other{&text, 0, from, 3, 0};
        std::string read, plain;
        letters(side.bytes(), read), without_digits(read, plain);
        out.add(read.data(), read.size()), out.add(plain.data(), plain.size());
        out.add(static_cast<uint64_t>(more_characters(side, other))), out.add(written_lines(side).size());
        out.add(static_cast<uint64_t>(begins_line(side) | ends_line(side) << 1 | begins_a_paragraph(side) << 2 |
                                      ends_a_paragraph(side) << 3 | whole_paragraphs(side) << 4));
        const MenuEntries menu = menu_entries(side.bytes());
        out.add(menu.entries), out.add(static_cast<uint64_t>(short_lines(side.bytes(), in.settings)));
    }
}

// ---- features

void qgrams(const Input &in, Digest &out) {
    Qgrams grams(in.options(), 1 + in.number(5, 3), 1 + in.number(0, 1));
    GramSamples samples(in.options(), 1 + in.number(5, 3));
    std::vector<uint32_t> features;
    std::vector<uint64_t> sample;
    std::vector<uint8_t> form;
    for (size_t d = 0; d < in.texts.size(); ++d) {
        out.add(grams.append(in.texts.begin(d), in.texts.length(d), in.number(2, 3), features));
        out.add(samples.append(in.texts.begin(d), in.texts.length(d), 16, sample));
        grams.normal_form(in.texts.begin(d), in.texts.length(d), form);
        out.add(form);
    }
    out.add(features), out.add(sample);
}

void shingles(const Input &in, Digest &out) {
    const auto by = multipliers(32);
    const auto scheme = static_cast<KeyScheme>(in.number(5, 2) % 3);
    const ShingleSettings settings{1 + in.number(0, 3), in.number(3, 2), scheme, 8, 4, by, 1 + in.number(0, 2), 4, 64, {}};
    ShingleBatch batch;
    batch.feature_ends = batch.key_ends = {0};
    prepare_shingles(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), nullptr, settings, batch);
    check_rows(batch.feature_ends, batch.features), check_rows(batch.key_ends, batch.keys);
    ShingleReader reader(in.options(), nullptr, settings);
    for (size_t d = 0; d < in.texts.size(); ++d)
        need(reader.read(in.texts.begin(d), in.texts.length(d)).set_digests[0] == batch.set_digests[2 * d], "one and many differ");
    std::vector<uint32_t> signatures;
    shingle_signatures(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), nullptr,
                       settings.width, {}, by, signatures);
    out.add(batch.features), out.add(batch.keys), out.add(batch.set_digests), out.add(signatures);
}

void minima(const Input &in, Digest &out) {
    const auto sets = in.sets();
    const auto by = multipliers(32), plus = multipliers(32);
    std::vector<uint64_t> keys(sets.size() * 8), hashes;
    band_keys(sets.values.data(), sets.offsets.data(), sets.size(), by.data(), by.size(), 8, 4, keys.data());
    const auto all = in.words();
    shingle_hashes(all.values.data(), all.values.size(), 1 + in.number(0, 5), hashes);
    std::vector<uint32_t> least(by.size()), classic(by.size()), features, counts;
    minhash(hashes.data(), hashes.size(), by.data(), by.size(), least.data());
    classic_minhash(hashes.data(), hashes.size(), {by, plus}, classic.data());
    feature_set(hashes, features, counts);
    out.add(keys), out.add(least), out.add(classic), out.add(features);
}

void sketches(const Input &in, Digest &out) {
    const auto all = in.words();
    const auto by = multipliers(16), plus = multipliers(16);
    const Documents documents{all.values.data(), all.offsets.data(), all.size(), 1 + in.number(0, 3), {}};
    std::vector<uint32_t> minima, features;
    Offsets shingles, ends{0}, counts(in.a.size()), whole(in.a.size());
    sketch_minima(documents, {by, plus}, 16, minima, shingles);
    sample_features(documents, 1 + in.number(3, 3), in.number(6, 2) * 5, features, ends);
    check_rows(ends, features);
    bottom_overlaps(features.data(), ends.data(), in.a.data(), in.b.data(), 5, in.a.size(), counts.data(), whole.data());
    out.add(minima), out.add(shingles), out.add(features), out.add(counts), out.add(whole);
    common_values(in.weighted().values.data(), in.weighted().offsets.data(), in.a.data(), in.b.data(), 0, counts.data());
}

void spots(const Input &in, Digest &out) {
    const auto all = in.words();
    std::vector<uint64_t> antecedents{scramble('a' + 1), scramble(' ' + 1)};
    std::sort(antecedents.begin(), antecedents.end());
    Spots spots({1 + in.number(0, 3), 1 + in.number(3, 3), antecedents});
    std::vector<uint32_t> features;
    for (size_t d = 0; d < all.size(); ++d) spots.append(all.begin(d), all.length(d), features);
    out.add(features);
}

void overlap_of_sets(const Input &in, Digest &out) {
    const auto sets = in.sets();
    const auto weighted = in.weighted();
    const size_t pairs = in.a.size();
    const Offsets needed(pairs, in.number(0, 4));
    Offsets counts(pairs), weights(sets.size()), lone(sets.size()), noise(sets.size());
    std::vector<uint64_t> sums(pairs);
    std::vector<SharedByRarity> shared(pairs);
    std::vector<uint8_t> equal(pairs);
    overlaps(sets.values.data(), sets.offsets.data(), in.a.data(), in.b.data(), needed.data(), pairs, counts.data());
    for (size_t i = 0; i < pairs; ++i) {
        const auto a = static_cast<size_t>(in.a[i]), b = static_cast<size_t>(in.b[i]);
        std::vector<uint32_t> both;
        std::set_intersection(sets.begin(a), sets.begin(a) + sets.length(a), sets.begin(b), sets.begin(b) + sets.length(b),
                              std::back_inserter(both));
        const auto exact = static_cast<int64_t>(both.size());
        need(exact < needed[i] ? counts[i] < needed[i] : counts[i] == exact, "an overlap is wrong");
    }
    Offsets ordered(pairs);
    overlaps_in_order(weighted.values.data(), weighted.offsets.data(), in.a.data(), in.b.data(), needed.data(), pairs, ordered.data());
    weighted_overlaps(weighted.values.data(), weighted.offsets.data(), in.a.data(), in.b.data(), in.flag(0), pairs, sums.data());
    sizes_by_rarity(weighted.values.data(), weighted.offsets.data(), weighted.size(), weights.data(), lone.data(), noise.data());
    shared_by_rarity(weighted.values.data(), weighted.offsets.data(), weights.data(), in.a.data(), in.b.data(), needed.data(),
                     pairs, shared.data());
    equal_pairs(in.texts.values.data(), in.texts.offsets.data(), in.a.data(), in.b.data(), pairs, equal.data());
    out.add(ordered), out.add(sums), out.add(weights), out.add(equal), add_sums(out, shared);
}

void profile_rows(const Input &in, Digest &out) {
    const size_t families = 1 + in.number(0, 2), at = in.number(2, 3) % families;
    const auto rows = in.profiles(families);
    std::vector<FamilySums> sums(in.a.size() * families);
    std::vector<FamilySizes> sizes(rows.size() * families);
    std::vector<AlignedWords> aligned(in.a.size());
    compare_profiles(rows.values.data(), rows.offsets.data(), families, families, in.a.data(), in.b.data(), in.a.size(), sums.data());
    profile_sizes(rows.values.data(), rows.offsets.data(), families, families, rows.size(), sizes.data());
    align_profiles(rows.values.data(), rows.offsets.data(), families, at, in.a.data(), in.b.data(), in.a.size(), aligned.data());
    add_sums(out, sums), add_sums(out, sizes), add_sums(out, aligned);
}

// A stranger's signatures: heads that lie about what follows.
void foreign_profiles(const Input &in, Digest &out) {
    const size_t families = 1 + in.number(0, 3);
    const auto rows = in.words();
    std::vector<FamilySums> sums(in.a.size() * families);
    compare_profiles(rows.values.data(), rows.offsets.data(), families, families, in.a.data(), in.b.data(), in.a.size(), sums.data());
    add_sums(out, sums);
}

void terms(const Input &in, Digest &out) {
    const auto filter = static_cast<TermFilter>(in.number(5, 2) % 3);
    TermCounts counts, twice;
    counts.add(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), filter);
    twice.merge(counts), twice.merge(counts);
    std::vector<uint8_t> bytes, numbers(in.texts.size());
    std::vector<uint32_t> each;
    Offsets ends;
    twice.sorted(bytes, ends, each);
    check_rows(ends, bytes);
    const TermTable table(bytes.data(), ends.data(), ends.size() - 1);
    DocumentTerms found, short_;
    found.ends = short_.ends = {0};
    document_terms(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), filter, table, 0,
                   static_cast<uint32_t>(each.size()), found);
    check_rows(found.ends, found.ranks);
    const auto all = in.words();
    terms_of_words(all.values.data(), all.offsets.data(), all.size(), table, 0, static_cast<uint32_t>(each.size()), 4, short_);
    mostly_numbers(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), numbers.data());
    std::vector<uint64_t> hashes(each.size()), signatures, prints, entries, keys;
    std::iota(hashes.begin(), hashes.end(), 1u);
    imatch_signatures(found.ranks.data(), found.ends.data(), in.texts.size(), hashes.data(), {3, ~uint64_t{0} / 3, 5, 2}, signatures);
    fingerprints(found.ranks.data(), found.first.data(), found.ends.data(), in.texts.size(), 1 + in.number(0, 3), in.number(3, 2), prints);
    std::vector<uint32_t> days(in.texts.size(), 7), vectors;
    Offsets vector_ends{0}, key_ends{0}, keyword_ends{0}, sizes(in.texts.size(), 2), common(in.a.size()), needed(in.a.size());
    term_vectors(found.ranks.data(), found.ends.data(), days.data(), found.tokens.data(), in.texts.size(), 5, vectors, vector_ends);
    vector_keys(vectors.data(), vector_ends.data(), sizes.data(), in.texts.size(), in.flag(0), 0, 1, keys, key_ends);
    common_terms(vectors.data(), vector_ends.data(), in.a.data(), in.b.data(), in.a.size(), {}, common.data(), needed.data());
    const std::vector<uint32_t> idf(each.size(), 1000), tf{0, 1000, 2000};
    keywords(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), table,
             {filter, 1 + in.number(0, 2), in.flag(3), in.flag(4), 0, idf, 500, tf}, entries, keyword_ends);
    check_rows(keyword_ends, entries);
    out.add(found.ranks), out.add(short_.ranks), out.add(numbers), out.add(signatures), out.add(prints), out.add(vectors);
    out.add(keys), out.add(common), out.add(entries);
}

// ---- methods

void simhash(const Input &in, Digest &out) {
    const SimhashSettings settings{1 + in.number(0, 3), 1 + in.number(3, 2), in.flag(5), in.number(6, 2)};
    SimhashBatch batch;
    Offsets sums(in.texts.size() * settings.lanes * 64);
    prepare_simhash(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), nullptr, settings, batch);
    simhash_sums(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), nullptr, settings, nullptr, {}, 1, sums.data());
    Reading read;
    read.ends = {0};
    read_words(in.texts.values.data(), in.texts.offsets.data(), in.texts.size(), in.options(), nullptr, true, read);
    check_rows(read.ends, read.words);
    out.add(batch.fingerprints), out.add(batch.words), out.add(sums), out.add(read.words), out.add(read.short_digests);
}

void rare_grams(const Input &in, Digest &out) {
    GramSamples samples(in.options(), 3);
    Rows<uint64_t> rows;
    for (size_t d = 0; d < in.texts.size(); ++d)
        samples.append(in.texts.begin(d), in.texts.length(d), 16, rows.values), rows.close();
    rows.fit();
    std::vector<uint8_t> low(64);
    std::vector<uint64_t> high(256);
    SlotCounter counter(low.data(), low.size(), high.data(), high.size());
    for (const uint64_t entry : rows.values) counter.add(sampled::feature_of(entry), 1);
    const SlotCounts counts{low.data(), low.size(), high.data(), high.size()};
    static const std::vector<uint32_t> weights(65536, 9);
    weigh_grams(rows.values.data(), rows.offsets.data(), rows.size(), counts, weights.data());
    const auto by = multipliers(16);
    std::vector<uint64_t> keys;
    Offsets ends{0};
    std::vector<int32_t> probes;
    gram_keys(rows.values.data(), rows.offsets.data(), rows.size(), {4, 2, 4, 4, 2, 1, 2, by.data(), by.size()}, keys, ends, probes);
    check_rows(ends, keys);
    std::vector<GramSums> sums(in.a.size());
    compare_grams(rows.values.data(), rows.offsets.data(), in.a.data(), in.b.data(), in.a.size(), sums.data());
    out.add(rows.values), out.add(keys), add_sums(out, sums);
}

// Samples that a stranger stored: any numbers in the place of entries.
void foreign_grams(const Input &in, Digest &out) {
    const auto rows = in.flag(0) ? in.words() : in.weighted();
    std::vector<GramSums> sums(in.a.size());
    compare_grams(rows.values.data(), rows.offsets.data(), in.a.data(), in.b.data(), in.a.size(), sums.data());
    add_sums(out, sums);
}

ProfileKeys profile_settings(const Input &in, const std::vector<uint32_t> &by) {
    return {{{1 + in.number(0, 2), 2, 3}, {in.number(2, 2), 1, 500}}, 4, 4, 1 + in.number(4, 2), by.data(), by.size()};
}

void weighed_profiles(const Input &in, Digest &out) {
    const size_t families = 1 + in.number(0, 2);
    Rows<uint64_t> rows = in.flag(7) ? in.words() : in.profiles(families);  // words: heads that lie about what follows
    std::vector<uint32_t> features(rows.values.size());
    std::transform(rows.values.begin(), rows.values.end(), features.begin(),
                   [](uint64_t value) { return static_cast<uint32_t>(value >> 32 ? value >> 32 : value); });
    std::vector<uint8_t> low(64);
    std::vector<uint64_t> high(256);
    SlotCounter counter(low.data(), low.size(), high.data(), high.size());
    const auto sets = in.sets();
    for (const uint32_t feature : sets.values) counter.add(feature, 1 + in.number(6, 1) * 300);
    const SlotCounts counts{low.data(), low.size(), high.data(), high.size()};
    static const std::vector<uint32_t> weights(65536, 9);
    const auto by = multipliers(16);
    const ProfileKeys settings = profile_settings(in, by);
    std::vector<uint64_t> keys, weighed;
    Offsets ends{0}, weighed_ends{0};
    profile_keys(sets.values.data(), sets.offsets.data(), sets.size(), counts, settings, keys, ends);
    check_rows(ends, keys);
    for (size_t d = 0; d < sets.size(); ++d) need(std::is_sorted(keys.begin() + ends[d], keys.begin() + ends[d + 1]), "keys are not sorted");
    const std::vector<FamilyTable> tables(families, {counts, weights.data()});
    const NoiseRule noise{in.number(2, 3) % families, in.number(0, 3), in.flag(5) ? .5 : 2};
    weigh_profiles(features.data(), rows.offsets.data(), rows.size(), tables, noise, in.number(3, 2) % families, settings, rows.values.data(), weighed, weighed_ends);
    check_rows(weighed_ends, weighed);
    RareGrams rare;
    rare.ends = {0};
    rare_grams(rows.values.data(), rows.offsets.data(), rows.size(), families, in.number(3, 2) % families, in.number(0, 3), 1 + in.number(4, 2), rare);
    check_rows(rare.ends, rare.entries);
    out.add(keys), out.add(weighed), out.add(rows.values), out.add(rare.entries), out.add(rare.known), out.add(rare.sizes);
}

// ---- matching

// Keys that go through files: divided into parts of the key space, grouped part by part, packed, and read as blocks of documents.
void parted_keys(const Input &in, Digest &out) {
    const auto sets = in.words();
    const auto probes = in.probes(sets.offsets);
    const int bits = static_cast<int>(in.number(2, 3));
    std::vector<int32_t> places(sets.size());
    std::iota(places.begin(), places.end(), 0);
    KeyParts parts;
    part_keys(sets.values.data(), sets.offsets.data(), probes.data(), places.data(), nullptr, sets.size(), bits, parts);
    check_rows(parts.ends, parts.keys);
    Groups whole, pieces;
    whole.ends = pieces.ends = {0};
    for (size_t p = 0; p + 1 < parts.ends.size(); ++p) {
        const auto at = static_cast<size_t>(parts.ends[p]), size = static_cast<size_t>(parts.ends[p + 1]) - at;
        entry_groups(parts.keys.data() + at, parts.members.data() + at, size, bits, pieces);
    }
    const std::vector<int64_t> rows(places.begin(), places.end());
    shared_groups(sets.values.data(), sets.offsets.data(), probes.data(), rows.data(), rows.size(), 0, 1, whole);
    need(whole.members == pieces.members && whole.probes == pieces.probes && whole.ends == pieces.ends, "parts of keys give other groups");
    std::vector<uint32_t> packed;
    pack_groups(whole.members.data(), whole.probes.data(), whole.ends.data(), whole.ends.size() - 1, packed);
    packed.shrink_to_fit();
    const auto last = static_cast<uint32_t>(sets.size()), half = last / 2;
    for (const uint32_t first : {uint32_t{0}, half}) {
        Groups some;
        some.ends = {0};
        groups_between(packed.data(), packed.size(), first, first ? last : half, some);
        check_rows(some.ends, some.members);
        for (size_t g = 0; g + 1 < some.ends.size(); ++g)
            need(some.ends[g + 1] - some.ends[g] > 1 && some.members[some.ends[g + 1] - 1] >= first, "a group that meets nobody");
        std::vector<uint64_t> digests(some.ends.size() - 1);
        group_digests(some.members.data(), some.probes.data(), some.ends.data(), digests.size(), digests.data());
        out.add(some.members), out.add(digests);
    }
    Offsets counts(in.a.size());
    Rows<uint64_t> sorted = sets;
    for (size_t d = 0; d < sets.size(); ++d) std::sort(sorted.values.begin() + sorted.offsets[d], sorted.values.begin() + sorted.offsets[d + 1]);
    shared_keys(sorted.values.data(), sorted.offsets.data(), probes.data(), in.a.data(), in.b.data(), in.a.size(), counts.data());
    out.add(whole.members), out.add(counts);
}

void gathered(const Input &in, Digest &out) {
    Offsets starts(in.texts.offsets.begin(), in.texts.offsets.end() - 1), lengths;
    for (size_t d = 0; d < in.texts.size(); ++d) lengths.push_back(static_cast<int64_t>(in.texts.length(d)));
    std::reverse(starts.begin(), starts.end()), std::reverse(lengths.begin(), lengths.end());
    std::vector<uint8_t> copied(in.texts.values.size());
    gather_memory(in.texts.values.data(), starts.data(), lengths.data(), starts.size(), copied.data());
    out.add(copied);
}

void groups(const Input &in, Digest &out) {
    const auto sets = in.words();
    const auto probes = in.probes(sets.offsets);
    Groups found;
    found.ends = {0};
    std::vector<int64_t> rows(sets.size());
    std::iota(rows.begin(), rows.end(), 0);
    shared_groups(sets.values.data(), sets.offsets.data(), probes.data(), rows.data(), rows.size(), 0, 1, found);
    check_rows(found.ends, found.members);
    const size_t count = found.ends.size() - 1;
    std::vector<uint8_t> distinct(count), shared(in.a.size());
    distinct_groups(found.members.data(), found.probes.data(), found.ends.data(), count, distinct.data());
    GroupPairs pairs(found.members.data(), found.probes.data(), found.ends.data(), count, in.settings, 1 + in.number(0, 2));
    std::vector<int64_t> earlier, later;
    for (std::vector<int64_t> a, b; pairs.next(a, b);) {
        earlier.insert(earlier.end(), a.begin(), a.end());
        later.insert(later.end(), b.begin(), b.end());
    }
    share_key(sets.values.data(), sets.offsets.data(), probes.data(), in.a.data(), in.b.data(), in.a.size(), shared.data());
    SharingPairs sharing;
    std::vector<uint8_t> looks(found.members.size(), 1);
    sharing_pairs(found.members.data(), looks.data(), found.ends.data(), count, sets.size(), 1 + static_cast<int32_t>(in.number(0, 2)), in.number(2, 2), 0, sets.size(), sharing);
    std::vector<uint8_t> first(sharing.a.size());
    most_shared(sharing.a.data(), sharing.b.data(), sharing.shared.data(), first.size(), 1 + in.number(0, 2), first.data());
    SharingPairs larger;
    const std::vector<int32_t> least(sets.size(), 1 + static_cast<int32_t>(in.number(0, 2)));
    larger_pairs(found.members.data(), looks.data(), found.ends.data(), count, sets.size(), least.data(), 1000, 1000, larger);
    out.add(larger.a), out.add(larger.b);
    HotWalk walk(found.members.data(), found.probes.data(), found.ends.data(), count, sets.size(), in.number(4, 2));
    const size_t ranks = walk.ranks().size(), half = ranks / 2;
    RankPairs walked;
    const std::vector<uint8_t> all(sets.size(), 1);
    std::vector<uint8_t> kept(sets.size(), 1);
    walk.among(0, half, all.data(), all.data(), walked), walk.remember(0, half, all.data());
    walk.at_most(in.number(4, 2) / 2), walk.with_kept(half, ranks, walked), walk.after(all.data(), walked);
    for (size_t i = 0; i < walked.later.size(); ++i) need(walked.earlier[i] < walked.later[i], "a pair in the wrong order");
    greedy(later.data(), earlier.data(), later.size(), kept.data());
    out.add(found.members), out.add(distinct), out.add(first), out.add(earlier), out.add(shared), out.add(sharing.a), out.add(walked.later), out.add(kept);
}

void rare_keys(const Input &in, Digest &out) {
    const auto sets = in.sets();
    const auto weighted = in.weighted();
    std::vector<uint8_t> counts(in.flag(7) ? 0 : 16);
    if (!counts.empty()) count_features(sets.values.data(), sets.values.size(), counts.data(), counts.size());
    const uint64_t parts = 1 + in.number(0, 2);
    Offsets sizes;
    for (size_t d = 0; d < sets.size(); ++d) sizes.push_back(static_cast<int64_t>(sets.length(d)) * in.number(2, 2) / 3);
    const std::vector<uint64_t> needed(weighted.size(), in.number(2, 6));
    for (uint64_t part = 0; part < parts; ++part) {
        RareKeys plain, heavy, vectors;
        plain.ends = heavy.ends = vectors.ends = {0};
        rare_prefixes(sets.values.data(), sets.offsets.data(), sizes.data(), sets.size(), counts.data(), counts.size(), in.flag(4), part, parts, plain);
        rare_weighted_prefixes(weighted.values.data(), weighted.offsets.data(), needed.data(), weighted.size(), in.flag(5), counts.data(), counts.size(), part, parts, heavy);
        if (!counts.empty())
            rare_vector_pairs(weighted.values.data(), weighted.offsets.data(), needed.data(), weighted.size(), counts.data(), counts.size(), in.number(0, 2), part, parts, vectors);
        out.add(plain.keys), out.add(heavy.keys), out.add(vectors.keys);
    }
}

void near_bits(const Input &in, Digest &out) {
    const size_t lanes = 1 + in.number(0, 1);
    std::vector<uint64_t> values(in.bytes.size() / (8 * lanes) * lanes);
    if (!values.empty()) std::memcpy(values.data(), in.bytes.data(), values.size() * 8);
    const std::vector<uint64_t> masks(2 * lanes, 0xffff);
    const Offsets codes(in.flag(1) ? values.size() / lanes : 0, 3);
    for (size_t table = 0; table < 2; ++table) {
        NearPairs pairs;
        pairs.ends = {0};
        near_pairs(values, codes, {masks, lanes, in.number(2, 4)}, table, in.number(6, 2) * 8, pairs);
        out.add(pairs.a), out.add(pairs.b), out.add(pairs.members), out.add(pairs.ends);
    }
}

void walked_paths(const Input &in, Digest &out) {
    const auto sets = in.sets();
    const std::vector<uint8_t> rarity(16, static_cast<uint8_t>(1 + in.settings / 2));
    Offsets m, sizes, roots{0};
    std::vector<uint64_t> first;
    for (size_t d = 0; d < sets.size(); ++d) {
        sizes.push_back(static_cast<int64_t>(sets.length(d)));
        m.push_back(std::max<int64_t>(1, sizes.back() * 4 / 5));
        first.push_back(kSecret[0] & path::kHash), roots.push_back(static_cast<int64_t>(d + 1));
    }
    Paths longer;
    longer.offsets = {0};
    longer_paths({sets.values.data(), sets.offsets.data(), rarity.data(), rarity.size()}, m.data(), first.data(), roots.data(), sets.size(), in.number(0, 2), 3 + in.number(2, 2), longer);
    check_rows(longer.offsets, longer.values);
    ParitySketches parity;
    parity.offsets = {0};
    parity_sketches(sets.values.data(), sets.offsets.data(), sets.size(), 1, 1 + in.number(4, 2), parity);
    std::vector<uint32_t> by_size(sets.size()), place(sets.size());
    std::iota(by_size.begin(), by_size.end(), 0u);
    std::stable_sort(by_size.begin(), by_size.end(), [&](uint32_t x, uint32_t y) { return sizes[x] < sizes[y]; });
    for (uint32_t i = 0; i < by_size.size(); ++i) place[by_size[i]] = i;
    std::vector<uint8_t> may(sets.size());
    may_pass({sizes.data(), parity.words.data(), parity.offsets.data(), 4, 5}, by_size.data(), place.data(), may.size(), may.data());
    out.add(may);
    Meetings met;
    meet(longer.values.data(), longer.offsets.data(), by_size.data(), place.data(), sets.size(), {sizes.data(), parity.words.data(), parity.offsets.data(), 4, 5}, {static_cast<int>(in.number(0, 2)), 3 + in.number(2, 2), 0, 0}, met);
    out.add(longer.values), out.add(parity.words), out.add(met.pairs), out.add(met.open);
}

void clusters(const Input &in, Digest &out) {
    std::vector<double> weights(in.texts.size(), 1), score;
    Offsets a, b;
    for (size_t i = 0; i < in.a.size() && i < in.bytes.size(); ++i) {
        if (in.a[i] >= in.b[i]) continue;
        a.push_back(in.a[i]), b.push_back(in.b[i]), score.push_back(static_cast<uint8_t>(in.bytes[i]) / 255.0);
    }
    Merges merges;
    average_link(weights.data(), weights.size(), a.data(), b.data(), score.data(), a.size(), in.settings / 255.0, merges);
    need(merges.a.size() < std::max<size_t>(weights.size(), 1), "more merges than documents");
    out.add(merges.a), out.add(merges.b), out.add(merges.height);
    Offsets starts, lengths;
    size_t all = 0;
    for (size_t d = 0; d < in.texts.size(); ++d)
        starts.push_back(in.texts.offsets[d]), lengths.push_back(static_cast<int64_t>(in.texts.length(d))), all += in.texts.length(d);
    std::vector<uint8_t> copy(all);
    gather_memory(in.texts.values.data(), starts.data(), lengths.data(), starts.size(), copy.data());
    need(copy == in.texts.values, "gathered bytes differ");
}

// ---- passages

void copies(const Input &in, Digest &out) {
    const auto all = in.words();
    const uint32_t gram = 1 + in.number(0, 2);
    Copies found({gram + in.number(2, 3), gram, 1 + in.number(5, 2), in.number(2, 2), 4, 50 + in.number(4, 2) * 10});
    std::vector<uint32_t> numbers(all.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    found.hold(all.values.data(), all.offsets.data(), all.size());
    found.find(numbers.data(), numbers.size());
    for (const Copy &copy : found.copies()) {
        need(copy.source <= copy.document && copy.begin <= copy.end && copy.source_begin <= copy.source_end, "a copy backwards");
        need(copy.end <= all.length(copy.document) && copy.source_end <= all.length(copy.source), "a copy outside its document");
    }
    for (const PassagePlace &place : found.places()) need(place.end <= all.length(place.document), "a place outside its document");
    std::vector<Copy> others;
    found.index();
    found.against(all.values.data(), all.offsets.data(), all.size(), others);
    add_sums(out, found.copies()), add_sums(out, others);
}

void anchors(const Input &in, Digest &out) {
    const uint32_t gram = 1 + in.number(0, 3), window = 1 + in.number(3, 3);
    const auto all = in.words();
    std::vector<uint64_t> hashes, postings;
    AnchorTable table;
    for (uint32_t d = 0; d < all.size(); ++d) {
        const std::vector<uint32_t> narrow(all.begin(d), all.begin(d) + all.length(d));
        std::vector<Sampled> sampled;
        winnow(narrow.data(), static_cast<uint32_t>(narrow.size()), gram, window, hashes, sampled);
        for (const Sampled &one : sampled) {
            need(one.position + gram <= narrow.size(), "a gram outside its text");
            table.add(anchor_of(one.hash), d);
            postings.push_back(anchor_of(one.hash) << number_bits | d);
        }
    }
    table.build();
    std::sort(postings.begin(), postings.end());
    std::vector<uint8_t> values;
    for (size_t i = 0; i < postings.size(); ++i) {
        const uint64_t anchor = anchor_of_posting(postings[i]), number = anchor >> (anchor_bits - row_bits);
        const uint64_t document = postings[i] & ((uint64_t{1} << number_bits) - 1);
        bool known = false;
        table.each(anchor, [&](uint32_t d) { known |= d == document; });
        need(known, "an anchor is lost");
        Offsets ends;
        values.clear();
        pack_rows(&postings[i], 1, number, 2, values, ends);
        const Row row{values.data(), static_cast<size_t>(ends[1]), number};
        std::vector<uint64_t> again;
        std::vector<uint32_t> met;
        need(is_whole(row), "a row is not what was stored");
        unpack_row(row, again), find_in_row(row, &anchor, 1, met);
        need(again == std::vector<uint64_t>{postings[i]} && met.size() == 1, "a row has something else");
    }
    out.add(postings), out.add(values);
    // A row of somebody else, with a digest that fits.
    const size_t rest = in.bytes.size() / 6 * 6;
    const uint64_t digest = bytes_digest(reinterpret_cast<const uint8_t *>(in.bytes.data()), rest, in.settings);
    std::vector<uint8_t> foreign(8 + rest);
    std::memcpy(foreign.data(), &digest, 8), std::memcpy(foreign.data() + 8, in.bytes.data(), rest);
    const Row row{foreign.data(), foreign.size(), in.settings};
    std::vector<uint64_t> found, asked{row.number << (anchor_bits - row_bits), (row.number << (anchor_bits - row_bits)) + 77};
    std::vector<uint32_t> met;
    need(is_whole(row), "a digest that fits is refused");
    unpack_row(row, found), find_in_row(row, asked.data(), asked.size(), met);
    out.add(found), out.add(met);
}

void units(const Input &in, Digest &out) {
    UnitFinder finder(in.options(), static_cast<Unit>(in.number(5, 2)));
    Tokenizer tokenizer(in.options());
    std::vector<uint64_t> hashes;
    std::vector<TextSpan> spans;
    for (size_t d = 0; d < in.texts.size(); ++d) {
        tokenizer.hashes(in.texts.begin(d), in.texts.length(d), hashes);
        std::vector<WordSpan> words;
        for (uint32_t w = 0; w < hashes.size(); w += 3) words.push_back({w, std::min<uint32_t>(w + 5, static_cast<uint32_t>(hashes.size()))});
        spans.clear();
        finder.add(in.texts.begin(d), in.texts.length(d), words.data(), words.size(), spans);
        need(spans.size() == words.size(), "a span without its text");
        for (const TextSpan &span : spans) need(span.begin_byte <= span.end_byte && span.end_byte <= static_cast<int64_t>(in.texts.length(d)), "a unit outside its text");
        add_sums(out, spans);
    }
}

// ---- online

void postings(const Input &in, Digest &out) {
    const auto sets = in.words();
    Postings store;
    std::vector<int64_t> found, numbers;
    for (size_t d = 0; d < sets.size(); ++d) {
        const size_t probes = sets.length(d) * (in.settings & 3) / 3;
        store.meet(sets.begin(d), sets.length(d), probes, 1 + in.number(2, 2), in.number(4, 2), found);
        for (const int64_t other : found) need(other < static_cast<int64_t>(d), "a document that did not come yet");
        out.add(found);
        found.clear();
        store.add(sets.begin(d), sets.length(d), probes, static_cast<uint32_t>(d));
        numbers.push_back(d % 3 ? static_cast<int64_t>(d - d / 3 - 1) : -1);
    }
    store.keep(numbers.data(), numbers.size());
    store.meet(sets.values.data(), sets.values.size(), sets.values.size(), 1, 0, found);
    out.add(found);
}

void window(const Input &in, Digest &out) {
    const auto sets = in.sets();
    BitmapWindow window(3, {in.flag(0) ? 0.5 : 1, in.flag(1) ? 0.1 : 0});
    for (size_t d = 0; d < sets.size(); ++d) {
        Overlaps met;
        window.overlaps(sets.begin(d), sets.length(d), 1 + in.number(2, 2), 4, met);
        out.add(met.documents), out.add(met.shared);
        const int64_t number = window.add(d / 4 % 3, sets.begin(d), sets.length(d));
        if (in.flag(4) && d % 3 == 0) window.remove(number);
        if (in.flag(5) && d % 8 == 7) window.drop((d / 4 + 1) % 3);
    }
    std::vector<uint32_t> grams;
    Offsets offsets;
    for (size_t slot = 0; slot < 3; ++slot) window.sets(slot, grams, offsets), out.add(grams);
}

using Kernel = void (*)(const Input &, Digest &);
constexpr Kernel kernels[] = {jsonl_lines, csv_records,   lines,    ids,          words,           sentences, alignment,
                              matches,     typography,    qgrams,   shingles,     minima,          sketches,  spots,
                              overlap_of_sets, profile_rows, foreign_profiles, terms, simhash,     rare_grams, foreign_grams,
                              groups,      rare_keys,     near_bits, walked_paths, clusters,       postings,  window,
                              copies,      units,         anchors,  recognition,  weighed_profiles, parted_keys, gathered};

uint64_t digest_of(Kernel kernel, const Input &in) {
    Digest digest;
    kernel(in, digest);
    return digest.value();
}

}  // namespace

#ifdef NEARDUP_THREADS
// `make tsan`: every kernel in four threads at once on the same input, under ThreadSanitizer.
int main(int, char **given) {
    const auto rounds = static_cast<uint64_t>(std::atoll(given[1]));
    constexpr size_t threads = 4;
    for (uint64_t round = 0; round < rounds; ++round) {
        std::vector<uint8_t> data(2 + scramble(round + 1) % 600);
        for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>("the lazy dog\n\x1f.,7{\"\xc3\xbc"[scramble(round * 1000 + i) % 22]);
        data[1] = static_cast<uint8_t>(scramble(round));
        const Input in(data.data(), data.size());
        const Kernel kernel = kernels[round % std::size(kernels)];
        uint64_t found[threads] = {};
        std::vector<std::thread> all;
        for (size_t t = 0; t < threads; ++t) all.emplace_back([&, t] { found[t] = digest_of(kernel, in); });
        for (std::thread &thread : all) thread.join();
        for (const uint64_t digest : found) need(digest == found[0], "threads change the answer");
    }
    std::printf("%zu kernels, %llu rounds in %zu threads\n", std::size(kernels), static_cast<unsigned long long>(rounds), threads);
    return 0;
}
#else
namespace {

constexpr size_t kVariants = 63, kVariantBytes = 24;
uint64_t inputs = 0;

void run_kernel(const uint8_t *data, size_t size) {
    const Input in(data, size);
    const Kernel kernel = kernels[data[0] % std::size(kernels)];
    use_instructions(Instructions::portable);
    const uint64_t portable = digest_of(kernel, in);
    // One level for each input, because each of them has code of its own.
    const auto best = static_cast<uint64_t>(best_instructions());
    use_instructions(static_cast<Instructions>(best ? 1 + bytes_digest(data, size, size) % best : 0));
    need(portable == digest_of(kernel, in), "instructions change the answer");
    ++inputs;
}

// A part of the input with other settings or a few other bytes.
void vary(const uint8_t *data, size_t size, uint64_t random, std::vector<uint8_t> &out) {
    const size_t length = std::min<size_t>(size - 2, random % kVariantBytes), begin = 2 + (random >> 8) % (size - 1 - length);
    out.assign(data, data + 2);
    out.insert(out.end(), data + begin, data + begin + length);
    if (random >> 60 & 1) out[1] = static_cast<uint8_t>(random >> 16);
    for (uint64_t change = random >> 61; change > 0; --change) {
        random = scramble(random);
        const size_t at = 1 + random % (out.size() - 1);
        out[at] = static_cast<uint8_t>(random >> 40 & 1 ? random >> 32 : data[random % size]);
    }
}

struct Count {
    ~Count() { std::fprintf(stderr, "kernel inputs: %llu\n", static_cast<unsigned long long>(inputs)); }
} count;

}  // namespace

// The fuzzer's own work costs more than most kernels, so each of its inputs stands for many. They follow from it: an
// input that fails fails again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    run_kernel(data, size);
    const Kernel kernel = kernels[data[0] % std::size(kernels)];
    if (kernel == window || kernel == copies) return 0;  // they begin with tables of a megabyte
    std::vector<uint8_t> changed;
    uint64_t random = bytes_digest(data, size, size);
    for (size_t v = 0; v < kVariants; ++v) {
        random = scramble(random + 1);
        vary(data, size, random, changed);
        run_kernel(changed.data(), changed.size());
    }
    return 0;
}
#endif
