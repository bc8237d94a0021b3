// SPDX-License-Identifier: Apache-2.0
// The report is built as a string: the trees of JSON libraries end the process when memory runs out
// while one is destroyed.
#include "report.h"

#include <cstdio>
#include <string_view>

namespace tengine::provider {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The number of bytes of the first character by the Unicode Standard, table 3-7; 0 if it is none.
size_t length_of_character(std::string_view text)
{
    struct Form
    {
        unsigned char first_low, first_high, second_low, second_high;
        size_t length;
    };
    constexpr Form kForms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                               {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                               {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                               {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    const auto is_in = [&](size_t i, unsigned char low, unsigned char high) {
        const auto byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
        return byte >= low && byte <= high;
    };
    if (is_in(0, 0, 0x7F)) return 1;
    for (const Form& form : kForms) {
        if (!is_in(0, form.first_low, form.first_high)) continue;
        if (!is_in(1, form.second_low, form.second_high)) return 0;
        for (size_t i = 2; i < form.length; ++i)
            if (!is_in(i, 0x80, 0xBF)) return 0;
        return form.length;
    }
    return 0;
}

std::string quote(const std::string& text)
{
    std::string quoted = "\"";
    for (size_t at = 0; at < text.size();) {
        const size_t length = length_of_character(std::string_view(text).substr(at));
        const char letter = text[at];
        if (length == 0) {
            quoted += kReplacement;
        } else if (letter == '"' || letter == '\\') {
            quoted += {'\\', letter};
        } else if (static_cast<unsigned char>(letter) < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(letter));
            quoted += escaped;
        } else {
            quoted.append(text, at, length);
        }
        at += length == 0 ? 1 : length;
    }
    return quoted + '"';
}

// The items on lines of their own, in brackets.
std::string join(const std::vector<std::string>& items, const char* brackets,
                 const std::string& indent)
{
    if (items.empty()) return brackets;
    std::string text(1, brackets[0]);
    for (const std::string& item : items)
        text += (text.size() == 1 ? "\n  " : ",\n  ") + indent + item;
    return text + "\n" + indent + brackets[1];
}

std::string member(const char* name, const std::string& value)
{
    return quote(name) + ": " + value;
}

std::string report_node(const ViewedNode& node, int part, const std::string& reason)
{
    return join(
        {member("name", quote(node.name)), member("op", quote(node.op)),
         member("domain", quote(node.domain)),
         part == kNoPart ? member("reason", quote(reason)) : member("part", std::to_string(part))},
        "{}", "    ");
}

}  // namespace

std::string report_placement(const GraphView& view, const Placement& placement,
                             const Settings& settings)
{
    std::vector<std::string> devices, nodes;
    for (const std::string& device : settings.devices)
        devices.push_back(quote(device));
    for (size_t i = 0; i < view.nodes.size(); ++i)
        nodes.push_back(report_node(view.nodes[i], placement.parts[i], placement.reasons[i]));
    return join({member("provider", quote(kProviderName)),
                 member("devices", join(devices, "[]", "  ")),
                 member("precision", quote(settings.precision)),
                 member("parts", std::to_string(placement.part_num)),
                 member("nodes", join(nodes, "[]", "  "))},
                "{}", "") +
           "\n";
}

}  // namespace tengine::provider
