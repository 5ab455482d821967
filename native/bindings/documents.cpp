#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "bindings/bindings.hpp"
#include "documents/csv.hpp"
#include "documents/jsonl.hpp"
#include "documents/lines.hpp"

namespace {

using neardup::Buffer;

std::string_view view(const nb::bytes &chunk) { return {chunk.c_str(), chunk.size()}; }

Out<uint8_t> give_bytes(Buffer &&bytes) {
    auto owner = std::make_unique<Buffer>(std::move(bytes));
    auto *data = reinterpret_cast<uint8_t *>(const_cast<char *>(owner->data()));
    size_t size = owner->size();
    nb::capsule capsule(owner.release(), [](void *p) noexcept { delete static_cast<Buffer *>(p); });
    return Out<uint8_t>(data, {size}, capsule);
}

nb::tuple scan_jsonl(nb::bytes chunk, const std::vector<std::string> &fields, bool start_of_file) {
    const std::string_view bytes = view(chunk);
    neardup::jsonl::Scan scan;
    {
        nb::gil_scoped_release release;
        scan = neardup::jsonl::scan(bytes, fields, start_of_file);
    }
    nb::list columns;
    for (auto &field : scan.fields) {
        columns.append(nb::make_tuple(give(std::move(field.types)), give(std::move(field.offsets)),
                                      give_bytes(std::move(field.values)), give(std::move(field.places))));
    }
    return nb::make_tuple(give(std::move(scan.status)), give(std::move(scan.position)), columns);
}

nb::tuple scan_csv(nb::bytes chunk, char delimiter, const std::vector<int64_t> &columns) {
    const std::string_view bytes = view(chunk);
    neardup::csv::Scan scan;
    {
        nb::gil_scoped_release release;
        scan = neardup::csv::scan(bytes, delimiter, columns);
    }
    nb::list fields;
    for (auto &field : scan.fields) {
        fields.append(nb::make_tuple(give(std::move(field.offsets)), give_bytes(std::move(field.values))));
    }
    return nb::make_tuple(give(std::move(scan.starts)), give(std::move(scan.widths)), fields, scan.open);
}

int64_t whole_csv_records(nb::bytes chunk, char delimiter) {
    const std::string_view bytes = view(chunk);
    nb::gil_scoped_release release;
    return neardup::csv::whole_records(bytes, delimiter);
}

// The parts of a chunk in one object, without a copy in between; the chunk itself if it is the only part.
nb::bytes joined(const nb::bytes &chunk, const std::vector<std::string_view> &parts) {
    size_t size = 0;
    for (const auto part : parts) size += part.size();
    if (size == chunk.size()) return chunk;
    auto out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!out.is_valid()) throw nb::python_error();
    char *at = PyBytes_AsString(out.ptr());
    nb::gil_scoped_release release;
    for (const auto part : parts) at = std::copy(part.begin(), part.end(), at);
    return out;
}

nb::tuple select_lines(nb::bytes chunk, In<uint8_t> keep, bool start_of_file, bool previous_kept) {
    const std::string_view bytes = view(chunk);
    neardup::Selection out;
    {
        nb::gil_scoped_release release;
        out = neardup::select_lines(bytes, {keep.data(), keep.size()}, start_of_file, previous_kept);
    }
    return nb::make_tuple(joined(chunk, out.runs), out.documents, out.last_kept);
}

Out<uint32_t> line_starts(nb::bytes chunk) {
    const std::string_view bytes = view(chunk);
    std::vector<uint32_t> starts;
    {
        nb::gil_scoped_release release;
        starts = neardup::line_starts(bytes);
    }
    return give(std::move(starts));
}

int64_t count_lines(nb::bytes chunk) {
    const std::string_view bytes = view(chunk);
    nb::gil_scoped_release release;
    return neardup::count_lines(bytes);
}

}  // namespace

void bind_documents(nb::module_ &m) {
    m.def("scan_jsonl", &scan_jsonl, nb::arg("chunk"), nb::arg("fields"), nb::arg("start_of_file") = false);
    m.def("scan_csv", &scan_csv, nb::arg("chunk"), nb::arg("delimiter"), nb::arg("columns"));
    m.def("whole_csv_records", &whole_csv_records, nb::arg("chunk"), nb::arg("delimiter"));
    m.def("select_lines", &select_lines, nb::arg("chunk"), nb::arg("keep"), nb::arg("start_of_file") = false,
          nb::arg("previous_kept") = true);
    m.def("line_starts", &line_starts, nb::arg("chunk"));
    m.def("count_lines", &count_lines, nb::arg("chunk"));
}
