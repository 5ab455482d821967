#include <nanobind/stl/string.h>

#include "bindings/bindings.hpp"
#include "features/byte_kinds.hpp"
#include "features/minhash.hpp"
#include "features/overlap.hpp"
#include "features/qgrams.hpp"
#include "features/shingles.hpp"
#include "features/slot_counts.hpp"
#include "features/spots.hpp"
#include "hash.hpp"
#include "methods/reading.hpp"
#include "methods/shingles.hpp"

using namespace nb::literals;
using neardup::TextOptions;
using neardup::WordMap;

static neardup::KeyScheme scheme_named(const std::string &name) {
    if (name == "bands") return neardup::KeyScheme::bands;
    if (name == "prefix") return neardup::KeyScheme::prefix;
    if (name == "containment") return neardup::KeyScheme::containment;
    throw nb::value_error("unknown key scheme");
}

static nb::dict prepare_shingles(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text, const WordMap *map,
                                 uint32_t width, uint32_t min_words, const std::string &scheme,
                                 In<uint32_t> multipliers, uint32_t bands, uint32_t rows, uint64_t threshold_num,
                                 uint64_t threshold_den, In<uint64_t> ignored, size_t piece_bytes) {
    neardup::ShingleSettings settings{width, min_words, scheme_named(scheme), bands, rows,
                                      {multipliers.data(), multipliers.size()}, threshold_num, threshold_den, piece_bytes,
                                      {ignored.data(), ignored.size()}};
    neardup::ShingleBatch batch;
    batch.feature_ends = {0};
    batch.key_ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::prepare_shingles(values.data(), offsets.data(), offsets.size() - 1, text, map, settings, batch);
    }
    nb::dict out;
    out["features"] = give(std::move(batch.features));
    out["feature_offsets"] = give(std::move(batch.feature_ends));
    out["keys"] = give(std::move(batch.keys));
    out["key_offsets"] = give(std::move(batch.key_ends));
    out["probes"] = give(std::move(batch.probes));
    out["set_digests"] = give(std::move(batch.set_digests));
    out["text_digests"] = give(std::move(batch.text_digests));
    out["normal_digests"] = give(std::move(batch.normal_digests));
    out["too_short"] = give(std::move(batch.too_short));
    return out;
}

// Owns what its settings point to.
struct ShingleReader {
    std::vector<uint32_t> multipliers;
    std::vector<uint64_t> ignored;
    neardup::ShingleReader reader;

    ShingleReader(const TextOptions &text, const WordMap *map, uint32_t width, uint32_t min_words,
                  const std::string &scheme, In<uint32_t> by, uint32_t bands, uint32_t rows, uint64_t num, uint64_t den,
                  In<uint64_t> left_out)
        : multipliers(by.data(), by.data() + by.size()),
          ignored(left_out.data(), left_out.data() + left_out.size()),
          reader(text, map,
                 {width, min_words, scheme_named(scheme), bands, rows, multipliers, num, den,
                  neardup::ShingleSettings{}.piece_bytes, ignored}) {}
};

// The GIL stays: the scratch is shared, and a text of usual size takes some microseconds.
static nb::tuple read_shingles(ShingleReader &self, nb::bytes text) {
    const auto &batch = self.reader.read(reinterpret_cast<const uint8_t *>(text.c_str()), text.size());
    const auto bytes = [](const auto &values) {
        return nb::bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(values[0]));
    };
    return nb::make_tuple(bytes(batch.keys), batch.probes[0], bytes(batch.features), bytes(batch.set_digests),
                          batch.text_digests[0], batch.normal_digests[0], batch.too_short[0]);
}

static nb::tuple read_words(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text, const WordMap *map,
                            bool hashes) {
    neardup::Reading read;
    read.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::read_words(values.data(), offsets.data(), offsets.size() - 1, text, map, hashes, read);
    }
    return nb::make_tuple(give(std::move(read.words)), give(std::move(read.ends)), give(std::move(read.text_digests)),
                          give(std::move(read.normal_digests)), give(std::move(read.short_digests)));
}

static Out<uint32_t> shingle_signatures(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text,
                                        const WordMap *map, uint32_t width, In<uint64_t> ignored,
                                        In<uint32_t> multipliers) {
    std::vector<uint32_t> out;
    {
        nb::gil_scoped_release free;
        neardup::shingle_signatures(values.data(), offsets.data(), offsets.size() - 1, text, map, width,
                                    {ignored.data(), ignored.size()}, {multipliers.data(), multipliers.size()}, out);
    }
    return give(std::move(out));
}

static Out<uint64_t> shingle_hashes(In<uint64_t> words, uint32_t width) {
    std::vector<uint64_t> out;
    {
        nb::gil_scoped_release free;
        neardup::shingle_hashes(words.data(), words.size(), width, out);
    }
    return give(std::move(out));
}

static Out<uint32_t> shingle_set(In<uint64_t> words, uint32_t width) {
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> out, counts;
    {
        nb::gil_scoped_release free;
        neardup::shingle_hashes(words.data(), words.size(), width, hashes);
        neardup::feature_set(hashes, out, counts);
    }
    return give(std::move(out));
}

static Out<uint32_t> minhash(In<uint64_t> hashes, In<uint32_t> multipliers) {
    std::vector<uint32_t> out(multipliers.size());
    {
        nb::gil_scoped_release free;
        neardup::minhash(hashes.data(), hashes.size(), multipliers.data(), multipliers.size(), out.data());
    }
    return give(std::move(out));
}

static Out<uint64_t> band_keys(In<uint32_t> features, In<int64_t> offsets, In<uint32_t> multipliers, uint32_t bands,
                               uint32_t rows) {
    std::vector<uint64_t> keys((offsets.size() - 1) * bands);
    {
        nb::gil_scoped_release free;
        neardup::band_keys(features.data(), offsets.data(), offsets.size() - 1, multipliers.data(), multipliers.size(),
                           bands, rows, keys.data());
    }
    return give(std::move(keys));
}

static Out<int64_t> overlaps(In<uint32_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b,
                             In<int64_t> needed) {
    std::vector<int64_t> counts(a.size());
    {
        nb::gil_scoped_release free;
        neardup::overlaps(values.data(), offsets.data(), a.data(), b.data(), needed.data(), a.size(), counts.data());
    }
    return give(std::move(counts));
}

static Out<int64_t> overlaps_in_order(In<uint64_t> entries, In<int64_t> offsets, In<int64_t> a, In<int64_t> b,
                                      In<int64_t> needed) {
    std::vector<int64_t> counts(a.size());
    {
        nb::gil_scoped_release free;
        neardup::overlaps_in_order(entries.data(), offsets.data(), a.data(), b.data(), needed.data(), a.size(),
                                   counts.data());
    }
    return give(std::move(counts));
}

static Out<uint64_t> weighted_overlaps(In<uint64_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b, bool dot) {
    std::vector<uint64_t> sums(a.size());
    {
        nb::gil_scoped_release free;
        neardup::weighted_overlaps(values.data(), offsets.data(), a.data(), b.data(), dot, a.size(), sums.data());
    }
    return give(std::move(sums));
}

static nb::tuple shared_by_rarity(In<uint64_t> values, In<int64_t> offsets, In<int64_t> weights, In<int64_t> a,
                                  In<int64_t> b, In<int64_t> needed) {
    std::vector<neardup::SharedByRarity> shared(a.size());
    std::vector<int64_t> weight, features, rare_weight, rare;
    {
        nb::gil_scoped_release free;
        neardup::shared_by_rarity(values.data(), offsets.data(), weights.data(), a.data(), b.data(), needed.data(),
                                  a.size(), shared.data());
        for (const auto &one : shared) {
            weight.push_back(one.weight);
            features.push_back(one.features);
            rare_weight.push_back(one.rare_weight);
            rare.push_back(one.rare);
        }
    }
    return nb::make_tuple(give(std::move(weight)), give(std::move(features)), give(std::move(rare_weight)),
                          give(std::move(rare)));
}

static nb::tuple sizes_by_rarity(In<uint64_t> values, In<int64_t> offsets) {
    const size_t documents = offsets.size() - 1;
    std::vector<int64_t> weights(documents), lone(documents), noise(documents);
    {
        nb::gil_scoped_release free;
        neardup::sizes_by_rarity(values.data(), offsets.data(), documents, weights.data(), lone.data(), noise.data());
    }
    return nb::make_tuple(give(std::move(weights)), give(std::move(lone)), give(std::move(noise)));
}

static nb::tuple qgram_sets(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text, uint32_t q, size_t least,
                            uint32_t every) {
    std::vector<uint32_t> features;
    std::vector<int64_t> ends{0}, characters;
    {
        nb::gil_scoped_release free;
        neardup::Qgrams qgrams(text, q, every);
        for (size_t i = 0; i + 1 < offsets.size(); ++i) {
            const int64_t begin = offsets.data()[i];
            const auto size = static_cast<size_t>(offsets.data()[i + 1] - begin);
            characters.push_back(static_cast<int64_t>(qgrams.append(values.data() + begin, size, least, features)));
            ends.push_back(static_cast<int64_t>(features.size()));
        }
    }
    return nb::make_tuple(give(std::move(features)), give(std::move(ends)), give(std::move(characters)));
}

static nb::bytes qgram_form(In<uint8_t> value, const TextOptions &text) {
    std::vector<uint8_t> out;
    neardup::Qgrams(text, 1).normal_form(value.data(), value.size(), out);
    return nb::bytes(out.data(), out.size());
}

static nb::tuple spot_sets(In<uint64_t> words, In<int64_t> offsets, In<uint64_t> antecedents, uint32_t distance,
                           uint32_t chain) {
    std::vector<uint32_t> features;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::Spots spots({distance, chain, {antecedents.data(), antecedents.size()}});
        for (size_t i = 0; i + 1 < offsets.size(); ++i) {
            const int64_t begin = offsets.data()[i];
            spots.append(words.data() + begin, static_cast<size_t>(offsets.data()[i + 1] - begin), features);
            ends.push_back(static_cast<int64_t>(features.size()));
        }
    }
    return nb::make_tuple(give(std::move(features)), give(std::move(ends)));
}

static Out<uint64_t> bytes_digests(In<uint8_t> values, In<int64_t> offsets, uint64_t seed) {
    std::vector<uint64_t> out(offsets.size() - 1);
    {
        nb::gil_scoped_release free;
        for (size_t i = 0; i < out.size(); ++i) {
            const int64_t begin = offsets.data()[i];
            out[i] = neardup::bytes_digest(values.data() + begin, static_cast<size_t>(offsets.data()[i + 1] - begin), seed);
        }
    }
    return give(std::move(out));
}

static Out<int64_t> byte_kinds(In<uint8_t> values, In<int64_t> offsets, In<uint8_t> kinds) {
    std::vector<int64_t> out((offsets.size() - 1) * neardup::kByteKinds);
    {
        nb::gil_scoped_release free;
        neardup::byte_kinds(values.data(), offsets.data(), offsets.size() - 1, kinds.data(), out.data());
    }
    return give(std::move(out));
}

static Out<uint8_t> equal_pairs(In<uint8_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b) {
    std::vector<uint8_t> out(a.size());
    {
        nb::gil_scoped_release free;
        neardup::equal_pairs(values.data(), offsets.data(), a.data(), b.data(), a.size(), out.data());
    }
    return give(std::move(out));
}

template <typename T>
using Changed = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Both return how many features were counted before the table needed more places.
static size_t count_documents(In<uint32_t> features, Changed<uint8_t> low, Changed<uint64_t> high) {
    nb::gil_scoped_release free;
    neardup::SlotCounter slots(low.data(), low.size(), high.data(), high.size());
    return slots.add(features.data(), features.size());
}

static size_t add_counts(In<uint32_t> features, In<uint16_t> counts, Changed<uint8_t> low, Changed<uint64_t> high) {
    nb::gil_scoped_release free;
    neardup::SlotCounter slots(low.data(), low.size(), high.data(), high.size());
    size_t done = 0;
    for (; done < features.size() && slots.has_room(1); ++done) slots.add(features.data()[done], counts.data()[done]);
    return done;
}

static void place_high_counts(In<uint64_t> entries, Changed<uint64_t> high) {
    for (size_t i = 0; i < entries.size(); ++i)
        *neardup::high_place(high.data(), high.size(), static_cast<uint32_t>(entries.data()[i] >> 32)) = entries.data()[i];
}

static Out<uint16_t> counts_of(In<uint32_t> features, In<uint8_t> low, In<uint64_t> high) {
    std::vector<uint16_t> out(features.size());
    {
        nb::gil_scoped_release free;
        const neardup::SlotCounts slots{low.data(), low.size(), high.data(), high.size()};
        for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint16_t>(slots.of(features.data()[i]));
    }
    return give(std::move(out));
}

void bind_features(nb::module_ &m) {
    m.def("count_documents", &count_documents, "features"_a, "low"_a, "high"_a);
    m.def("add_counts", &add_counts, "features"_a, "counts"_a, "low"_a, "high"_a);
    m.def("place_high_counts", &place_high_counts, "entries"_a, "high"_a);
    m.def("counts_of", &counts_of, "features"_a, "low"_a, "high"_a);
    m.def("bytes_digests", &bytes_digests, "values"_a, "offsets"_a, "seed"_a);
    m.def("byte_kinds", &byte_kinds, "values"_a, "offsets"_a, "kinds"_a);
    m.def("equal_pairs", &equal_pairs, "values"_a, "offsets"_a, "a"_a, "b"_a);
    m.def("qgram_sets", &qgram_sets, "values"_a, "offsets"_a, "text"_a, "q"_a, "least"_a, "every"_a);
    m.def("qgram_form", &qgram_form, "value"_a, "text"_a);
    m.def("spot_sets", &spot_sets, "words"_a, "offsets"_a, "antecedents"_a, "distance"_a, "chain"_a);
    m.def("read_words", &read_words, "values"_a, "offsets"_a, "options"_a, "map"_a.none(), "hashes"_a = true);
    m.attr("MOST_SHINGLE_WORDS") = neardup::kMostWords;
    m.def("prepare_shingles", &prepare_shingles, "values"_a, "offsets"_a, "text"_a, "map"_a.none(), "width"_a,
          "min_words"_a, "scheme"_a, "multipliers"_a, "bands"_a, "rows"_a, "threshold_num"_a, "threshold_den"_a, "ignored"_a,
          "piece_bytes"_a = neardup::ShingleSettings{}.piece_bytes);
    nb::class_<ShingleReader>(m, "ShingleReader")
        .def(nb::init<const TextOptions &, const WordMap *, uint32_t, uint32_t, const std::string &, In<uint32_t>, uint32_t,
                      uint32_t, uint64_t, uint64_t, In<uint64_t>>(),
             "text"_a, "map"_a.none(), "width"_a, "min_words"_a, "scheme"_a, "multipliers"_a, "bands"_a, "rows"_a,
             "threshold_num"_a, "threshold_den"_a, "ignored"_a, nb::keep_alive<1, 3>())
        .def("read", &read_shingles, "text"_a);
    m.def("shingle_signatures", &shingle_signatures, "values"_a, "offsets"_a, "text"_a, "map"_a.none(), "width"_a,
          "ignored"_a, "multipliers"_a);
    m.def("shingle_hashes", &shingle_hashes, "words"_a, "width"_a);
    m.def("shingle_set", &shingle_set, "words"_a, "width"_a);
    m.def("minhash", &minhash, "hashes"_a, "multipliers"_a);
    m.def("band_keys", &band_keys, "features"_a, "offsets"_a, "multipliers"_a, "bands"_a, "rows"_a);
    m.def("overlap", [](In<uint32_t> a, In<uint32_t> b, int64_t needed) {
        return neardup::overlap(a.data(), a.size(), b.data(), b.size(), needed);  // microseconds: it keeps the GIL
    }, "a"_a, "b"_a, "needed"_a);
    m.def("overlaps", &overlaps, "values"_a, "offsets"_a, "a"_a, "b"_a, "needed"_a);
    m.def("overlaps_in_order", &overlaps_in_order, "entries"_a, "offsets"_a, "a"_a, "b"_a, "needed"_a);
    m.def("shared_by_rarity", &shared_by_rarity, "values"_a, "offsets"_a, "weights"_a, "a"_a, "b"_a, "needed"_a);
    m.def("sizes_by_rarity", &sizes_by_rarity, "values"_a, "offsets"_a);
    m.def("weighted_overlaps", &weighted_overlaps, "values"_a, "offsets"_a, "a"_a, "b"_a, "dot"_a);
}
