// Texts come as (values, offsets): document i is values[offsets[i] : offsets[i + 1]].
#include <cstring>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <tuple>
#include <unordered_set>

#include "bindings/bindings.hpp"
#include "simd.hpp"
#include "text/recognition.hpp"
#include "text/sentences.hpp"
#include "text/unicode.hpp"
#include "text/words.hpp"

using neardup::TextOptions;
using neardup::Tokenizer;
using neardup::WordMap;

namespace {

using Bytes = In<uint8_t>;
using Offsets = In<int64_t>;

void check_offsets(const Bytes &values, const Offsets &offsets) {
    const int64_t *o = offsets.data(), size = static_cast<int64_t>(values.shape(0));
    const size_t n = offsets.shape(0);
    bool good = n > 0 && o[0] >= 0 && o[n - 1] <= size;
    for (size_t i = 1; good && i < n; ++i) good = o[i - 1] <= o[i];
    if (!good) throw nb::value_error("offsets must rise from 0 or more to the size of values or less");
}

template <typename Each>
void each_text(const Bytes &values, const Offsets &offsets, Each &&each) {
    const uint8_t *text = values.data();
    const int64_t *o = offsets.data();
    for (size_t i = 0; i + 1 < offsets.shape(0); ++i) each(text + o[i], static_cast<size_t>(o[i + 1] - o[i]));
}

auto word_hashes(Bytes values, Offsets offsets, const TextOptions &options, const WordMap *map) {
    check_offsets(values, offsets);
    std::vector<uint64_t> all, one;
    std::vector<int64_t> ends{0};
    all.reserve(values.shape(0) / 5);
    {
        nb::gil_scoped_release release;
        Tokenizer tokenizer(options, map);
        each_text(values, offsets, [&](const uint8_t *text, size_t size) {
            tokenizer.hashes(text, size, one);
            all.insert(all.end(), one.begin(), one.end());
            ends.push_back(static_cast<int64_t>(all.size()));
        });
    }
    return std::pair(give(std::move(all)), give(std::move(ends)));
}

auto word_spans(Bytes values, Offsets offsets, const TextOptions &options, const WordMap *map) {
    check_offsets(values, offsets);
    std::vector<uint64_t> all, one;
    std::vector<int64_t> begins, word_ends, ends{0};
    std::vector<neardup::Place> places;
    {
        nb::gil_scoped_release release;
        Tokenizer tokenizer(options, map);
        each_text(values, offsets, [&](const uint8_t *text, size_t size) {
            tokenizer.spans(text, size, one, places);
            all.insert(all.end(), one.begin(), one.end());
            for (const neardup::Place &place : places) {
                begins.push_back(static_cast<int64_t>(place.begin));
                word_ends.push_back(static_cast<int64_t>(place.end));
            }
            ends.push_back(static_cast<int64_t>(all.size()));
        });
    }
    return std::tuple(give(std::move(all)), give(std::move(begins)), give(std::move(word_ends)), give(std::move(ends)));
}

auto words(Bytes values, Offsets offsets, const TextOptions &options) {
    check_offsets(values, offsets);
    std::vector<uint8_t> bytes;
    std::vector<int64_t> word_ends{0}, ends{0};
    {
        nb::gil_scoped_release release;
        Tokenizer tokenizer(options);
        each_text(values, offsets, [&](const uint8_t *text, size_t size) {
            tokenizer.words(text, size, bytes, word_ends);
            ends.push_back(static_cast<int64_t>(word_ends.size()) - 1);
        });
    }
    return std::tuple(give(std::move(bytes)), give(std::move(word_ends)), give(std::move(ends)));
}

auto unique_words(Bytes values, Offsets offsets, const TextOptions &options) {
    check_offsets(values, offsets);
    std::vector<uint8_t> bytes, some;
    std::vector<int64_t> ends{0}, some_ends;
    std::vector<uint64_t> hashes;
    {
        nb::gil_scoped_release release;
        Tokenizer tokenizer(options);
        std::unordered_set<uint64_t> seen;
        each_text(values, offsets, [&](const uint8_t *text, size_t size) {
            some.clear();
            some_ends.assign(1, 0);
            tokenizer.words(text, size, some, some_ends);
            for (size_t i = 1; i < some_ends.size(); ++i) {
                const uint8_t *p = some.data() + some_ends[i - 1], *end = some.data() + some_ends[i];
                const uint64_t hash = neardup::word_hash(p, static_cast<size_t>(end - p));
                if (!seen.insert(hash).second) continue;
                bytes.insert(bytes.end(), p, end);
                ends.push_back(static_cast<int64_t>(bytes.size()));
                hashes.push_back(hash);
            }
        });
    }
    return std::tuple(give(std::move(bytes)), give(std::move(ends)), give(std::move(hashes)));
}

auto normal_forms(Bytes values, Offsets offsets, const TextOptions &options) {
    check_offsets(values, offsets);
    std::vector<uint8_t> all, one;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release release;
        Tokenizer tokenizer(options);
        each_text(values, offsets, [&](const uint8_t *text, size_t size) {
            tokenizer.normal_form(text, size, one);
            all.insert(all.end(), one.begin(), one.end());
            ends.push_back(static_cast<int64_t>(all.size()));
        });
    }
    return std::pair(give(std::move(all)), give(std::move(ends)));
}

auto recognised_pairs(Bytes values, Offsets offsets, In<int64_t> a, In<int64_t> b, int64_t floor) {
    check_offsets(values, offsets);
    std::vector<int64_t> found, pieces;
    {
        nb::gil_scoped_release release;
        neardup::Recogniser recogniser;
        const int64_t *o = offsets.data();
        const auto size = [&](int64_t text) { return static_cast<size_t>(o[text + 1] - o[text]); };
        for (size_t i = 0; i < a.shape(0); ++i) {
            const int64_t x = a.data()[i], y = b.data()[i];
            const auto pair = recogniser.compare(values.data() + o[x], size(x), values.data() + o[y], size(y), floor);
            found.push_back(pair.found);
            pieces.push_back(pair.pieces);
        }
    }
    return std::pair(give(std::move(found)), give(std::move(pieces)));
}

auto sentences(Bytes values, Offsets offsets) {
    check_offsets(values, offsets);
    std::vector<int64_t> sentence_ends{0}, ends{0};
    int64_t before = 0;
    {
        nb::gil_scoped_release release;
        each_text(values, offsets, [&](const uint8_t *text, size_t size) {
            for (const uint8_t *p = text, *end = text + size; p < end;) {
                p = neardup::sentence_end(p, end);
                sentence_ends.push_back(before + (p - text));
            }
            before += static_cast<int64_t>(size);
            ends.push_back(static_cast<int64_t>(sentence_ends.size()) - 1);
        });
    }
    return std::pair(give(std::move(sentence_ends)), give(std::move(ends)));
}

auto hash_words(Bytes values, Offsets offsets) {
    check_offsets(values, offsets);
    std::vector<uint64_t> hashes;
    each_text(values, offsets,
              [&](const uint8_t *word, size_t size) { hashes.push_back(neardup::word_hash(word, size)); });
    return give(std::move(hashes));
}

void make_word_map(WordMap *self, In<uint64_t> from, In<uint64_t> to) {
    if (from.shape(0) != to.shape(0)) throw nb::value_error("from_hashes and to_hashes must be equally long");
    new (self) WordMap(from.data(), to.data(), from.shape(0));
}

void make_options(TextOptions *self, bool fold_case, int digits, int punctuation, bool strip_diacritics) {
    if (digits < 0 || digits > 2) throw nb::value_error("digits must be 0 (keep), 1 (mask) or 2 (drop)");
    if (punctuation < 0 || punctuation > 1) throw nb::value_error("punctuation must be 0 (split) or 1 (remove)");
    new (self) TextOptions{fold_case, static_cast<TextOptions::Digits>(digits),
                           static_cast<TextOptions::Punctuation>(punctuation), strip_diacritics};
}

constexpr const char *instruction_names[] = {"portable", "sse4", "avx2", "avx512"};

nb::tuple supported_instructions() {
    nb::list names;
    for (int i = 0; i <= static_cast<int>(neardup::best_instructions()); ++i) names.append(instruction_names[i]);
    return nb::tuple(names);
}

const char *instructions_in_use() { return instruction_names[static_cast<int>(neardup::instructions())]; }

void use_instructions(const char *name) {
    for (int i = 0; i <= static_cast<int>(neardup::best_instructions()); ++i)
        if (std::strcmp(name, instruction_names[i]) == 0)
            return neardup::use_instructions(static_cast<neardup::Instructions>(i));
    throw nb::value_error("instructions must be one of INSTRUCTIONS");
}

}  // namespace

void bind_text(nb::module_ &m) {
    using namespace nb::literals;
    m.attr("INSTRUCTIONS") = supported_instructions();
    m.def("use_instructions", &use_instructions, "name"_a,
          "Choose the level of instructions that all kernels use; all levels give the same bits.");
    m.def("instructions", &instructions_in_use, "The level of instructions that kernels use.");
    m.attr("UNICODE_VERSION") = static_cast<const char *>(neardup::unicode::unicode_version);

    nb::class_<TextOptions>(m, "TextOptions", "What counts as the same text; neardup.text.options explains it.")
        .def("__init__", &make_options, nb::kw_only(), "fold_case"_a = true, "digits"_a = 0, "punctuation"_a = 0,
             "strip_diacritics"_a = false)
        .def_ro("fold_case", &TextOptions::fold_case)
        .def_prop_ro("digits", [](const TextOptions &o) { return static_cast<int>(o.digits); })
        .def_prop_ro("punctuation", [](const TextOptions &o) { return static_cast<int>(o.punctuation); })
        .def_ro("strip_diacritics", &TextOptions::strip_diacritics);
    nb::class_<WordMap>(m, "WordMap", "Word hash to word hash; to 0 leaves the word out.")
        .def("__init__", &make_word_map, "from_hashes"_a, "to_hashes"_a)
        .def("__len__", &WordMap::size);

    m.def("word_hashes", &word_hashes, "values"_a, "offsets"_a, "options"_a, "map"_a = nb::none(),
          "One uint64 a word: (values, offsets).");
    m.def("word_spans", &word_spans, "values"_a, "offsets"_a, "options"_a, "map"_a = nb::none(),
          "Of each word its hash and its place in its text, in bytes: (hashes, begins, ends, doc_offsets).");
    m.def("words", &words, "values"_a, "offsets"_a, "options"_a,
          "The normalised words: (bytes, word_offsets, doc_offsets).");
    m.def("unique_words", &unique_words, "values"_a, "offsets"_a, "options"_a,
          "The distinct words of all texts in order of first appearance: (bytes, word_offsets, hashes).");
    m.def("normal_forms", &normal_forms, "values"_a, "offsets"_a, "options"_a,
          "The words of each text joined by one space: (values, offsets).");
    m.def("recognised_pairs", &recognised_pairs, "values"_a, "offsets"_a, "a"_a, "b"_a, "floor"_a,
          "Pairs of normal forms: how many pieces of the smaller are found, and of how many: (found, pieces).");
    m.def("sentences", &sentences, "values"_a, "offsets"_a,
          "Where the sentences of all texts end, counted in bytes from the first: (sentence_offsets, doc_offsets).");
    m.def("hash_words", &hash_words, "values"_a, "offsets"_a, "The hash of each given word, as it is.");
}
