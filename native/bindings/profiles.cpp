#include "features/profiles.hpp"

#include <nanobind/stl/tuple.h>
#include <tuple>

#include "bindings/bindings.hpp"
#include "features/aligned.hpp"

using namespace nb::literals;

static nb::tuple profile_rows(nb::list sets) {
    std::vector<neardup::FeatureSets> families;
    size_t documents = 0, entries = 0;
    for (nb::handle one : sets) {
        const auto [values, offsets] = nb::cast<std::tuple<In<uint32_t>, In<int64_t>>>(one);
        families.push_back({values.data(), offsets.data()});
        documents = offsets.size() - 1;
        entries += static_cast<size_t>(offsets.data()[documents] - offsets.data()[0]) + documents;
    }
    Room<uint32_t> rows(entries);
    std::vector<int64_t> ends{0};
    {
        nb::gil_scoped_release free;
        neardup::profile_rows(families, documents, rows.values.get(), ends);
    }
    return nb::make_tuple(std::move(rows).give(), give(std::move(ends)));
}

static Out<int64_t> compare_profiles(In<uint64_t> values, In<int64_t> offsets, size_t families, size_t summed,
                                     In<int64_t> a, In<int64_t> b) {
    std::vector<neardup::FamilySums> sums(a.size() * summed);
    {
        nb::gil_scoped_release free;
        neardup::compare_profiles(values.data(), offsets.data(), families, summed, a.data(), b.data(), a.size(),
                                  sums.data());
    }
    return give_sums(std::move(sums));
}

static Out<int64_t> profile_sizes(In<uint64_t> values, In<int64_t> offsets, size_t families, size_t summed) {
    const size_t documents = offsets.size() - 1;
    std::vector<neardup::FamilySizes> sizes(documents * summed);
    {
        nb::gil_scoped_release free;
        neardup::profile_sizes(values.data(), offsets.data(), families, summed, documents, sizes.data());
    }
    return give_sums(std::move(sizes));
}

static Out<int64_t> align_profiles(In<uint64_t> values, In<int64_t> offsets, size_t families, size_t at, In<int64_t> a,
                                   In<int64_t> b) {
    std::vector<neardup::AlignedWords> found(a.size());
    {
        nb::gil_scoped_release free;
        neardup::align_profiles(values.data(), offsets.data(), families, at, a.data(), b.data(), a.size(), found.data());
    }
    return give_sums(std::move(found));
}

void bind_profiles(nb::module_ &m) {
    m.def("profile_rows", &profile_rows, "sets"_a);
    m.def("compare_profiles", &compare_profiles, "values"_a, "offsets"_a, "families"_a, "summed"_a, "a"_a, "b"_a);
    m.def("profile_sizes", &profile_sizes, "values"_a, "offsets"_a, "families"_a, "summed"_a);
    m.def("align_profiles", &align_profiles, "values"_a, "offsets"_a, "families"_a, "at"_a, "a"_a, "b"_a);
}
