// SPDX-License-Identifier: Apache-2.0
// The report is built as a string: JSON libraries end the process when memory runs out while a tree
// is destroyed.
#include "report.h"

#include <cstdio>

#include "base/utf8.h"

namespace tengine::provider {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string quote(const std::string& text)
{
    std::string quoted = "\"";
    for (size_t at = 0; at < text.size();) {
        const size_t length = measure_utf8_character(&text[at], text.size() - at);
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

// Writes the items on lines of their own, in brackets.
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
