// Finds the records of CSV and TSV files (RFC 4180) and their fields, without changing a byte.
//
// A field that begins with '"' extends over delimiters and newlines to the next '"' that is not doubled; a doubled quote
// represents one. As in Python's csv module, text after the closing quote belongs to the field, and a quote inside an
// unquoted field is an ordinary character. A record ends with '\n' outside quotes; a '\r' before it belongs to the line
// end. A record without a single byte is blank: it is not counted and belongs to the record before it. Quotes,
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
    std::vector<int64_t> starts;  // the beginning of each record; bytes before the first are blank lines
    std::vector<int64_t> widths;  // the number of fields of each record
    std::vector<Field> fields;    // by requested column; empty if the record is too short
    bool open = false;            // the last record ends inside quotes
};

// `columns` are field numbers from 0, ascending. The chunk begins where a record begins.
Scan scan(std::string_view chunk, char delimiter, const std::vector<int64_t> &columns);

// The end of the last record that has its newline; 0 if there is none.
int64_t whole_records(std::string_view chunk, char delimiter);

}  // namespace neardup::csv
