#include <nanobind/stl/tuple.h>

#include "bindings/bindings.hpp"
#include "features/terms.hpp"
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

static nb::tuple document_terms(In<uint8_t> values, In<int64_t> offsets, const TextOptions &options, int filter,
                                const TermTable &table, uint32_t low, uint32_t high) {
    neardup::DocumentTerms out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::document_terms(values.data(), offsets.data(), offsets.size() - 1, options,
                                static_cast<TermFilter>(filter), table, low, high, out);
    }
    return nb::make_tuple(give(std::move(out.ranks)), give(std::move(out.counts)), give(std::move(out.first)),
                          give(std::move(out.ends)), give(std::move(out.tokens)));
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
    m.def("keywords", &keywords, "values"_a, "offsets"_a, "options"_a, "filter"_a, "table"_a, nb::kw_only(), "idf"_a,
          "unknown_idf"_a, "first_rank"_a, "tf"_a, "k"_a, "sentences"_a, "tuples"_a,
          "Weighted features of each text, sorted: (entries, offsets).");
}
