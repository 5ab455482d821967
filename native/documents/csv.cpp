#include "documents/csv.hpp"

#include <cstring>

namespace neardup::csv {

namespace {

struct Cell {
    const char *first;   // after the opening quote
    const char *closed;  // the closing quote; null if the cell is not quoted
    const char *last;    // the end of the content, which includes text after `closed`
    const char *next;    // the delimiter or newline that ends it, or the end of the chunk
    bool doubled = false;
    bool open = false;
};

const char *find(char sign, const char *p, const char *end) {
    const void *found = p < end ? std::memchr(p, sign, static_cast<size_t>(end - p)) : nullptr;
    return found ? static_cast<const char *>(found) : end;
}

const char *find_quote(const char *p, const char *end) { return find('"', p, end); }

// `newline` is the first newline at or after an earlier position; it is searched again only when it is passed.
Cell cell_at(const char *p, const char *end, char delimiter, const char *&newline) {
    Cell cell{p, nullptr, end, end};
    if (p < end && *p == '"') {
        cell.first = ++p;
        for (p = find_quote(p, end); p + 1 < end && p[1] == '"'; p = find_quote(p + 2, end)) cell.doubled = true;
        cell.open = p == end;
        if (cell.open) return cell;
        cell.closed = p++;
    }
    if (newline < p) newline = find('\n', p, end);
    p = find(delimiter, p, newline);
    cell.next = cell.last = p;
    const bool ends_record = p == end || *p == '\n';
    const char *floor = cell.closed ? cell.closed + 1 : cell.first;
    if (ends_record && p > floor && p[-1] == '\r') --cell.last;
    return cell;
}

void append_unquoted(Buffer &out, const char *p, const char *end) {
    while (p < end) {
        const char *quote = find_quote(p, end);
        const char *stop = quote == end ? end : quote + 1;  // one of the two is kept
        out.append(p, static_cast<size_t>(stop - p));
        p = quote == end ? end : quote + 2;
    }
}

void append(Buffer &out, const Cell &cell) {
    const char *stop = cell.closed ? cell.closed : cell.last;
    if (cell.doubled) {
        append_unquoted(out, cell.first, stop);
    } else {
        out.append(cell.first, static_cast<size_t>(stop - cell.first));
    }
    if (cell.closed) out.append(cell.closed + 1, static_cast<size_t>(cell.last - cell.closed - 1));
}

// The end of a blank line at p, or p.
const char *after_blank(const char *p, const char *end) {
    const char *q = p + (*p == '\r');
    if (q == end) return end;
    return *q == '\n' ? q + 1 : p;
}

}  // namespace

Scan scan(std::string_view chunk, char delimiter, const std::vector<int64_t> &columns) {
    Scan out;
    out.fields.resize(columns.size());
    const char *const begin = chunk.data(), *const end = begin + chunk.size();
    const char *newline = find('\n', begin, end);
    for (const char *p = begin; p < end;) {
        if (const char *next = after_blank(p, end); next != p) {
            p = next;
            continue;
        }
        out.starts.push_back(p - begin);
        int64_t width = 0;
        size_t asked = 0;
        for (bool more = true; more; ++width) {
            const Cell cell = cell_at(p, end, delimiter, newline);
            if (asked < columns.size() && columns[asked] == width) append(out.fields[asked++].values, cell);
            out.open = cell.open;
            more = cell.next < end && *cell.next == delimiter;
            p = cell.next < end ? cell.next + 1 : end;
        }
        out.widths.push_back(width);
        for (auto &field : out.fields) field.offsets.push_back(static_cast<int64_t>(field.values.size()));
    }
    return out;
}

int64_t whole_records(std::string_view chunk, char delimiter) {
    const char *const begin = chunk.data(), *const end = begin + chunk.size();
    const char *whole = begin, *newline = find('\n', begin, end);
    for (const char *p = begin; p < end;) {
        const Cell cell = cell_at(p, end, delimiter, newline);
        p = cell.next < end ? cell.next + 1 : end;
        if (cell.next < end && *cell.next == '\n') whole = p;
    }
    return whole - begin;
}

}  // namespace neardup::csv
