#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bindings.hpp"
#include "features/numbers.hpp"
#include "features/terms.hpp"
#include "methods/fingerprint.hpp"
#include "methods/imatch.hpp"
#include "methods/termvector.hpp"
#include "methods/keywords.hpp"

using namespace nb::literals;
using neardup::TermCounts;
using neardup::TermFilter;
using neardup::TermTable;
using neardup::TextOptions;

static void add(TermCounts &counts, In<uint8_t> values, In<int64_t> offsets, const TextOptions &options, int filter) {
    nb::gil_scoped_release free;
    counts.add(values.data(), offsets.data(), offsets.size() - 1, options, static_cast<TermFilter>(filter));
}

static void add_counted(TermCounts &to, In<uint8_t> bytes, In<int64_t> ends, In<uint32_t> counts) {
    nb::gil_scoped_release free;
    to.add_counted(bytes.data(), ends.data(), counts.data(), counts.size());
}

static nb::tuple sorted(const TermCounts &counts) {
    std::vector<uint8_t> bytes;
    std::vector<int64_t> ends;
    std::vector<uint32_t> each;
    {
        nb::gil_scoped_release free;
        counts.sorted(bytes, ends, each);
    }
    return nb::make_tuple(give(std::move(bytes)), give(std::move(ends)), give(std::move(each)));
}

static void make_table(TermTable *self, In<uint8_t> bytes, In<int64_t> ends) {
    new (self) TermTable(bytes.data(), ends.data(), ends.size() - 1);
}

static nb::tuple given(neardup::DocumentTerms &out) {
    return nb::make_tuple(give(std::move(out.ranks)), give(std::move(out.counts)), give(std::move(out.first)),
                          give(std::move(out.ends)), give(std::move(out.tokens)));
}

static nb::tuple document_terms(In<uint8_t> values, In<int64_t> offsets, const TextOptions &options, int filter,
                                const TermTable &table, uint32_t low, uint32_t high) {
    neardup::DocumentTerms out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::document_terms(values.data(), offsets.data(), offsets.size() - 1, options,
                                static_cast<TermFilter>(filter), table, low, high, out);
    }
    return given(out);
}

static nb::tuple terms_of_words(In<uint64_t> words, In<int64_t> offsets, const TermTable &table, uint32_t low,
                                uint32_t high, uint32_t most) {
    neardup::DocumentTerms out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::terms_of_words(words.data(), offsets.data(), offsets.size() - 1, table, low, high, most, out);
    }
    return given(out);
}

static Out<uint8_t> mostly_numbers(In<uint8_t> values, In<int64_t> offsets) {
    std::vector<uint8_t> out(offsets.size() - 1);
    {
        nb::gil_scoped_release free;
        neardup::mostly_numbers(values.data(), offsets.data(), out.size(), out.data());
    }
    return give(std::move(out));
}

static Out<uint64_t> imatch_signatures(In<uint32_t> ranks, In<int64_t> offsets, In<uint64_t> hashes, uint32_t lexicons,
                                       uint64_t dropped, uint64_t seed, uint32_t min_terms) {
    std::vector<uint64_t> out;
    {
        nb::gil_scoped_release free;
        neardup::imatch_signatures(ranks.data(), offsets.data(), offsets.size() - 1, hashes.data(),
                                   {lexicons, dropped, seed, min_terms}, out);
    }
    return give(std::move(out));
}

static Out<uint64_t> fingerprints(In<uint32_t> ranks, In<uint32_t> first, In<int64_t> offsets, uint32_t size,
                                  uint64_t bin) {
    std::vector<uint64_t> out;
    {
        nb::gil_scoped_release free;
        neardup::fingerprints(ranks.data(), first.data(), offsets.data(), offsets.size() - 1, size, bin, out);
    }
    return give(std::move(out));
}

static nb::tuple term_vectors(In<uint32_t> ranks, In<int64_t> offsets, In<uint32_t> days, In<uint32_t> tokens,
                              uint32_t size) {
    std::vector<uint32_t> values;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::term_vectors(ranks.data(), offsets.data(), days.data(), tokens.data(), tokens.size(), size, values,
                              ends);
    }
    return nb::make_tuple(give(std::move(values)), give(std::move(ends)));
}

static nb::tuple vector_keys(In<uint32_t> values, In<int64_t> offsets, In<int64_t> sizes, bool paired, uint64_t part,
                             uint64_t parts) {
    std::vector<uint64_t> keys;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::vector_keys(values.data(), offsets.data(), sizes.data(), sizes.size(), paired, part, parts, keys, ends);
    }
    return nb::make_tuple(give(std::move(keys)), give(std::move(ends)));
}

static nb::tuple common_terms(In<uint32_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b, int64_t days,
                              std::pair<uint64_t, uint64_t> length, std::pair<uint64_t, uint64_t> shared) {
    const neardup::VectorTests tests{days, length.first, length.second, shared.first, shared.second};
    std::vector<int64_t> common(a.size()), needed(a.size());
    {
        nb::gil_scoped_release free;
        neardup::common_terms(values.data(), offsets.data(), a.data(), b.data(), a.size(), tests, common.data(),
                              needed.data());
    }
    return nb::make_tuple(give(std::move(common)), give(std::move(needed)));
}

static nb::tuple keywords(In<uint8_t> values, In<int64_t> offsets, const TextOptions &options, int filter,
                          const TermTable &table, In<uint32_t> idf, uint32_t unknown_idf, uint32_t first_rank,
                          In<uint32_t> tf, uint32_t k, bool sentences, bool tuples) {
    const neardup::KeywordSettings settings{static_cast<TermFilter>(filter), k, sentences, tuples, first_rank,
                                            {idf.data(), idf.size()}, unknown_idf, {tf.data(), tf.size()}};
    std::vector<uint64_t> entries;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::keywords(values.data(), offsets.data(), offsets.size() - 1, options, table, settings, entries, ends);
    }
    return nb::make_tuple(give(std::move(entries)), give(std::move(ends)));
}

void bind_terms(nb::module_ &m) {
    nb::class_<TermCounts>(m, "TermCounts", "In how many documents each term occurs.")
        .def(nb::init<>())
        .def("add", &add, "values"_a, "offsets"_a, "options"_a, "filter"_a)
        .def("add_counted", &add_counted, "bytes"_a, "offsets"_a, "counts"_a)
        .def("merge", &TermCounts::merge, "other"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("sorted", &sorted, "Rarest first, then by code point: (bytes, offsets, counts).")
        .def("__len__", &TermCounts::size)
        .def_prop_ro("documents", &TermCounts::documents);
    nb::class_<TermTable>(m, "TermTable", "Term to rank.").def("__init__", &make_table, "bytes"_a, "offsets"_a);
    m.def("document_terms", &document_terms, "values"_a, "offsets"_a, "options"_a, "filter"_a, "table"_a, "low"_a,
          "high"_a, "Distinct terms of each text by rank: (ranks, counts, first, offsets, tokens).");
    m.def("terms_of_words", &terms_of_words, "words"_a, "offsets"_a, "table"_a, "low"_a, "high"_a, "most"_a);
    m.def("mostly_numbers", &mostly_numbers, "values"_a, "offsets"_a);
    m.def("imatch_signatures", &imatch_signatures, "ranks"_a, "offsets"_a, "hashes"_a, "lexicons"_a, "dropped"_a,
          "seed"_a, "min_terms"_a);
    m.def("fingerprints", &fingerprints, "ranks"_a, "first"_a, "offsets"_a, "size"_a, "bin"_a);
    m.def("term_vectors", &term_vectors, "ranks"_a, "offsets"_a, "days"_a, "tokens"_a, "size"_a);
    m.def("vector_keys", &vector_keys, "values"_a, "offsets"_a, "sizes"_a, "paired"_a, "part"_a, "parts"_a);
    m.def("common_terms", &common_terms, "values"_a, "offsets"_a, "a"_a, "b"_a, "days"_a, "length"_a, "shared"_a);
    m.def("keywords", &keywords, "values"_a, "offsets"_a, "options"_a, "filter"_a, "table"_a, nb::kw_only(), "idf"_a,
          "unknown_idf"_a, "first_rank"_a, "tf"_a, "k"_a, "sentences"_a, "tuples"_a,
          "Weighted features of each text, sorted: (entries, offsets).");
}
