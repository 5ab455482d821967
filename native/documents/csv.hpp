// Records of CSV and TSV files (RFC 4180), found and cut into fields without changing a byte.
//
// A field that begins with '"' goes on to the next '"' that is not doubled, over delimiters and
// newlines; a doubled one stands for one. What follows the closing quote belongs to the field as it
// is, and a quote inside an unquoted field is an ordinary character: what Python's csv module does.
// A record ends with '\n' outside quotes; a '\r' before it belongs to the line end. A record without
// a single byte is blank, is not counted, and belongs to the record before it. Quotes,
// delimiters and newlines are found with memchr, which bounds the speed.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "documents/buffer.hpp"

namespace neardup::csv {

struct Field {
    std::vector<int64_t> offsets{0};
    Buffer values;
};

struct Scan {
    std::vector<int64_t> starts;  // by record: where it begins; bytes before the first are blank lines
    std::vector<int64_t> widths;  // by record: how many fields it has
    std::vector<Field> fields;    // by asked column; empty where the record is too short
    bool open = false;            // the last record ends inside quotes
};

// `columns` are field numbers from 0, ascending. The chunk begins where a record begins.
Scan scan(std::string_view chunk, char delimiter, const std::vector<int64_t> &columns);

// Where the last record that has its newline ends; 0 if there is none.
int64_t whole_records(std::string_view chunk, char delimiter);

}  // namespace neardup::csv
