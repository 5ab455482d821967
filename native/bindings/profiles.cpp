#include "features/profiles.hpp"

#include "bindings/bindings.hpp"

using namespace nb::literals;

// One row of sums after the other, as the structs lie in memory.
template <typename Sums>
static Out<int64_t> give_sums(std::vector<Sums> &&sums) {
    constexpr size_t width = sizeof(Sums) / sizeof(int64_t);
    auto owner = std::make_unique<std::vector<Sums>>(std::move(sums));
    auto *data = reinterpret_cast<int64_t *>(owner->data());
    const size_t size = owner->size() * width;
    nb::capsule capsule(owner.release(), [](void *p) noexcept { delete static_cast<std::vector<Sums> *>(p); });
    return Out<int64_t>(data, {size}, capsule);
}

static Out<int64_t> compare_profiles(In<uint64_t> values, In<int64_t> offsets, size_t families, In<int64_t> a,
                                     In<int64_t> b) {
    std::vector<neardup::FamilySums> sums(a.size() * families);
    {
        nb::gil_scoped_release free;
        neardup::compare_profiles(values.data(), offsets.data(), families, a.data(), b.data(), a.size(), sums.data());
    }
    return give_sums(std::move(sums));
}

static Out<int64_t> profile_sizes(In<uint64_t> values, In<int64_t> offsets, size_t families) {
    const size_t documents = offsets.size() - 1;
    std::vector<neardup::FamilySizes> sizes(documents * families);
    {
        nb::gil_scoped_release free;
        neardup::profile_sizes(values.data(), offsets.data(), families, documents, sizes.data());
    }
    return give_sums(std::move(sizes));
}

void bind_profiles(nb::module_ &m) {
    m.def("compare_profiles", &compare_profiles, "values"_a, "offsets"_a, "families"_a, "a"_a, "b"_a);
    m.def("profile_sizes", &profile_sizes, "values"_a, "offsets"_a, "families"_a);
}
