// SPDX-License-Identifier: Apache-2.0
// Writes reports. The contract is in json_file.h.
#include "json_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

// Its objects keep their order, too.
using LibraryJson = nlohmann::ordered_json;

LibraryJson to_library(const Json& json);

struct LibraryMaker
{
    template <typename Scalar>
    LibraryJson operator()(const Scalar& value) const
    {
        return value;
    }

    LibraryJson operator()(const Json::Array& items) const
    {
        LibraryJson list = LibraryJson::array();
        for (const Json& item : items)
            list.push_back(to_library(item));
        return list;
    }

    LibraryJson operator()(const Json::Object& members) const
    {
        LibraryJson object = LibraryJson::object();
        for (const auto& [name, value] : members)
            object[name] = to_library(value);
        return object;
    }
};

LibraryJson to_library(const Json& json)
{
    return std::visit(LibraryMaker{}, json.value());
}

std::string dump(const LibraryJson& json, int indent)
{
    return json.dump(indent, ' ', false, LibraryJson::error_handler_t::replace);
}

bool is_member(const Json& item)
{
    const Json::Array* pair = std::get_if<Json::Array>(&item.value());
    return pair && pair->size() == 2 && std::holds_alternative<std::string>((*pair)[0].value());
}

}  // namespace

Json::Json(std::initializer_list<Json> items) : value_(Array(items))
{
    if (!std::all_of(items.begin(), items.end(), is_member)) return;
    Object members;
    for (const Json& item : items) {
        const Array& pair = std::get<Array>(item.value_);
        members.emplace_back(std::get<std::string>(pair[0].value_), pair[1]);
    }
    value_ = std::move(members);
}

Json Json::array()
{
    Json json;
    json.value_ = Array();
    return json;
}

Json Json::object()
{
    Json json;
    json.value_ = Object();
    return json;
}

void Json::push_back(const Json& item)
{
    std::get<Array>(value_).push_back(item);
}

size_t Json::size() const
{
    return std::get<Array>(value_).size();
}

Json& Json::operator[](const std::string& name)
{
    if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object();
    Object& members = std::get<Object>(value_);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& member) { return member.first == name; });
    return found != members.end() ? found->second : members.emplace_back(name, nullptr).second;
}

void write_text(const std::string& path, const std::string& text)
{
    if (path != "-") return write_file(path, text);
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw Failure(std::string("standard output cannot be written: ") + std::strerror(errno));
}

void write_json(const std::string& path, const Json& json)
{
    write_text(path, dump(to_library(json), 2) + '\n');
}

std::string valid_utf8(const std::string& text)
{
    return LibraryJson::parse(dump(text, -1));
}

}  // namespace tengine::tools
