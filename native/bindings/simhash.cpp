#include "bindings/bindings.hpp"
#include "matching/near_bits.hpp"
#include "methods/simhash.hpp"

using namespace nb::literals;
using neardup::SimhashSettings;
using neardup::TermTable;
using neardup::TextOptions;
using neardup::WordMap;

static nb::tuple prepare_simhash(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text, const WordMap *map,
                                 uint32_t width, uint32_t lanes, bool distinct, uint32_t min_words) {
    neardup::SimhashBatch out;
    {
        nb::gil_scoped_release free;
        neardup::prepare_simhash(values.data(), offsets.data(), offsets.size() - 1, text, map,
                                 {width, lanes, distinct, min_words}, out);
    }
    return nb::make_tuple(give(std::move(out.fingerprints)), give(std::move(out.words)),
                          give(std::move(out.text_digests)), give(std::move(out.normal_digests)),
                          give(std::move(out.short_digests)));
}

static Out<int64_t> simhash_sums(In<uint8_t> values, In<int64_t> offsets, const TextOptions &text, const WordMap *map,
                                 uint32_t width, uint32_t lanes, bool distinct, const TermTable *table,
                                 In<uint32_t> weights, uint32_t unknown) {
    std::vector<int64_t> sums((offsets.size() - 1) * lanes * 64);
    {
        nb::gil_scoped_release free;
        neardup::simhash_sums(values.data(), offsets.data(), offsets.size() - 1, text, map,
                              {width, lanes, distinct, 0}, table, {weights.data(), weights.size()}, unknown,
                              sums.data());
    }
    return give(std::move(sums));
}

static nb::tuple near_pairs(In<uint64_t> values, In<int64_t> codes, In<uint64_t> masks, size_t lanes, uint32_t distance,
                            size_t table, size_t most_pairs) {
    neardup::NearPairs out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::near_pairs({values.data(), values.size()}, {codes.data(), codes.size()},
                            {{masks.data(), masks.size()}, lanes, distance}, table, most_pairs, out);
    }
    return nb::make_tuple(give(std::move(out.a)), give(std::move(out.b)), give(std::move(out.members)),
                          give(std::move(out.ends)));
}

static Out<int64_t> bit_distances(In<uint64_t> values, In<int64_t> offsets, In<int64_t> a, In<int64_t> b) {
    std::vector<int64_t> out(a.size());
    {
        nb::gil_scoped_release free;
        neardup::bit_distances(values.data(), offsets.data(), a.data(), b.data(), a.size(), out.data());
    }
    return give(std::move(out));
}

void bind_simhash(nb::module_ &m) {
    m.def("prepare_simhash", &prepare_simhash, "values"_a, "offsets"_a, "text"_a, "map"_a.none(), "width"_a, "lanes"_a,
          "distinct"_a, "min_words"_a);
    m.def("simhash_sums", &simhash_sums, "values"_a, "offsets"_a, "text"_a, "map"_a.none(), "width"_a, "lanes"_a,
          "distinct"_a, "table"_a.none(), "weights"_a, "unknown"_a);
    m.def("near_pairs", &near_pairs, "values"_a, "codes"_a, "masks"_a, "lanes"_a, "distance"_a, "table"_a,
          "most_pairs"_a);
    m.def("bit_distances", &bit_distances, "values"_a, "offsets"_a, "a"_a, "b"_a);
}
