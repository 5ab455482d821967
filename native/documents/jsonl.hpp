// A strict JSON Lines scanner (RFC 8259) that returns only the requested fields of each line's object.
//
// The whole line is checked, including fields that are not requested. Strings are returned unescaped as UTF-8, all other
// values as their JSON text. If a key occurs twice, the last one counts, as in Python's json. An unpaired surrogate
// escape becomes U+FFFD, and its string has a type of its own. The scanner does not recurse; containers nest at most
// 512 deep. A line with an error has no fields.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/buffer.hpp"

namespace neardup::jsonl {

constexpr int max_depth = 512;

// src/neardup/documents/jsonl.py knows these numbers and turns them into sentences.
enum class Status : uint8_t {
    ok = 0,
    blank = 1,
    not_object = 2,
    cut_off = 3,
    bad_utf8 = 4,
    control_character = 5,
    too_deep = 6,
    trailing_data = 7,
    expected_value = 8,
    expected_key = 9,
    expected_key_or_close = 10,
    expected_colon = 11,
    expected_comma_or_brace = 12,
    expected_comma_or_bracket = 13,
    bad_escape = 14,
    bad_number = 15,
};

enum class Type : uint8_t { absent, null, string, number, true_, false_, object, array, surrogate };

struct Field {
    std::vector<uint8_t> types;
    std::vector<int64_t> offsets{0};
    Buffer values;
    std::vector<int64_t> places;  // of each value in its line: the bytes from and to, two numbers
};

struct Scan {
    std::vector<uint8_t> status;
    std::vector<int64_t> position;  // of an error, or of an unpaired surrogate in a field: the byte in the line, from 1
    std::vector<Field> fields;
};

Scan scan(std::string_view chunk, std::span<const std::string> fields, bool start_of_file);

}  // namespace neardup::jsonl
