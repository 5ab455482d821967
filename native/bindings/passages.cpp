#include <algorithm>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <string>

#include "bindings/bindings.hpp"
#include "passages/anchors.hpp"
#include "passages/copies.hpp"
#include "passages/seed_lists.hpp"
#include "passages/units.hpp"

using namespace nb::literals;
using neardup::Copies;
using neardup::Copy;

namespace {

// One row after the other, as the structs lie in memory.
template <typename T, typename Row>
Out<T> give_rows(std::vector<Row> &&rows) {
    auto owner = std::make_unique<std::vector<Row>>(std::move(rows));
    auto *data = reinterpret_cast<T *>(owner->data());
    const size_t size = owner->size() * sizeof(Row) / sizeof(T);
    nb::capsule capsule(owner.release(), [](void *p) noexcept { delete static_cast<std::vector<Row> *>(p); });
    return Out<T>(data, {size}, capsule);
}

void make(Copies *self, uint32_t words, uint32_t gram, uint32_t window, uint32_t gap, uint32_t most,
          uint32_t similarity, uint32_t anchor, uint32_t anchor_window) {
    if (!gram || !window || !words || gram > words) throw nb::value_error("expected 0 < gram <= words and 0 < window");
    if (!anchor_window) throw nb::value_error("expected 0 < anchor_window");
    new (self) Copies({words, gram, window, gap, most, similarity, anchor, anchor_window});
}

void hold(Copies &self, In<uint64_t> words, In<int64_t> offsets) {
    nb::gil_scoped_release release;
    self.hold(words.data(), offsets.data(), offsets.size() - 1);
}

void borrow(Copies &self, In<uint32_t> words, In<int64_t> offsets) {
    self.borrow(words.data(), offsets.data(), offsets.size() - 1);
}

void lend(Copies &self, nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig> entries,
          nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig> slots, size_t samples) {
    if (entries.size() < Copies::entry_bytes(samples) || slots.size() < Copies::slot_bytes(samples))
        throw nb::value_error("expected room for all samples");
    self.lend(entries.data(), slots.data(), samples);
}

void find(Copies &self, In<uint32_t> documents) {
    nb::gil_scoped_release release;
    self.find(documents.data(), documents.size());
}

template <typename Row>
const Row *rows_of(In<uint32_t> numbers, size_t &count) {
    constexpr size_t width = sizeof(Row) / sizeof(uint32_t);
    if (numbers.size() % width) throw nb::value_error("expected whole rows");
    count = numbers.size() / width;
    return reinterpret_cast<const Row *>(numbers.data());
}

auto listed(Copies &self, In<uint32_t> lists, In<uint32_t> numbers) {
    size_t count = 0;
    const auto *rows = rows_of<neardup::SeedList>(lists, count);
    if (numbers.size() != self.documents()) throw nb::value_error("expected a number for each document");
    std::vector<neardup::CoveredGram> out;
    {
        nb::gil_scoped_release release;
        self.listed(rows, count, numbers.data(), out);
    }
    return give_rows<uint32_t>(std::move(out));
}

auto seed_lists(const Copies &self, In<uint32_t> occurrences, In<uint32_t> contexts, std::optional<In<uint8_t>> covered) {
    size_t count = 0;
    const auto *rows = rows_of<neardup::Occurrence>(occurrences, count);
    if (contexts.size() != count * (2 * neardup::context_words + self.settings().gram) ||
        (covered && covered->size() != count))
        throw nb::value_error("expected the context of each gram");
    std::vector<neardup::SeedList> out;
    {
        nb::gil_scoped_release release;
        neardup::seed_lists(self.settings(), rows, count, contexts.data(), covered ? covered->data() : nullptr, out);
    }
    return give_rows<uint32_t>(std::move(out));
}

// The grams that `find` samples: where they are, and the low half of the hash of each.
auto seeds(const Copies &self, In<uint32_t> words, In<int64_t> offsets) {
    std::vector<uint32_t> positions, tags;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release release;
        std::vector<uint64_t> hashes;
        std::vector<neardup::Sampled> sampled;
        for (size_t d = 0; d + 1 < offsets.size(); ++d) {
            const auto size = static_cast<uint32_t>(offsets.data()[d + 1] - offsets.data()[d]);
            if (size >= self.settings().words) {
                neardup::winnow(words.data() + offsets.data()[d], size, self.settings().gram, self.settings().window,
                                hashes, sampled);
                for (const neardup::Sampled &each : sampled) {
                    positions.push_back(each.position);
                    tags.push_back(static_cast<uint32_t>(each.hash));
                }
            }
            ends.push_back(static_cast<int64_t>(positions.size()));
        }
    }
    return std::make_tuple(give(std::move(positions)), give(std::move(tags)), give(std::move(ends)));
}

void adopt(Copies &self, In<uint32_t> copies) {
    size_t count = 0;
    const auto *rows = rows_of<Copy>(copies, count);
    self.adopt(std::vector<Copy>(rows, rows + count));
}

void index_held(Copies &self) {
    nb::gil_scoped_release release;
    self.index();
}

auto against(const Copies &self, In<uint64_t> words, In<int64_t> offsets) {
    std::vector<Copy> out;
    {
        nb::gil_scoped_release release;
        self.against(words.data(), offsets.data(), offsets.size() - 1, out);
    }
    return give_rows<uint32_t>(std::move(out));
}

auto places(const Copies &self) {
    std::vector<int64_t> out;
    {
        nb::gil_scoped_release release;
        for (const neardup::PassagePlace &place : self.places())
            out.insert(out.end(), {int64_t{place.passage}, int64_t{place.document}, int64_t{place.begin},
                                   int64_t{place.end}, place.copy});
    }
    return give(std::move(out));
}

auto text_spans(In<uint8_t> values, In<int64_t> offsets, const neardup::TextOptions &options, In<uint32_t> begins,
                In<uint32_t> ends, In<int64_t> span_offsets, int unit) {
    if (unit < 0 || unit > 3) throw nb::value_error("unit must be 0 (word), 1 (sentence), 2 (line) or 3 (paragraph)");
    std::vector<neardup::TextSpan> out;
    {
        nb::gil_scoped_release release;
        neardup::UnitFinder finder(options, static_cast<neardup::Unit>(unit));
        std::vector<neardup::WordSpan> spans;
        for (size_t d = 0; d + 1 < offsets.size(); ++d) {
            spans.clear();
            for (int64_t i = span_offsets.data()[d]; i < span_offsets.data()[d + 1]; ++i)
                spans.push_back({begins.data()[i], ends.data()[i]});
            finder.add(values.data() + offsets.data()[d],
                       static_cast<size_t>(offsets.data()[d + 1] - offsets.data()[d]), spans.data(), spans.size(), out);
        }
    }
    return give_rows<int64_t>(std::move(out));
}

// The anchors of each document, sorted, each once.
auto anchors(In<uint64_t> words, In<int64_t> offsets, uint32_t gram, uint32_t window) {
    if (!gram || !window) throw nb::value_error("expected 0 < gram and 0 < window");
    std::vector<uint64_t> out, hashes;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release release;
        std::vector<uint32_t> narrow;
        std::vector<neardup::Sampled> sampled;
        for (size_t d = 0; d + 1 < offsets.size(); ++d) {
            narrow.assign(words.data() + offsets.data()[d], words.data() + offsets.data()[d + 1]);
            neardup::winnow(narrow.data(), static_cast<uint32_t>(narrow.size()), gram, window, hashes, sampled);
            const auto begin = static_cast<ptrdiff_t>(out.size());
            for (const neardup::Sampled &each : sampled) out.push_back(neardup::anchor_of(each.hash));
            std::sort(out.begin() + begin, out.end());
            out.erase(std::unique(out.begin() + begin, out.end()), out.end());
            ends.push_back(static_cast<int64_t>(out.size()));
        }
    }
    return std::make_pair(give(std::move(out)), give(std::move(ends)));
}

auto pack_anchors(In<uint64_t> postings, uint64_t first, size_t count) {
    std::vector<uint8_t> values;
    std::vector<int64_t> offsets;
    {
        nb::gil_scoped_release release;
        neardup::pack_rows(postings.data(), postings.size(), first, count, values, offsets);
    }
    return std::make_pair(give(std::move(values)), give(std::move(offsets)));
}

// Calls `use` with each row, which is checked first.
template <typename F>
void each_row(const nb::list &rows, In<uint64_t> numbers, F use) {
    if (rows.size() != numbers.size()) throw nb::value_error("expected one number for each row");
    size_t i = 0;
    for (nb::handle each : rows) {
        const auto data = nb::cast<nb::bytes>(each);
        const neardup::Row row{reinterpret_cast<const uint8_t *>(data.c_str()), data.size(), numbers.data()[i++]};
        if (!neardup::is_whole(row)) throw nb::value_error(("row " + std::to_string(row.number)).c_str());
        use(row);
    }
}

auto unpack_anchors(const nb::list &rows, In<uint64_t> numbers) {
    std::vector<uint64_t> out;
    each_row(rows, numbers, [&](const neardup::Row &row) { neardup::unpack_row(row, out); });
    return give(std::move(out));
}

auto find_anchors(const nb::list &rows, In<uint64_t> numbers, In<uint64_t> anchors) {
    std::vector<uint32_t> out;
    each_row(rows, numbers,
             [&](const neardup::Row &row) { neardup::find_in_row(row, anchors.data(), anchors.size(), out); });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return give(std::move(out));
}

}  // namespace

void bind_passages(nb::module_ &m) {
    nb::class_<Copies>(m, "Copies", "Passages that documents share, in words.")
        .def("__init__", &make, "words"_a, "gram"_a, "window"_a, "gap"_a, "most"_a, "similarity"_a,
             "anchor"_a = 0, "anchor_window"_a = 1)
        .def("hold", &hold, "words"_a, "offsets"_a, "Add documents as word hashes.")
        .def("borrow", &borrow, "words"_a, "offsets"_a, nb::keep_alive<1, 2>(),
             "Add documents whose words stay where they are.")
        .def("samples", &Copies::samples, nb::call_guard<nb::gil_scoped_release>(), "The grams that `find` samples.")
        .def_static("room", [](size_t samples) { return std::make_pair(Copies::entry_bytes(samples), Copies::slot_bytes(samples)); },
                    "samples"_a, "Bytes of the two arrays of `lend`.")
        .def("lend", &lend, "entries"_a, "slots"_a, "samples"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             "Store the grams of `find` in these arrays, which are all zero.")
        .def("reserve", &Copies::reserve, "samples"_a, "Make room for the grams of `find`.")
        .def_prop_ro("bytes", &Copies::bytes, "Memory of the words and grams.")
        .def("find", &find, "documents"_a, "Compare held documents, in this order, with those before them.")
        .def("seeds", &seeds, "words"_a, "offsets"_a, "The grams that `find` samples: positions, tags, and where those of each document end.")
        .def("seed_lists", &seed_lists, "occurrences"_a, "contexts"_a, "covered"_a.none(),
             "Which stored grams meet each gram, four numbers each; occurrences are seven numbers each.")
        .def("listed", &listed, "lists"_a, "numbers"_a,
             "Compare documents with these lists; the grams that are not stored, three numbers each.")
        .def("adopt", &adopt, "copies"_a, "Take copies that were found elsewhere.")
        .def("index", &index_held, "Store all grams of the held documents, for `against`.")
        .def("against", &against, "words"_a, "offsets"_a,
             "Copies between other documents and the held ones, seven numbers each.")
        .def("copies", [](const Copies &self) { return give_rows<uint32_t>(std::vector(self.copies())); },
             "Seven numbers each: document, begin, end, source, its begin and end, words that agree.")
        .def("places", &places, "Five numbers each: passage, document, begin, end, copy or -1.")
        .def("__len__", &Copies::documents);
    m.attr("CONTEXT_WORDS") = neardup::context_words;
    m.def("anchors", &anchors, "words"_a, "offsets"_a, "gram"_a, "window"_a,
          "The anchors of each document, sorted, each once, and where those of each document end.");
    m.def("pack_anchors", &pack_anchors, "postings"_a, "first"_a, "count"_a,
          "Rows of an index from sorted postings (anchor << 30 | document), and where each row ends.");
    m.def("unpack_anchors", &unpack_anchors, "rows"_a, "numbers"_a, "The postings of rows; ValueError if one is damaged.");
    m.def("find_anchors", &find_anchors, "rows"_a, "numbers"_a, "anchors"_a,
          "The documents of rows that have one of the sorted anchors; ValueError if a row is damaged.");
    m.def("text_spans", &text_spans, "values"_a, "offsets"_a, "options"_a, "begins"_a, "ends"_a, "span_offsets"_a,
          "unit"_a, "Spans of words in the text, four numbers each: bytes from and to, characters from and to.");
}
