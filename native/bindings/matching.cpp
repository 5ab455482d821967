#include "bindings/bindings.hpp"
#include "documents/id_set.hpp"
#include "matching/gather.hpp"
#include "matching/greedy.hpp"
#include "matching/groups.hpp"
#include "matching/rare.hpp"

using namespace nb::literals;

template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static nb::tuple shared_groups(In<uint64_t> keys, In<int64_t> offsets, In<int32_t> probes) {
    neardup::Groups groups;
    groups.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::shared_groups(keys.data(), offsets.data(), probes.data(), probes.size(), groups);
    }
    return nb::make_tuple(give(std::move(groups.members)), give(std::move(groups.probes)),
                          give(std::move(groups.ends)));
}

static nb::tuple group_pairs(In<int64_t> members, In<uint8_t> probes, In<int64_t> offsets) {
    std::vector<int64_t> a, b;
    {
        nb::gil_scoped_release free;
        neardup::group_pairs(members.data(), probes.data(), offsets.data(), offsets.size() - 1, a, b);
    }
    return nb::make_tuple(give(std::move(a)), give(std::move(b)));
}

static void greedy(In<int64_t> later, In<int64_t> earlier, InOut<uint8_t> kept) {
    nb::gil_scoped_release free;
    neardup::greedy(later.data(), earlier.data(), later.size(), kept.data());
}

static void gather_memory(In<uint8_t> source, In<int64_t> starts, In<int64_t> lengths, InOut<uint8_t> out) {
    nb::gil_scoped_release free;
    neardup::gather_memory(source.data(), starts.data(), lengths.data(), starts.size(), out.data());
}

static bool gather_file(int descriptor, In<int64_t> starts, In<int64_t> lengths, InOut<uint8_t> out) {
    nb::gil_scoped_release free;
    return neardup::gather_file(descriptor, starts.data(), lengths.data(), starts.size(), out.data());
}

static void count_features(In<uint32_t> features, InOut<uint32_t> counts) {
    nb::gil_scoped_release free;
    neardup::count_features(features.data(), features.size(), counts.data(), counts.size());
}

static nb::tuple rare_prefixes(In<uint32_t> features, In<int64_t> offsets, In<int64_t> sizes, In<uint32_t> counts,
                               bool all, uint64_t part, uint64_t parts) {
    neardup::RareKeys out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::rare_prefixes(features.data(), offsets.data(), sizes.data(), sizes.size(), counts.data(),
                               counts.size(), all, part, parts, out);
    }
    return nb::make_tuple(give(std::move(out.keys)), give(std::move(out.ends)), give(std::move(out.probes)));
}

static Out<int64_t> add_ids(neardup::IdSet &ids, In<uint64_t> digests) {
    std::vector<int64_t> first(digests.size());
    {
        nb::gil_scoped_release free;
        ids.add(digests.data(), digests.size(), first.data());
    }
    return give(std::move(first));
}

void bind_matching(nb::module_ &m) {
    nb::class_<neardup::IdSet>(m, "IdSet").def(nb::init<>()).def("add", &add_ids, "digests"_a);
    m.def("shared_groups", &shared_groups, "keys"_a, "offsets"_a, "probes"_a);
    m.def("group_pairs", &group_pairs, "members"_a, "probes"_a, "offsets"_a);
    m.def("count_features", &count_features, "features"_a, "counts"_a);
    m.def("rare_prefixes", &rare_prefixes, "features"_a, "offsets"_a, "sizes"_a, "counts"_a, "all"_a, "part"_a, "parts"_a);
    m.def("greedy", &greedy, "later"_a, "earlier"_a, "kept"_a);
    m.def("gather_memory", &gather_memory, "source"_a, "starts"_a, "lengths"_a, "out"_a);
    m.def("gather_file", &gather_file, "descriptor"_a, "starts"_a, "lengths"_a, "out"_a);
}
