// SPDX-License-Identifier: Apache-2.0
#include "variants.h"

#include <map>

#include "tengine/placement.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr const char* kKeys = "name, device, chip, driver and precision";

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> words;
    size_t begin = 0;
    for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
        words.push_back(text.substr(begin, end - begin));
    words.push_back(text.substr(begin));
    return words;
}

// "TPU-edge-int8", of the members that the target has.
std::string make_name(const CompileTarget& target)
{
    std::string name;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) name += (name.empty() ? "" : "-") + part;
    };
    for (const std::string& device : target.devices)
        add(device);
    add(target.chip);
    add(target.driver);
    add(target.precision);
    return name;
}

std::string* find_member(CompileTarget* target, const std::string& key)
{
    const std::map<std::string, std::string*> members = {{"name", &target->name},
                                                         {"chip", &target->chip},
                                                         {"driver", &target->driver},
                                                         {"precision", &target->precision}};
    const auto member = members.find(key);
    return member == members.end() ? nullptr : member->second;
}

// Returns the fault of the word, "" if there is none.
std::string take_word(const std::string& word, CompileTarget* target)
{
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) return "expected KEY=VALUE[,KEY=VALUE]...";
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key.find('.') != std::string::npos || key == "scheduler") {
        target->options.push_back(word);
        return "";
    }
    if (value.empty()) return "'" + key + "' has no value";
    if (key == "device") {
        target->devices = split(value, '+');
        return "";
    }
    std::string* member = find_member(target, key);
    if (!member) return "unknown key '" + key + "': expected an option, or " + kKeys;
    *member = value;
    return "";
}

std::string parse(const std::string& text, CompileTarget* target)
{
    *target = {};
    target->text = text;
    if (text.empty()) return "";
    for (const std::string& word : split(text, ',')) {
        const std::string fault = take_word(word, target);
        if (!fault.empty()) return "invalid value '" + text + "': " + fault;
    }
    if (target->name.empty()) target->name = make_name(*target);
    return "";
}

}  // namespace

std::vector<Variant> read_variants(graph_t graph)
{
    std::vector<Variant> variants;
    const int number = tengine_graph_get_variant_number(graph);
    if (number < 0) fail_api("variants");
    for (int i = 0; i < number; ++i) {
        tengine_variant raw;
        if (tengine_graph_get_variant(graph, i, &raw, sizeof raw) < 0)
            fail_api("variant " + std::to_string(i));
        variants.push_back({raw.name, raw.devices, raw.chip, raw.driver,
                            precision_name(raw.precision), raw.options, raw.part_number, raw.bytes,
                            raw.is_usable != 0, raw.is_taken != 0, raw.reason});
    }
    return variants;
}

std::string variants_text(const std::vector<Variant>& variants, size_t width)
{
    if (variants.empty()) return "";
    Rows rows = {{"variant", "devices", "chip", "driver", "precision", ">parts", ">bytes",
                  "options", "effect"}};
    for (const Variant& variant : variants) {
        const std::string effect = variant.is_taken ? "taken: " : "not taken: ";
        rows.push_back(
            {variant.name, variant.devices, variant.chip, variant.driver, variant.precision,
             std::to_string(variant.parts), bytes_text(static_cast<double>(variant.bytes)),
             variant.options,
             variant.is_usable && variant.reason.empty() ? "usable" : effect + variant.reason});
    }
    TableStyle style;
    style.width = width;
    style.shortened = {"options"};
    return table_text(rows, style);
}

Json to_json(const std::vector<Variant>& variants)
{
    Json list = Json::array();
    for (const Variant& variant : variants)
        list.push_back({{"name", variant.name},
                        {"devices", variant.devices},
                        {"chip", variant.chip},
                        {"driver", variant.driver},
                        {"precision", variant.precision},
                        {"options", variant.options},
                        {"parts", variant.parts},
                        {"bytes", variant.bytes},
                        {"usable", variant.is_usable},
                        {"taken", variant.is_taken},
                        {"reason", variant.reason}});
    return list;
}

std::string judge_target(const std::string& text)
{
    CompileTarget target;
    return parse(text, &target);
}

CompileTarget parse_target(const std::string& text)
{
    CompileTarget target;
    parse(text, &target);
    return target;
}

ModelOptions add_target(const ModelOptions& common, const CompileTarget& target)
{
    ModelOptions options = common;
    if (!target.devices.empty()) options.devices = target.devices;
    if (!target.precision.empty()) options.precision = parse_precision(target.precision);
    options.options.insert(options.options.end(), target.options.begin(), target.options.end());
    if (target.name.empty()) return options;
    std::string variant = "model.keep_variant=name=" + target.name;
    if (!target.chip.empty()) variant += ",chip=" + target.chip;
    if (!target.driver.empty()) variant += ",driver=" + target.driver;
    options.options.push_back(variant);
    return options;
}

}  // namespace tengine::tools
