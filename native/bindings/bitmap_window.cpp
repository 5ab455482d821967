#include <mutex>

#include "bindings/bindings.hpp"
#include "online/bitmap_window.hpp"

using namespace nb::literals;

namespace {

// One thread at a time: a query writes to its scratch.
struct Window {
    Window(size_t slots, double common, double rare) : window(slots, {common, rare}) {}

    neardup::BitmapWindow window;
    std::mutex mutex;
};

template <typename Do>
auto alone(Window &self, Do &&what) {
    nb::gil_scoped_release free;
    const std::lock_guard lock(self.mutex);
    return what(self.window);
}

int64_t add(Window &self, size_t slot, In<uint32_t> grams) {
    return alone(self, [&](auto &window) { return window.add(slot, grams.data(), grams.size()); });
}

bool remove_one(Window &self, int64_t document) {
    return alone(self, [&](auto &window) { return window.remove(document); });
}

void drop(Window &self, size_t slot) {
    alone(self, [&](auto &window) { window.drop(slot); });
}

nb::tuple overlaps(Window &self, In<uint32_t> grams, uint64_t num, uint64_t den) {
    neardup::Overlaps out;
    alone(self, [&](auto &window) { window.overlaps(grams.data(), grams.size(), num, den, out); });
    return nb::make_tuple(give(std::move(out.documents)), give(std::move(out.shared)), give(std::move(out.sizes)),
                          out.clipped_common, out.clipped_rare, out.candidates);
}

nb::tuple sets(Window &self, size_t slot) {
    std::vector<uint32_t> grams;
    std::vector<int64_t> offsets;
    alone(self, [&](auto &window) { window.sets(slot, grams, offsets); });
    return nb::make_tuple(give(std::move(grams)), give(std::move(offsets)));
}

size_t documents(Window &self, size_t slot) {
    return alone(self, [&](auto &window) { return window.documents(slot); });
}

nb::tuple memory(Window &self) {
    const auto found = alone(self, [](auto &window) { return window.memory(); });
    return nb::make_tuple(found.documents, found.grams, found.postings, found.tables, found.lists, found.rest);
}

}  // namespace

void bind_bitmap_window(nb::module_ &m) {
    nb::class_<Window>(m, "BitmapWindow", "Which documents of a ring of slots have which q-gram.")
        .def(nb::init<size_t, double, double>(), "slots"_a, "common"_a, "rare"_a)
        .def("add", &add, "slot"_a, "grams"_a)
        .def("remove", &remove_one, "document"_a)
        .def("drop", &drop, "slot"_a)
        .def("overlaps", &overlaps, "grams"_a, "num"_a, "den"_a,
             "(documents, shared, sizes, clipped as common, clipped as rare, candidates).")
        .def("sets", &sets, "slot"_a, "(grams, offsets), by the numbers of the documents in the slot.")
        .def("documents", &documents, "slot"_a)
        .def("memory", &memory, "(documents, grams, postings, bytes of tables, of lists, of the rest).");
}
