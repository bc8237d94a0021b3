// SPDX-License-Identifier: Apache-2.0
// Configurations as JSON. Printing needs no library; without nlohmann-json, reading fails with the
// reason.
#include <charconv>
#include <set>

#include "base/guard.hpp"
#include "base/json_members.hpp"
#include "device/tpu/machine/config.h"
#include "device/tpu/machine/config_fields.h"
#include "tengine/error.h"

#ifdef TENGINE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

namespace tengine::tpu {
namespace {

std::string print_value(int64_t value)
{
    return std::to_string(value);
}

std::string print_value(int value)
{
    return std::to_string(value);
}

std::string print_value(bool value)
{
    return value ? "true" : "false";
}

// Returns the shortest string from which reading gives the same number, in any locale.
std::string print_value(double value)
{
    char text[40];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

#ifdef TENGINE_HAVE_JSON

using Json = nlohmann::json;

// Whether a value has the type of the member.
bool has_type(const Json& value, int Config::*)
{
    return value.is_number_integer();
}

bool has_type(const Json& value, int64_t Config::*)
{
    return value.is_number_integer();
}

bool has_type(const Json& value, double Config::*)
{
    return value.is_number();
}

bool has_type(const Json& value, bool Config::*)
{
    return value.is_boolean();
}

const char* type_text(const ConfigField& field)
{
    if (std::holds_alternative<bool Config::*>(field.member)) return "true or false";
    return std::holds_alternative<double Config::*>(field.member) ? "a number" : "an integer";
}

// Returns a value for messages. Arrays and objects are not printed: they may be nested too deeply
// for the stack.
std::string value_text(const Json& value)
{
    if (value.is_structured()) return value.is_array() ? "an array" : "an object";
    return value.dump();
}

int set_field(const Json& value, const ConfigField& field, const std::string& where,
              Config* out_config)
{
    const bool fits =
        std::visit([&](auto member) { return has_type(value, member); }, field.member);
    if (!fits)
        return tengine_error_set(TENGINE_EINVAL, "%s: '%s' is %.80s, expected %s", where.c_str(),
                                 field.name, value_text(value).c_str(), type_text(field));
    // The value is read as a double first: the range check keeps the conversion to the member's
    // type defined.
    const double number = value.is_boolean() ? value.get<bool>() : value.get<double>();
    if (!(number >= field.low && number <= field.high))
        return tengine_error_set(TENGINE_ERANGE, "%s: '%s' is %.80s, expected %.17g to %.17g",
                                 where.c_str(), field.name, value_text(value).c_str(), field.low,
                                 field.high);
    std::visit(
        [&](auto member) {
            using Type = std::decay_t<decltype(out_config->*member)>;
            out_config->*member = static_cast<Type>(number);
        },
        field.member);
    return TENGINE_OK;
}

// Values that contain others keep only their kind.
using Members = JsonMembers<Json, Json>;

int read_string(const Members& members, const char* name, const std::string& where,
                std::string* out_text)
{
    const Json* found = members.find(name);
    if (!found) return TENGINE_OK;
    if (!found->is_string())
        return tengine_error_set(TENGINE_EINVAL, "%s: '%s' is %.80s, expected a string",
                                 where.c_str(), name, value_text(*found).c_str());
    *out_text = found->get<std::string>();
    return TENGINE_OK;
}

int start_from_base(const std::string& base, const std::string& where, Config* out_config)
{
    const Config* preset = find_preset(base);
    if (!preset)
        return tengine_error_set(TENGINE_ENOENT, "%s: unknown base '%.80s': expected one of %s",
                                 where.c_str(), base.c_str(), preset_names().c_str());
    *out_config = *preset;
    return TENGINE_OK;
}

int check_names(const Members& members, const std::string& where)
{
    std::set<std::string> known = {"base", "name"};
    for (const ConfigField& field : config_fields())
        known.insert(field.name);
    for (const auto& [name, value] : members.list()) {
        if (known.count(name) == 0)
            return tengine_error_set(TENGINE_EINVAL, "%s: unknown member '%.80s'", where.c_str(),
                                     name.c_str());
    }
    return TENGINE_OK;
}

int read_config(const std::string& text, const std::string& where, Config* out_config)
{
    Members members;
    TENGINE_RETURN_IF_ERROR(members.read(text.data(), text.size(), where.c_str()));
    TENGINE_RETURN_IF_ERROR(check_names(members, where));
    Config config;
    std::string base;
    TENGINE_RETURN_IF_ERROR(read_string(members, "base", where, &base));
    if (members.find("base")) TENGINE_RETURN_IF_ERROR(start_from_base(base, where, &config));
    config.name = "custom";
    TENGINE_RETURN_IF_ERROR(read_string(members, "name", where, &config.name));
    for (const ConfigField& field : config_fields()) {
        if (const Json* found = members.find(field.name)) {
            TENGINE_RETURN_IF_ERROR(set_field(*found, field, where, &config));
        } else if (!members.find("base")) {
            return tengine_error_set(TENGINE_EINVAL,
                                     "%s: '%s' is missing; set it, or a \"base\" (%s)",
                                     where.c_str(), field.name, preset_names().c_str());
        }
    }
    TENGINE_RETURN_IF_ERROR(check_config(config, where));
    *out_config = config;
    return TENGINE_OK;
}

#endif

}  // namespace

int parse_config(const std::string& json, const std::string& where, Config* out_config)
{
#ifdef TENGINE_HAVE_JSON
    const auto read = [&] { return read_config(json, where, out_config); };
    const auto with_library = [&] {
        return guarded_library(read, TENGINE_EINVAL, "%s", where.c_str());
    };
    return guarded(with_library, "%s: out of memory", where.c_str());
#else
    (void)json;
    (void)out_config;
    return tengine_error_set(TENGINE_ENOTSUP,
                             "%s: this build cannot read JSON (nlohmann-json was not found); the "
                             "configurations %s need no file",
                             where.c_str(), preset_names().c_str());
#endif
}

std::string print_config(const Config& config)
{
    std::string text = "{\n  \"name\": \"" + config.name + "\"";
    for (const ConfigField& field : config_fields()) {
        text += std::string(",\n  \"") + field.name + "\": ";
        text += std::visit([&](auto member) { return print_value(config.*member); }, field.member);
    }
    return text + "\n}\n";
}

}  // namespace tengine::tpu
