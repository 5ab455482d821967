#include "methods/raregrams.hpp"

#include <algorithm>

#include "bindings/bindings.hpp"
#include "features/gram_samples.hpp"

using namespace nb::literals;
using neardup::TextOptions;

static nb::tuple sample_grams(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text, uint32_t q, size_t most) {
    std::vector<uint64_t> entries;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::GramSamples samples(text, q);
        size_t room = 0;  // untouched memory costs nothing
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            room += 1 + std::min(static_cast<size_t>(offsets.data()[i + 1] - offsets.data()[i]), 2 * most);
        entries.reserve(room);
        for (size_t i = 0; i + 1 < offsets.size(); ++i) {
            const int64_t begin = offsets.data()[i];
            samples.append(values.data() + begin, static_cast<size_t>(offsets.data()[i + 1] - begin), most, entries);
            ends.push_back(static_cast<int64_t>(entries.size()));
        }
    }
    return nb::make_tuple(give(std::move(entries)), give(std::move(ends)));
}

static void weigh_grams(nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, In<int64_t> offsets,
                        In<uint8_t> low, In<uint64_t> high, In<uint32_t> weight_of_count) {
    nb::gil_scoped_release free;
    const neardup::SlotCounts counts{low.data(), low.size(), high.data(), high.size()};
    neardup::weigh_grams(values.data(), offsets.data(), offsets.size() - 1, counts, weight_of_count.data());
}

static Out<uint32_t> gram_features(In<uint64_t> values) {
    std::vector<uint32_t> features;
    {
        nb::gil_scoped_release free;
        features.reserve(values.size());
        for (size_t i = 0; i < values.size(); ++i)
            if (!neardup::sampled::is_head(values.data()[i])) features.push_back(neardup::sampled::feature_of(values.data()[i]));
    }
    return give(std::move(features));
}

static nb::tuple gram_keys(In<uint64_t> values, In<int64_t> offsets, size_t rare, size_t lone, uint32_t bands,
                           uint32_t rows, size_t fewest, size_t own, size_t own_share,
                           In<uint32_t> multipliers) {
    const neardup::GramKeys settings{rare, lone, bands, rows, fewest, own, own_share, multipliers.data(),
                                     multipliers.size()};
    std::vector<uint64_t> keys;
    std::vector<int32_t> probes;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        keys.reserve((offsets.size() - 1) * (rare + lone + 2 * bands));
        neardup::gram_keys(values.data(), offsets.data(), offsets.size() - 1, settings, keys, ends, probes);
    }
    return nb::make_tuple(give(std::move(keys)), give(std::move(ends)), give(std::move(probes)));
}

static Out<int64_t> compare_grams(In<uint64_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b) {
    std::vector<neardup::GramSums> sums(a.size());
    {
        nb::gil_scoped_release free;
        neardup::compare_grams(values.data(), offsets.data(), a.data(), b.data(), a.size(), sums.data());
    }
    return give_sums(std::move(sums));
}

void bind_raregrams(nb::module_ &m) {
    m.def("sample_grams", &sample_grams, "values"_a, "offsets"_a, "text"_a, "q"_a, "most"_a);
    m.def("weigh_grams", &weigh_grams, "values"_a, "offsets"_a, "low"_a, "high"_a, "weight_of_count"_a);
    m.def("gram_features", &gram_features, "values"_a);
    m.def("gram_keys", &gram_keys, "values"_a, "offsets"_a, "rare"_a, "lone"_a, "bands"_a, "rows"_a, "fewest"_a,
          "own"_a, "own_share"_a, "multipliers"_a);
    m.def("compare_grams", &compare_grams, "values"_a, "offsets"_a, "a"_a, "b"_a);
}
