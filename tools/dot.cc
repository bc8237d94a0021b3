// SPDX-License-Identifier: Apache-2.0
// Draws a report with Graphviz. The contract is in dot.h. A graph of some hundred nodes is mostly
// chains; with a box for each node the picture would be a hundred boxes high, so a chain is one box
// with a line for each node.
#include "dot.h"

#include <algorithm>
#include <map>
#include <set>

#include "json_file.h"
#include "text.h"

namespace tengine::tools {
namespace {

// One colour for each device in turn; light enough for black characters.
constexpr const char* kColours[] = {"#9ecbea", "#fbc283", "#b4dfa9", "#eeb2d2",
                                    "#f5e68a", "#cdbdea", "#8fd8cf", "#d3d3d3"};
constexpr size_t kNameLength = 36;

constexpr const char* kPartColour = "#f4f4f4";

constexpr const char* kStyle = R"(  rankdir=TB; nodesep=0.25; ranksep=0.35; pad=0.3;
  fontname="Helvetica"; fontsize=11; labelloc=t; labeljust=l;
  style="rounded,filled"; fillcolor="#f4f4f4"; color="#909090";
  node [shape=plain, fontname="Helvetica", fontsize=11];
  edge [fontname="Helvetica", fontsize=9, color="#707070", arrowsize=0.6,
        tailport=s, headport=n];
)";

// Characters inside an HTML-like label. Graphviz refuses a tag without characters in it.
std::string escape(const std::string& text)
{
    static const std::map<char, std::string> kEntities = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    std::string escaped;
    for (const char letter : text) {
        const auto entity = kEntities.find(letter);
        const bool is_control = static_cast<unsigned char>(letter) < ' ' || letter == 0x7f;
        if (entity != kEntities.end()) {
            escaped += entity->second;
        } else {
            escaped += is_control ? ' ' : letter;
        }
    }
    return escaped.empty() ? "&#160;" : escaped;
}

// The end of a name is more informative than its beginning, unless the last component repeats the
// operator ("/stem/conv/Conv").
std::string short_name(const PlacedNode& node)
{
    std::string name = node.name;
    if (!name.empty() && name.front() == '/') name.erase(0, 1);
    const std::string ending = "/" + node.op;
    if (name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
        name.erase(name.size() - ending.size());
    if (name.size() > kNameLength) {
        size_t begin = name.size() - kNameLength;
        while (begin < name.size() && (name[begin] & 0xc0) == 0x80)  // inside a UTF-8 character
            ++begin;
        name = "..." + name.substr(begin);
    }
    return name;
}

std::string base_name(const std::string& path)
{
    return path.substr(path.find_last_of('/') + 1);
}

class Drawing
{
  public:
    explicit Drawing(const Report& report) : report_(report) { find_chains(); }

    std::string draw() const
    {
        std::string text = "digraph tengine {\n" + std::string(kStyle);
        text += "  label=<" + legend() + ">;\n";
        for (size_t i = 0; i < report_.inputs.size(); ++i)
            text += oval("in" + std::to_string(i), report_.inputs[i].name,
                         shape_text(report_.inputs[i].shape));
        for (size_t i = 0; i < report_.parts.size(); ++i)
            text += part(static_cast<int>(i));
        for (size_t i = 0; i < report_.outputs.size(); ++i)
            text += oval("out" + std::to_string(i), report_.outputs[i].name,
                         shape_text(report_.outputs[i]));
        text += edges();
        return text + "}\n";
    }

  private:
    // A node joins the box of the previous node if it is its only reader and reads nothing else.
    void find_chains();
    std::string legend() const;
    std::string title(int index) const;
    std::string part(int index) const;
    std::string box(const std::vector<int>& nodes, const std::string& title) const;
    static std::string oval(const std::string& id, const std::string& name,
                            const std::string& shape);
    std::string edges() const;
    std::string node_edges(int reader, std::set<std::string>* labelled) const;
    // The oval of an input of the model; "" when it is not an input, such as a constant.
    std::string input_id(const std::string& name) const;
    std::string box_id(int node) const { return "box" + std::to_string(box_of_[node]); }
    std::string colour(const std::string& device) const
    {
        const auto& devices = report_.devices;
        const auto index = std::find(devices.begin(), devices.end(), device) - devices.begin();
        return kColours[static_cast<size_t>(index) % std::size(kColours)];
    }

    const Report& report_;
    std::vector<std::vector<int>> boxes_;  // nodes, first to last
    std::vector<size_t> box_of_;           // box of each node
};

void Drawing::find_chains()
{
    const size_t number = report_.nodes.size();
    std::vector<std::set<int>> readers(number);
    for (const Value& result : report_.results)
        if (result.producer >= 0) readers[result.producer].insert(-1);
    for (size_t i = 0; i < number; ++i)
        for (const Value& input : report_.nodes[i].inputs)
            if (input.producer >= 0) readers[input.producer].insert(static_cast<int>(i));
    for (size_t i = 0; i < number; ++i) {
        const PlacedNode& node = report_.nodes[i];
        std::set<int> sources;
        for (const Value& input : node.inputs)
            if (!input.is_constant) sources.insert(input.producer);
        const int before = sources.size() == 1 ? *sources.begin() : -1;
        const bool is_next =
            before >= 0 && readers[before].size() == 1 && report_.nodes[before].part == node.part;
        box_of_.push_back(is_next ? box_of_[before] : boxes_.size());
        if (!is_next) boxes_.emplace_back();
        boxes_[box_of_.back()].push_back(static_cast<int>(i));
    }
}

std::string Drawing::legend() const
{
    std::string rows;
    for (const std::string& device : report_.devices) {
        int nodes = 0, parts = 0;
        int64_t macs = 0;
        double time = 0;
        for (const Part& part : report_.parts) {
            if (part.device != device) continue;
            ++parts;
            nodes += part.nodes;
            macs += part.macs;
            time += part.predicted_ms;
        }
        rows += "<tr><td bgcolor=\"" + colour(device) + "\"><b>" + escape(device) +
                "</b></td><td>" + std::to_string(nodes) + "</td><td>" +
                count_text(static_cast<double>(macs)) + "</td><td>" + std::to_string(parts) +
                "</td><td>" + time_text(time) + "</td></tr>";
    }
    return "<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\">"
           "<tr><td colspan=\"5\" border=\"0\"><font point-size=\"16\"><b>" +
           escape(base_name(report_.model)) +
           "</b></font></td></tr><tr><td>device</td><td>nodes</td><td>MACs</td><td>parts</td>"
           "<td>predicted ms</td></tr>" +
           rows +
           "<tr><td colspan=\"5\" border=\"0\">thick lines: data that moves between devices</td>"
           "</tr></table>";
}

std::string Drawing::title(int index) const
{
    const Part& part = report_.parts[index];
    const std::string group = part.group == 0 ? "" : ", group " + std::to_string(part.group);
    return "<b>part " + std::to_string(index) + ": " + escape(part.device) + group +
           "</b><br align=\"left\"/><font point-size=\"9\">" + std::to_string(part.nodes) +
           (part.nodes == 1 ? " node, " : " nodes, ") + count_text(static_cast<double>(part.macs)) +
           " MACs, " + time_text(part.predicted_ms) + " ms<br align=\"left\"/></font>";
}

// If a part is one box, the title is a line of the box, since incoming lines would cross a title
// above it.
std::string Drawing::part(int index) const
{
    std::vector<const std::vector<int>*> boxes;
    for (const std::vector<int>& nodes : boxes_)
        if (report_.nodes[nodes.front()].part == index) boxes.push_back(&nodes);
    const bool is_one_box = boxes.size() == 1;
    std::string text = "  subgraph cluster_part" + std::to_string(index) + " {\n    label=<" +
                       (is_one_box ? "" : title(index)) + ">;\n";
    for (const std::vector<int>* nodes : boxes)
        text += box(*nodes, is_one_box ? title(index) : "");
    return text + "  }\n";
}

std::string Drawing::box(const std::vector<int>& nodes, const std::string& title) const
{
    std::string rows;
    if (!title.empty())
        rows = "<tr><td align=\"left\" bgcolor=\"" + std::string(kPartColour) + "\">" + title +
               "</td></tr>";
    for (const int index : nodes) {
        const PlacedNode& node = report_.nodes[index];
        rows += "<tr><td align=\"left\"><b>" + escape(node.op) + "</b>  <font point-size=\"9\">" +
                escape(short_name(node)) + "</font></td></tr>";
    }
    return "    " + box_id(nodes.front()) +
           " [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"3\" "
           "bgcolor=\"" +
           colour(report_.nodes[nodes.front()].device) + "\">" + rows + "</table>>];\n";
}

std::string Drawing::oval(const std::string& id, const std::string& name, const std::string& shape)
{
    return "  " + id + " [shape=oval, label=<<b>" + escape(name) + "</b><br/>" + shape + ">];\n";
}

std::string Drawing::input_id(const std::string& name) const
{
    for (size_t i = 0; i < report_.inputs.size(); ++i)
        if (report_.inputs[i].name == name) return "in" + std::to_string(i);
    return "";
}

// A tensor is labelled once, at its first line: in DenseNets a tensor has dozens of readers.
std::string Drawing::node_edges(int reader, std::set<std::string>* labelled) const
{
    const PlacedNode& node = report_.nodes[reader];
    std::set<std::string> drawn;
    std::string text;
    for (const Value& value : node.inputs) {
        const bool is_computed = value.producer >= 0;
        const std::string from = is_computed ? box_id(value.producer) : input_id(value.name);
        if (value.is_constant || from.empty() || from == box_id(reader)) continue;
        if (!drawn.insert(value.name).second) continue;
        text += "  " + from + " -> " + box_id(reader);
        const bool moves = is_computed && report_.nodes[value.producer].device != node.device;
        if (moves) {
            text += " [penwidth=2.5, color=\"#404040b0\"";
            if (labelled->insert(value.name).second && value.bytes > 0)
                text += ", label=\"  " + shape_text(value.shape) + "\\l  " +
                        bytes_text(static_cast<double>(value.bytes)) + "\\l\"";
            text += "]";
        }
        text += ";\n";
    }
    return text;
}

std::string Drawing::edges() const
{
    std::set<std::string> labelled;
    std::string text;
    for (size_t i = 0; i < report_.nodes.size(); ++i)
        text += node_edges(static_cast<int>(i), &labelled);
    for (size_t i = 0; i < report_.results.size(); ++i) {
        const Value& result = report_.results[i];
        const std::string from =
            result.producer >= 0 ? box_id(result.producer) : input_id(result.name);
        if (!from.empty()) text += "  " + from + " -> out" + std::to_string(i) + ";\n";
    }
    return text;
}

}  // namespace

std::string to_dot(const Report& report)
{
    // Graphviz fails at bytes that are not UTF-8, which names of a model may contain.
    return valid_utf8(Drawing(report).draw());
}

}  // namespace tengine::tools
