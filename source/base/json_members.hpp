// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object, without recursion: files may be nested deeply. The tree of
// nlohmann-json allocates in its destructor, and terminates the process if that fails.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tengine/error.h"

namespace tengine {

// `Json` is nlohmann::json, whose header the including source has. A Value is made from a scalar,
// or from an empty array or object in place of one with content.
template <class Json, class Value>
class JsonMembers : public Json::json_sax_t
{
  public:
    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(typename Json::number_integer_t value) override { return add(value); }
    bool number_unsigned(typename Json::number_unsigned_t value) override { return add(value); }
    bool number_float(typename Json::number_float_t value, const typename Json::string_t&) override
    {
        return add(value);
    }
    bool string(typename Json::string_t& value) override { return add(value); }
    bool binary(typename Json::binary_t&) override { return add(nullptr); }

    bool start_object(std::size_t) override
    {
        is_object_ = is_object_ || depth_ == 0;
        return begin(Json::value_t::object);
    }
    bool start_array(std::size_t) override { return begin(Json::value_t::array); }
    bool end_object() override { return end(); }
    bool end_array() override { return end(); }

    bool key(typename Json::string_t& name) override
    {
        if (depth_ == 1) name_ = name;
        return true;
    }

    bool parse_error(std::size_t, const std::string&,
                     const typename Json::exception& error) override
    {
        throw std::runtime_error(error.what());
    }

    // Reads the members of one object. TENGINE_EINVAL when the text is another value, or has a name
    // twice: the first value would silently be hidden. Text that is not JSON throws
    // std::runtime_error.
    int read(const char* json, size_t length, const char* where)
    {
        Json::sax_parse(json, json + length, this);
        if (!is_object_) return tengine_error_set(TENGINE_EINVAL, "%s: not a JSON object", where);
        if (twice_.empty()) return TENGINE_OK;
        return tengine_error_set(TENGINE_EINVAL, "%s: '%.80s' is given twice", where,
                                 twice_.c_str());
    }

    const std::map<std::string, Value>& list() const { return list_; }

    // Null if there is no member of this name.
    const Value* find(const std::string& name) const
    {
        const auto found = list_.find(name);
        return found == list_.end() ? nullptr : &found->second;
    }

  private:
    // A value inside that of a member, or below it.
    virtual void add_inside(Value&, const Json&, bool /*is_below*/) {}

    bool add(Json value)
    {
        if (depth_ == 1 && is_object_) {
            if (!list_.emplace(name_, std::move(value)).second) twice_ = name_;
        } else if (depth_ >= 2 && is_object_) {
            add_inside(list_[name_], value, depth_ > 2);
        }
        return true;
    }

    bool begin(typename Json::value_t kind)
    {
        add(Json(kind));
        ++depth_;
        return true;
    }

    bool end()
    {
        --depth_;
        return true;
    }

    int64_t depth_ = 0;
    bool is_object_ = false;
    std::string name_;
    std::string twice_;  // "": all names are unique
    std::map<std::string, Value> list_;
};

}  // namespace tengine
