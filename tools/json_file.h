// SPDX-License-Identifier: Apache-2.0
// Reports in files, as JSON or in other formats. Running out of memory here does not end the
// process, other than in the destructors of nlohmann-json.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tengine::tools {

// A value of JSON, made to be written. Members of an object stay in the order in which they are
// set.
class Json
{
  public:
    using Array = std::vector<Json>;
    // A separate class, since libstdc++ assumes that a variant of its own containers always has a
    // value. After a copy that ran out of memory it would destroy a value that does not exist.
    struct Object : std::vector<std::pair<std::string, Json>>
    {
        using vector::vector;
    };
    using Value =
        std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Array, Object>;

    Json(std::nullptr_t = nullptr) {}
    Json(bool value) : value_(value) {}
    Json(double value) : value_(value) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(const std::string& value) : value_(value) {}

    template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
    Json(Integer value)
        : value_(std::conditional_t<std::is_signed_v<Integer>, int64_t, uint64_t>{value})
    {
    }

    template <typename Item>
    Json(const std::vector<Item>& items) : value_(Array(items.begin(), items.end()))
    {
    }

    template <typename Item>
    Json(const std::map<std::string, Item>& members)
        : value_(Object(members.begin(), members.end()))
    {
    }

    // {{"name", 1}, {"list", list}}: an object if every item is a pair that begins with a string,
    // an array otherwise.
    Json(std::initializer_list<Json> items);

    static Json array();
    static Json object();

    // For arrays.
    void push_back(const Json& item);
    size_t size() const;

    // The member `name` of an object, which is added if there is none. Null becomes an object.
    Json& operator[](const std::string& name);

    const Value& value() const { return value_; }

  private:
    Value value_;
};

// Replaces the file `path`, or prints to standard output if that is "-". Throws Failure.
void write_text(const std::string& path, const std::string& text);

// The same. Bytes that are not UTF-8, which names from a model may hold, are replaced.
void write_json(const std::string& path, const Json& json);

// Replaces the bytes of `text` that are not UTF-8.
std::string valid_utf8(const std::string& text);

}  // namespace tengine::tools
