// Lookups take microseconds and change what others read, so these keep the GIL.
#include "bindings/bindings.hpp"
#include "online/postings.hpp"

using namespace nb::literals;

static Out<int64_t> meet(const neardup::Postings &postings, In<uint64_t> keys, size_t probes, size_t least, size_t most) {
    std::vector<int64_t> found;
    postings.meet(keys.data(), keys.size(), probes, least, most, found);
    return give(std::move(found));
}

void bind_online(nb::module_ &m) {
    nb::class_<neardup::Postings>(m, "Postings")
        .def(nb::init<>())
        .def("add",
             [](neardup::Postings &postings, In<uint64_t> keys, size_t probes, uint32_t number) {
                 postings.add(keys.data(), keys.size(), probes, number);
             },
             "keys"_a, "probes"_a, "number"_a)
        .def("meet", &meet, "keys"_a, "probes"_a, "least"_a = 1, "most"_a = 0)
        .def("keep",
             [](neardup::Postings &postings, In<int64_t> numbers) { postings.keep(numbers.data(), numbers.size()); },
             "numbers"_a)
        .def_prop_ro("bytes", &neardup::Postings::bytes)
        .def("__len__", &neardup::Postings::entries);
}
