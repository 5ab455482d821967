#include <algorithm>
#include <limits>
#include <optional>

#include "bindings/bindings.hpp"
#include "documents/id_set.hpp"
#include "matching/average_link.hpp"
#include "matching/gather.hpp"
#include "matching/greedy.hpp"
#include "matching/group_pairs.hpp"
#include "matching/groups.hpp"
#include "matching/hot_walk.hpp"
#include "matching/rare.hpp"
#include "matching/sharing.hpp"

using namespace nb::literals;

template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static nb::tuple shared_groups(In<uint64_t> keys, In<int64_t> offsets, In<int32_t> probes, In<int64_t> rows, size_t share,
                               size_t shares) {
    neardup::Groups groups;
    groups.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::shared_groups(keys.data(), offsets.data(), probes.data(), rows.data(), rows.size(), share, shares, groups);
    }
    return nb::make_tuple(give(std::move(groups.members)), give(std::move(groups.probes)),
                          give(std::move(groups.ends)));
}

static Out<uint8_t> distinct_groups(In<int64_t> members, In<uint8_t> probes, In<int64_t> offsets) {
    std::vector<uint8_t> distinct(offsets.size() - 1);
    {
        nb::gil_scoped_release free;
        neardup::distinct_groups(members.data(), probes.data(), offsets.data(), distinct.size(), distinct.data());
    }
    return give(std::move(distinct));
}

static nb::tuple part_keys(In<uint64_t> keys, In<int64_t> offsets, In<int32_t> probes, In<int32_t> places,
                           In<uint64_t> spread, int part_bits) {
    neardup::KeyParts parts;
    {
        nb::gil_scoped_release free;
        neardup::part_keys(keys.data(), offsets.data(), probes.data(), places.data(), spread.size() ? spread.data() : nullptr,
                           places.size(), part_bits, parts);
    }
    return nb::make_tuple(give(std::move(parts.keys)), give(std::move(parts.members)), give(std::move(parts.ends)));
}

static nb::tuple entry_groups(In<uint64_t> keys, In<uint32_t> members, int part_bits) {
    neardup::Groups groups;
    groups.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::entry_groups(keys.data(), members.data(), keys.size(), part_bits, groups);
    }
    return nb::make_tuple(give(std::move(groups.members)), give(std::move(groups.probes)),
                          give(std::move(groups.ends)));
}

static Out<uint32_t> pack_groups(In<int64_t> members, In<uint8_t> probes, In<int64_t> offsets) {
    std::vector<uint32_t> packed;
    {
        nb::gil_scoped_release free;
        neardup::pack_groups(members.data(), probes.data(), offsets.data(), offsets.size() - 1, packed);
    }
    return give(std::move(packed));
}

static nb::tuple groups_between(In<uint32_t> packed, uint32_t first, uint32_t last) {
    neardup::Groups groups;
    groups.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::groups_between(packed.data(), packed.size(), first, last, groups);
    }
    return nb::make_tuple(give(std::move(groups.members)), give(std::move(groups.probes)),
                          give(std::move(groups.ends)));
}

static Out<uint64_t> group_digests(In<int64_t> members, In<uint8_t> probes, In<int64_t> offsets) {
    std::vector<uint64_t> digests(offsets.size() - 1);
    {
        nb::gil_scoped_release free;
        neardup::group_digests(members.data(), probes.data(), offsets.data(), digests.size(), digests.data());
    }
    return give(std::move(digests));
}

static Out<int64_t> shared_keys(In<uint64_t> keys, In<int64_t> offsets, In<int32_t> probes, In<int64_t> a,
                                In<int64_t> b) {
    std::vector<int64_t> counts(a.size());
    {
        nb::gil_scoped_release free;
        neardup::shared_keys(keys.data(), offsets.data(), probes.data(), a.data(), b.data(), a.size(), counts.data());
    }
    return give(std::move(counts));
}

static Out<uint8_t> share_key(In<uint64_t> keys, In<int64_t> offsets, In<int32_t> probes, In<int64_t> a,
                              In<int64_t> b) {
    std::vector<uint8_t> shared(a.size());
    {
        nb::gil_scoped_release free;
        neardup::share_key(keys.data(), offsets.data(), probes.data(), a.data(), b.data(), a.size(), shared.data());
    }
    return give(std::move(shared));
}

static nb::tuple give_pairs(neardup::RankPairs &&pairs) {
    return nb::make_tuple(give(std::move(pairs.later)), give(std::move(pairs.earlier)));
}

// The arrays that it reads stay alive beside it.
struct GroupPairs {
    In<int64_t> members;
    In<uint8_t> probes;
    In<int64_t> offsets;
    std::optional<neardup::GroupPairs> pairs;

    GroupPairs(In<int64_t> m, In<uint8_t> p, In<int64_t> o, int64_t budget, size_t block) : members(m), probes(p), offsets(o) {
        nb::gil_scoped_release free;
        pairs.emplace(m.data(), p.data(), o.data(), o.size() - 1, budget, block);
    }

    nb::object next() {
        std::vector<int64_t> a, b;
        bool more;
        {
            nb::gil_scoped_release free;
            more = pairs->next(a, b);
        }
        return more ? nb::make_tuple(give(std::move(a)), give(std::move(b))) : nb::object(nb::none());
    }
};

static void bind_group_pairs(nb::module_ &m) {
    nb::class_<GroupPairs>(m, "GroupPairs")
        .def(nb::init<In<int64_t>, In<uint8_t>, In<int64_t>, int64_t, size_t>(), "members"_a, "probes"_a, "offsets"_a,
             "budget"_a, "block"_a)
        .def_prop_ro("largest", [](const GroupPairs &of) { return of.pairs->largest(); })
        .def_prop_ro("count", [](const GroupPairs &of) { return of.pairs->count(); })
        .def("next", &GroupPairs::next);
}

static nb::tuple with_kept(neardup::HotWalk &walk, size_t begin, size_t end) {
    neardup::RankPairs pairs;
    {
        nb::gil_scoped_release free;
        walk.with_kept(begin, end, pairs);
    }
    return give_pairs(std::move(pairs));
}

static nb::tuple among(neardup::HotWalk &walk, size_t begin, size_t end, In<uint8_t> chosen, In<uint8_t> against) {
    neardup::RankPairs pairs;
    {
        nb::gil_scoped_release free;
        walk.among(begin, end, chosen.data(), against.data(), pairs);
    }
    return give_pairs(std::move(pairs));
}

static nb::tuple after(neardup::HotWalk &walk, In<uint8_t> wanted) {
    neardup::RankPairs pairs;
    {
        nb::gil_scoped_release free;
        walk.after(wanted.data(), pairs);
    }
    return give_pairs(std::move(pairs));
}

static void bind_hot_walk(nb::module_ &m) {
    nb::class_<neardup::HotWalk>(m, "HotWalk")
        .def("__init__",
             [](neardup::HotWalk *self, In<int64_t> members, In<uint8_t> looks, In<int64_t> offsets, size_t count,
                size_t most) {
                 new (self) neardup::HotWalk(members.data(), looks.data(), offsets.data(), offsets.size() - 1, count, most);
             },
             "members"_a, "looks"_a, "offsets"_a, "count"_a, "most"_a)
        .def("ranks", [](const neardup::HotWalk &walk) { return give(std::vector<int64_t>(walk.ranks())); })
        .def("with_kept", &with_kept, "begin"_a, "end"_a)
        .def("among", &among, "begin"_a, "end"_a, "chosen"_a, "against"_a)
        .def("remember",
             [](neardup::HotWalk &walk, size_t begin, size_t end, In<uint8_t> kept) {
                 walk.remember(begin, end, kept.data());
             },
             "begin"_a, "end"_a, "kept"_a)
        .def("after", &after, "wanted"_a)
        .def("at_most", &neardup::HotWalk::at_most, "most"_a)
        .def("capped", [](const neardup::HotWalk &walk) { return give(std::vector<uint8_t>(walk.capped())); });
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

static bool divide(In<uint64_t> values, In<uint32_t> features, InOut<uint16_t> weights) {
    nb::gil_scoped_release free;
    return neardup::divide(values.data(), features.data(), values.size(), weights.data());
}

static Out<uint64_t> join(In<uint32_t> features, In<uint16_t> weights) {
    Room<uint64_t> values(features.size());
    {
        nb::gil_scoped_release free;
        neardup::join(features.data(), weights.data(), features.size(), values.values.get());
    }
    return std::move(values).give();
}

static void count_features(In<uint32_t> features, InOut<uint8_t> counts) {
    nb::gil_scoped_release free;
    neardup::count_features(features.data(), features.size(), counts.data(), counts.size());
}

static Out<uint8_t> most_shared(In<int64_t> a, In<int64_t> b, In<int32_t> shared, size_t most) {
    std::vector<uint8_t> chosen(a.size());
    {
        nb::gil_scoped_release free;
        neardup::most_shared(a.data(), b.data(), shared.data(), a.size(), most, chosen.data());
    }
    return give(std::move(chosen));
}

static nb::tuple sharing_pairs(In<int64_t> members, In<uint8_t> looks, In<int64_t> offsets, size_t documents, int32_t least,
                               size_t most, size_t first, size_t last) {
    neardup::SharingPairs out;
    {
        nb::gil_scoped_release free;
        neardup::sharing_pairs(members.data(), looks.data(), offsets.data(), offsets.size() - 1, documents, least, most, first,
                               std::min(last, documents), out);
    }
    return nb::make_tuple(give(std::move(out.a)), give(std::move(out.b)), give(std::move(out.shared)),
                          give(std::move(out.capped)));
}

static nb::object larger_pairs(In<int64_t> members, In<uint8_t> looks, In<int64_t> offsets, In<int32_t> least,
                               size_t most_counted, size_t most_pairs) {
    neardup::SharingPairs out;
    bool whole;
    {
        nb::gil_scoped_release free;
        whole = neardup::larger_pairs(members.data(), looks.data(), offsets.data(), offsets.size() - 1, least.size(),
                                      least.data(), most_counted, most_pairs, out);
    }
    if (!whole) return nb::none();
    return nb::make_tuple(give(std::move(out.a)), give(std::move(out.b)));
}

static nb::tuple average_link(In<double> weights, In<int64_t> a, In<int64_t> b, In<double> score, double least) {
    neardup::Merges out;
    {
        nb::gil_scoped_release free;
        neardup::average_link(weights.data(), weights.size(), a.data(), b.data(), score.data(), a.size(), least, out);
    }
    return nb::make_tuple(give(std::move(out.a)), give(std::move(out.b)), give(std::move(out.height)));
}

static nb::tuple rare_prefixes(In<uint32_t> features, In<int64_t> offsets, In<int64_t> sizes, In<uint8_t> counts,
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

static nb::tuple rare_weighted_prefixes(In<uint64_t> entries, In<int64_t> offsets, In<uint64_t> needed, bool squared,
                                        In<uint8_t> counts, uint64_t part, uint64_t parts) {
    neardup::RareKeys out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::rare_weighted_prefixes(entries.data(), offsets.data(), needed.data(), needed.size(), squared,
                                        counts.data(), counts.size(), part, parts, out);
    }
    return nb::make_tuple(give(std::move(out.keys)), give(std::move(out.ends)), give(std::move(out.probes)));
}

static nb::tuple rare_vector_pairs(In<uint64_t> entries, In<int64_t> offsets, In<uint64_t> needed, In<uint8_t> counts,
                                   uint32_t common, uint64_t part, uint64_t parts) {
    neardup::RareKeys out;
    out.ends = {0};
    {
        nb::gil_scoped_release free;
        neardup::rare_vector_pairs(entries.data(), offsets.data(), needed.data(), needed.size(), counts.data(),
                                   counts.size(), common, part, parts, out);
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
    m.def("shared_groups", &shared_groups, "keys"_a, "offsets"_a, "probes"_a, "rows"_a, "share"_a = 0, "shares"_a = 1);
    m.def("part_keys", &part_keys, "keys"_a, "offsets"_a, "probes"_a, "places"_a, "spread"_a, "part_bits"_a);
    m.def("entry_groups", &entry_groups, "keys"_a, "members"_a, "part_bits"_a);
    m.def("pack_groups", &pack_groups, "members"_a, "probes"_a, "offsets"_a);
    m.def("groups_between", &groups_between, "packed"_a, "first"_a, "last"_a);
    m.def("group_digests", &group_digests, "members"_a, "probes"_a, "offsets"_a);
    bind_group_pairs(m);
    m.def("shared_keys", &shared_keys, "keys"_a, "offsets"_a, "probes"_a, "a"_a, "b"_a);
    m.def("share_key", &share_key, "keys"_a, "offsets"_a, "probes"_a, "a"_a, "b"_a);
    m.def("distinct_groups", &distinct_groups, "members"_a, "probes"_a, "offsets"_a);
    bind_hot_walk(m);
    m.def("count_features", &count_features, "features"_a, "counts"_a);
    m.def("most_shared", &most_shared, "a"_a, "b"_a, "shared"_a, "most"_a);
    m.def("sharing_pairs", &sharing_pairs, "members"_a, "looks"_a, "offsets"_a, "documents"_a, "least"_a, "most"_a = 0,
          "first"_a = 0, "last"_a = std::numeric_limits<size_t>::max());
    m.def("larger_pairs", &larger_pairs, "members"_a, "looks"_a, "offsets"_a, "least"_a, "most_counted"_a,
          "most_pairs"_a);
    m.def("average_link", &average_link, "weights"_a, "a"_a, "b"_a, "score"_a, "least"_a);
    m.def("rare_prefixes", &rare_prefixes, "features"_a, "offsets"_a, "sizes"_a, "counts"_a, "all"_a, "part"_a, "parts"_a);
    m.def("rare_weighted_prefixes", &rare_weighted_prefixes, "entries"_a, "offsets"_a, "needed"_a, "squared"_a, "counts"_a,
          "part"_a, "parts"_a);
    m.def("rare_vector_pairs", &rare_vector_pairs, "entries"_a, "offsets"_a, "needed"_a, "counts"_a, "common"_a, "part"_a,
          "parts"_a);
    m.def("greedy", &greedy, "later"_a, "earlier"_a, "kept"_a);
    m.def("gather_memory", &gather_memory, "source"_a, "starts"_a, "lengths"_a, "out"_a);
    m.def("divide", &divide, "values"_a, "features"_a, "weights"_a);
    m.def("join", &join, "features"_a, "weights"_a);
    m.def("gather_file", &gather_file, "descriptor"_a, "starts"_a, "lengths"_a, "out"_a);
}
