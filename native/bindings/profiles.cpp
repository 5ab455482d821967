#include "features/profiles.hpp"

#include "bindings/bindings.hpp"
#include "features/aligned.hpp"

using namespace nb::literals;

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
    m.def("compare_profiles", &compare_profiles, "values"_a, "offsets"_a, "families"_a, "summed"_a, "a"_a, "b"_a);
    m.def("profile_sizes", &profile_sizes, "values"_a, "offsets"_a, "families"_a, "summed"_a);
    m.def("align_profiles", &align_profiles, "values"_a, "offsets"_a, "families"_a, "at"_a, "a"_a, "b"_a);
}
