#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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

nb::tuple select_lines(nb::bytes chunk, In<uint8_t> keep, bool start_of_file, bool previous_kept) {
    const std::string_view bytes = view(chunk);
    neardup::Selection out;
    {
        nb::gil_scoped_release release;
        out = neardup::select_lines(bytes, {keep.data(), keep.size()}, start_of_file, previous_kept);
    }
    nb::bytes kept = out.whole ? chunk : nb::bytes(out.bytes.data(), out.bytes.size());
    return nb::make_tuple(kept, out.documents, out.last_kept);
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
    m.def("count_lines", &count_lines, nb::arg("chunk"));
}
