#include "features/sketch.hpp"

#include "bindings/bindings.hpp"

using namespace nb::literals;

static neardup::Documents documents_of(const In<uint64_t> &words, const In<int64_t> &offsets, uint32_t width,
                                       const In<uint64_t> &ignored) {
    return {words.data(), offsets.data(), offsets.size() - 1, width, {ignored.data(), ignored.size()}};
}

static neardup::Family family_of(const In<uint32_t> &multipliers, const In<uint32_t> &addends) {
    return {{multipliers.data(), multipliers.size()}, {addends.data(), addends.size()}};
}

static nb::tuple sketch_minima(In<uint64_t> words, In<int64_t> offsets, uint32_t width, In<uint64_t> ignored,
                               In<uint32_t> multipliers, In<uint32_t> addends, size_t values) {
    std::vector<uint32_t> minima;
    std::vector<int64_t> shingles;
    {
        nb::gil_scoped_release free;
        neardup::sketch_minima(documents_of(words, offsets, width, ignored), family_of(multipliers, addends), values,
                               minima, shingles);
    }
    return nb::make_tuple(give(std::move(minima)), give(std::move(shingles)));
}

static Out<uint32_t> classic_minhash(In<uint64_t> hashes, In<uint32_t> multipliers, In<uint32_t> addends) {
    std::vector<uint32_t> out(multipliers.size());
    {
        nb::gil_scoped_release free;
        neardup::classic_minhash(hashes.data(), hashes.size(), family_of(multipliers, addends), out.data());
    }
    return give(std::move(out));
}

static nb::tuple sample_features(In<uint64_t> words, In<int64_t> offsets, uint32_t width, In<uint64_t> ignored,
                                 uint32_t modulus, size_t limit) {
    std::vector<uint32_t> features;
    std::vector<int64_t> ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::sample_features(documents_of(words, offsets, width, ignored), modulus, limit, features, ends);
    }
    return nb::make_tuple(give(std::move(features)), give(std::move(ends)));
}

static Out<int64_t> equal_places(In<uint32_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b) {
    std::vector<int64_t> counts(a.size());
    {
        nb::gil_scoped_release free;
        neardup::equal_places(values.data(), offsets.data(), a.data(), b.data(), a.size(), counts.data());
    }
    return give(std::move(counts));
}

static nb::tuple bottom_overlaps(In<uint32_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b, size_t limit) {
    std::vector<int64_t> shared(a.size()), whole(a.size());
    {
        nb::gil_scoped_release free;
        neardup::bottom_overlaps(values.data(), offsets.data(), a.data(), b.data(), limit, a.size(), shared.data(),
                                 whole.data());
    }
    return nb::make_tuple(give(std::move(shared)), give(std::move(whole)));
}

static Out<int64_t> common_values(In<uint64_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b) {
    std::vector<int64_t> counts(a.size());
    {
        nb::gil_scoped_release free;
        neardup::common_values(values.data(), offsets.data(), a.data(), b.data(), a.size(), counts.data());
    }
    return give(std::move(counts));
}

void bind_sketch(nb::module_ &m) {
    m.attr("CLASSIC_PRIME") = neardup::kClassicPrime;
    m.def("sketch_minima", &sketch_minima, "words"_a, "offsets"_a, "width"_a, "ignored"_a, "multipliers"_a, "addends"_a,
          "values"_a);
    m.def("classic_minhash", &classic_minhash, "hashes"_a, "multipliers"_a, "addends"_a);
    m.def("sample_features", &sample_features, "words"_a, "offsets"_a, "width"_a, "ignored"_a, "modulus"_a, "limit"_a);
    m.def("equal_places", &equal_places, "values"_a, "offsets"_a, "a"_a, "b"_a);
    m.def("bottom_overlaps", &bottom_overlaps, "values"_a, "offsets"_a, "a"_a, "b"_a, "limit"_a);
    m.def("common_values", &common_values, "values"_a, "offsets"_a, "a"_a, "b"_a);
}
