#include "methods/learned.hpp"

#include <nanobind/stl/tuple.h>
#include <tuple>

#include "bindings/bindings.hpp"

using namespace nb::literals;

namespace {

// Of each class three numbers: how many grams are taken, and the least and the most documents that have one.
neardup::ProfileKeys key_settings(In<int64_t> classes, In<uint32_t> multipliers, uint32_t bands, uint32_t rows,
                                  uint32_t shared) {
    neardup::ProfileKeys settings{{}, bands, rows, shared, multipliers.data(), multipliers.size()};
    for (size_t i = 0; i + 2 < classes.size(); i += 3) {
        const int64_t *of = classes.data() + i;
        settings.classes.push_back(
            {static_cast<size_t>(of[0]), static_cast<uint32_t>(of[1]), static_cast<uint32_t>(of[2])});
    }
    return settings;
}

nb::tuple profile_keys(In<uint32_t> grams, In<int64_t> offsets, In<uint8_t> low, In<uint64_t> high, In<int64_t> classes,
                       In<uint32_t> multipliers, uint32_t bands, uint32_t rows, uint32_t shared) {
    const auto settings = key_settings(classes, multipliers, bands, rows, shared);
    const neardup::SlotCounts counts{low.data(), low.size(), high.data(), high.size()};
    std::vector<uint64_t> keys;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::profile_keys(grams.data(), offsets.data(), offsets.size() - 1, counts, settings, keys, ends);
    }
    return nb::make_tuple(give(std::move(keys)), give(std::move(ends)));
}

nb::tuple weigh_profiles(In<uint32_t> rows, In<int64_t> offsets, nb::list tables, size_t noisy, int64_t fewest, double share, size_t grams, In<int64_t> classes,
                         In<uint32_t> multipliers, uint32_t bands, uint32_t minima, uint32_t shared) {
    const auto settings = key_settings(classes, multipliers, bands, minima, shared);
    std::vector<neardup::FamilyTable> families;
    for (nb::handle table : tables) {
        const auto [low, high, weights] = nb::cast<std::tuple<In<uint8_t>, In<uint64_t>, In<uint32_t>>>(table);
        families.push_back({{low.data(), low.size(), high.data(), high.size()}, weights.data()});
    }
    Room<uint64_t> profiles(rows.size());
    std::vector<uint64_t> keys;
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::weigh_profiles(rows.data(), offsets.data(), offsets.size() - 1, families, {noisy, fewest, share}, grams,
                                settings, profiles.values.get(), keys, ends);
    }
    return nb::make_tuple(std::move(profiles).give(), give(std::move(keys)), give(std::move(ends)));
}

nb::tuple rare_grams(In<uint64_t> values, In<int64_t> offsets, size_t families, size_t grams, int64_t least,
                     uint32_t every) {
    neardup::RareGrams out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::rare_grams(values.data(), offsets.data(), offsets.size() - 1, families, grams, least, every, out);
    }
    return nb::make_tuple(give(std::move(out.entries)), give(std::move(out.ends)), give(std::move(out.known)),
                          give(std::move(out.sizes)));
}

}  // namespace

void bind_learned(nb::module_ &m) {
    m.def("profile_keys", &profile_keys, "grams"_a, "offsets"_a, "low"_a, "high"_a, "classes"_a, "multipliers"_a,
          "bands"_a, "rows"_a, "shared"_a);
    m.def("weigh_profiles", &weigh_profiles, "rows"_a, "offsets"_a, "tables"_a, "noisy"_a, "fewest"_a, "share"_a,
          "grams"_a, "classes"_a, "multipliers"_a, "bands"_a, "minima"_a, "shared"_a);
    m.def("rare_grams", &rare_grams, "values"_a, "offsets"_a, "families"_a, "grams"_a, "least"_a, "every"_a);
}
