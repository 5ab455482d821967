#include "bindings/bindings.hpp"
#include "features/parity.hpp"
#include "matching/meetings.hpp"
#include "matching/paths.hpp"

using namespace nb::literals;

static nb::tuple longer_paths(In<uint32_t> features, In<int64_t> ends, In<uint8_t> rarity, In<int64_t> m,
                              In<uint64_t> paths, In<int64_t> offsets, int few_bits, uint32_t deepest) {
    neardup::Paths out;
    out.offsets = {0};
    {
        nb::gil_scoped_release free;
        const neardup::Features sets{features.data(), ends.data(), rarity.data(), rarity.size()};
        neardup::longer_paths(sets, m.data(), paths.data(), offsets.data(), m.size(), few_bits, deepest, out);
    }
    return nb::make_tuple(give(std::move(out.values)), give(std::move(out.offsets)));
}

static nb::tuple parity_sketches(In<uint32_t> features, In<int64_t> ends, size_t num, size_t den) {
    neardup::ParitySketches out;
    out.offsets = {0};
    {
        nb::gil_scoped_release free;
        neardup::parity_sketches(features.data(), ends.data(), ends.size() - 1, num, den, out);
    }
    return nb::make_tuple(give(std::move(out.words)), give(std::move(out.offsets)));
}

static nb::tuple meet(In<uint64_t> paths, In<int64_t> offsets, In<uint32_t> by_size, In<uint32_t> place,
                      In<int64_t> sizes, In<uint64_t> words, In<int64_t> word_offsets, int64_t num, int64_t den,
                      int few_bits, uint32_t deepest, uint64_t part, int part_bits) {
    neardup::Meetings out;
    {
        nb::gil_scoped_release free;
        const neardup::Outlines outlines{sizes.data(), words.data(), word_offsets.data(), num, den};
        neardup::meet(paths.data(), offsets.data(), by_size.data(), place.data(), sizes.size(), outlines,
                      {few_bits, deepest, part, part_bits}, out);
    }
    return nb::make_tuple(give(std::move(out.pairs)), give(std::move(out.open)), give(std::move(out.open_documents)),
                          give(std::move(out.members)), give(std::move(out.ends)), out.compared);
}

static Out<uint8_t> may_pass(In<int64_t> sizes, In<uint64_t> words, In<int64_t> word_offsets, int64_t num,
                                               int64_t den, In<uint32_t> a, In<uint32_t> b) {
    std::vector<uint8_t> may(a.size());
    {
        nb::gil_scoped_release free;
        const neardup::Outlines outlines{sizes.data(), words.data(), word_offsets.data(), num, den};
        neardup::may_pass(outlines, a.data(), b.data(), a.size(), may.data());
    }
    return give(std::move(may));
}

void bind_paths(nb::module_ &m) {
    m.def("longer_paths", &longer_paths, "features"_a, "ends"_a, "rarity"_a, "m"_a, "paths"_a, "offsets"_a, "few_bits"_a,
          "deepest"_a);
    m.def("parity_sketches", &parity_sketches, "features"_a, "ends"_a, "num"_a, "den"_a);
    m.def("may_pass", &may_pass, "sizes"_a, "words"_a, "word_offsets"_a, "num"_a, "den"_a, "a"_a, "b"_a);
    m.def("meet", &meet, "paths"_a, "offsets"_a, "by_size"_a, "place"_a, "sizes"_a, "words"_a, "word_offsets"_a, "num"_a,
          "den"_a, "few_bits"_a, "deepest"_a, "part"_a, "part_bits"_a);
}
