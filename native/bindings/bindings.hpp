// What all bindings share: typed contiguous arrays in, owned arrays out.
// Validation and messages are Python's; a binding only unpacks, releases the GIL and calls a kernel.
#pragma once
#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <utility>
#include <vector>

namespace nb = nanobind;

template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

// Hands a vector's storage to numpy without copying it.
template <typename T>
Out<T> give(std::vector<T> &&values) {
    auto owner = std::make_unique<std::vector<T>>(std::move(values));
    T *data = owner->data();
    size_t size = owner->size();
    nb::capsule capsule(owner.release(), [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return Out<T>(data, {size}, capsule);
}

// As many values as a kernel will write, without writing them before.
template <typename T>
struct Room {
    explicit Room(size_t count) : values(new T[count]), size(count) {}
    Out<T> give() && {
        nb::capsule owner(values.get(), [](void *p) noexcept { delete[] static_cast<T *>(p); });
        return Out<T>(values.release(), {size}, owner);
    }
    std::unique_ptr<T[]> values;
    size_t size;
};

// One row of sums after the other, as the structs lie in memory.
template <typename Sums>
Out<int64_t> give_sums(std::vector<Sums> &&sums) {
    constexpr size_t width = sizeof(Sums) / sizeof(int64_t);
    auto owner = std::make_unique<std::vector<Sums>>(std::move(sums));
    auto *data = reinterpret_cast<int64_t *>(owner->data());
    const size_t size = owner->size() * width;
    nb::capsule capsule(owner.release(), [](void *p) noexcept { delete static_cast<std::vector<Sums> *>(p); });
    return Out<int64_t>(data, {size}, capsule);
}

void bind_documents(nb::module_ &m);
void bind_text(nb::module_ &m);
void bind_alignment(nb::module_ &m);
void bind_features(nb::module_ &m);
void bind_terms(nb::module_ &m);
void bind_sketch(nb::module_ &m);
void bind_profiles(nb::module_ &m);
void bind_raregrams(nb::module_ &m);
void bind_learned(nb::module_ &m);
void bind_matching(nb::module_ &m);
void bind_simhash(nb::module_ &m);
void bind_paths(nb::module_ &m);
void bind_online(nb::module_ &m);
void bind_bitmap_window(nb::module_ &m);
void bind_passages(nb::module_ &m);
