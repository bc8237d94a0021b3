// SPDX-License-Identifier: Apache-2.0
// Logs the result of a split: a line for the graph and, on demand (option split.report), one for
// each node. Programs read it through inspect.h.
#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "base/maps.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "base/sort.h"
#include "graph/core.h"
#include "graph/option.h"
#include "graph/subgraph.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/optimizer.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

constexpr size_t kLineLength = 255;  // length of a line for a program's sink
constexpr int kNameLength = 40;
constexpr size_t kMostReasons = 8;

// The nodes of one device, and the reasons of better devices that refused them.
struct Share
{
    const device* taker;
    int nodes = 0;
    int parts = 0;
    int64_t macs = 0;
    Map<String, int> reasons;  // nodes by reason
};

// Devices best first, the default device last, in the order of the split.
Vector<Share> list_shares(const graph& graph)
{
    Vector<Share> shares;
    const auto add = [&](const device* device) {
        for (const Share& share : shares)
            if (share.taker == device) return;
        shares.push_back({device, 0, 0, 0, {}});
    };
    for (const device* device : list_graph_devices(graph))
        if (device != find_default_device()) add(device);
    // A device's own split may use further devices.
    for (int i = 0; i < get_vector_num(graph.subgraph_list); ++i) {
        const device* device = get_ir_graph_subgraph(&graph, i)->device;
        if (device != find_default_device()) add(device);
    }
    add(find_default_device());
    return shares;
}

const char* get_reason_phrase(int code)
{
    switch (code) {
#define REASON_PHRASE(name, value, word, phrase) \
    case name:                                   \
        return phrase;
        IR_REASON_LIST(REASON_PHRASE)
#undef REASON_PHRASE
        default:
            return "{device} refused";
    }
}

void fill_in(String* text, std::string_view place, const String& value)
{
    const size_t at = text->find(place);
    if (at != String::npos) text->replace(at, place.size(), value);
}

// The reason without names of nodes and tensors, so that equal reasons are counted together.
String reason_text(const node& node, const ir_refusal_t& refusal)
{
    const ir_verdict_t& verdict = refusal.verdict;
    const String value = verdict.value;
    const String attribute = verdict.attribute;
    String text = get_reason_phrase(verdict.code);
    fill_in(&text, "{device}", refusal.device->name);
    fill_in(&text, "{operator}", get_ir_node_op(&node));
    fill_in(&text, "{value}", value.empty() ? "types" : value);
    fill_in(&text, "{attribute}", attribute.empty() ? "parameters" : "'" + attribute + "'");
    return text;
}

void add_part(const subgraph& part, Vector<Share>* shares)
{
    Share& share = *std::find_if(shares->begin(), shares->end(),
                                 [&](const Share& entry) { return entry.taker == part.device; });
    ++share.parts;
    share.nodes += part.node_num;
    for (int i = 0; i < part.node_num; ++i) {
        const node& node = *get_ir_graph_node(part.graph, part.node_list[i]);
        share.macs += get_ir_node_macs(&node);
        for (int r = 0; r < node.core->refusal_num; ++r)
            share.reasons[reason_text(node, node.core->refusal_list[r])]++;
    }
}

String count_text(int number, const char* noun)
{
    return print_text("%d %s%s", number, noun, number == 1 ? "" : "s");
}

// One decimal; shares other than 0 and 100 are printed as 0.1 to 99.9.
String percent_text(int64_t macs, int64_t all_macs)
{
    if (macs == all_macs) return "100 %";
    if (macs == 0) return "0 %";
    const double percent = 100.0 * static_cast<double>(macs) / static_cast<double>(all_macs);
    return print_text("%.1f %%", std::clamp(percent, 0.1, 99.9));
}

struct Reason
{
    const char* text;
    int nodes;
};

int compare_reasons(const void* left, const void* right)
{
    const auto& a = *static_cast<const Reason*>(left);
    const auto& b = *static_cast<const Reason*>(right);
    return a.nodes != b.nodes ? b.nodes - a.nodes : std::strcmp(a.text, b.text);
}

// The `most` most frequent reasons.
String reasons_text(const Share& share, size_t most)
{
    Vector<Reason> reasons;
    for (const auto& [text, nodes] : share.reasons)
        reasons.push_back({text.c_str(), nodes});
    sort_items(reasons.data(), reasons.size(), sizeof(Reason), compare_reasons);
    String list;
    for (size_t i = 0; i < std::min(most, reasons.size()); ++i)
        list += print_text("%s%s (%d)", i ? ", " : "", reasons[i].text, reasons[i].nodes);
    if (reasons.size() > most) {
        const int rest = static_cast<int>(reasons.size() - most);
        list += print_text(" and %s", count_text(rest, "other reason").c_str());
    }
    return list;
}

String share_text(const Share& share, int64_t all_macs, size_t most_reasons)
{
    if (share.nodes == 0) return print_text("%s: no nodes", share.taker->name);
    String text = print_text("%s: %s", share.taker->name, count_text(share.nodes, "node").c_str());
    if (all_macs > 0)
        text += print_text(", %s of MACs", percent_text(share.macs, all_macs).c_str());
    text += print_text(", %s", count_text(share.parts, "part").c_str());
    if (!share.reasons.empty())
        text += print_text(", because %s", reasons_text(share, most_reasons).c_str());
    return text;
}

String graph_name(const graph& graph)
{
    if (!*graph.name) return "graph";
    const bool is_long = std::strlen(graph.name) > kNameLength;
    return print_text("graph '%.*s%s'", kNameLength, graph.name, is_long ? "..." : "");
}

// The number of reasons for the nodes of the default device, and for those of each other device.
struct Detail
{
    size_t of_default = kMostReasons;
    size_t of_others = kMostReasons;
};

String graph_text(const graph& graph, const Vector<Share>& shares, const Detail& detail)
{
    int64_t all_macs = 0;
    for (const Share& share : shares)
        all_macs += share.macs;
    String text;
    for (const Share& share : shares) {
        const bool is_default = share.taker == find_default_device();
        if (is_default && share.nodes == 0) continue;
        text += text.empty() ? print_text("%s: ", graph_name(graph).c_str()) : "; ";
        text += share_text(share, all_macs, is_default ? detail.of_default : detail.of_others);
    }
    return text;
}

// The line has as many reasons as fit, first those of nodes that fell back to the default device.
void log_graph(const graph& graph, const Vector<Share>& shares)
{
    Detail detail;
    String text = graph_text(graph, shares, detail);
    while (text.size() > kLineLength && detail.of_default > 1) {
        --(detail.of_others > 1 ? detail.of_others : detail.of_default);
        text = graph_text(graph, shares, detail);
    }
    TLOG_NOTICE("%s", text.c_str());
}

// "Conv 'conv1'", "Conv 'conv1' (custom kernel 'mine')".
String node_text(const node& node)
{
    const ir_custom_kernel_t* kernel = node.core->custom_kernel;
    const char* op = kernel ? get_source_op(kernel->node) : get_ir_node_op(&node);
    if (!kernel) return print_text("%s '%s'", op, node.name);
    return print_text("%s '%s' (%s '%s')", op, node.name, kernel->table->kind,
                      get_kernel_name(kernel));
}

// "A, part 1", "A, part 1 (group 2)".
String part_text(const subgraph& part)
{
    const int group = get_ir_subgraph_group(&part);
    const char* device = part.device->name;
    return group == 0 ? print_text("%s, part %d", device, part.index)
                      : print_text("%s, part %d (group %d)", device, part.index, group);
}

void log_nodes(const graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        const subgraph& part = *get_ir_graph_subgraph(&graph, node.subgraph_idx);
        String text = print_text("%s: %s", part_text(part).c_str(), node_text(node).c_str());
        for (int r = 0; r < node.core->refusal_num; ++r)
            text += print_text("%s%s: %s", r ? "; " : ", because ",
                               node.core->refusal_list[r].device->name,
                               node.core->refusal_list[r].verdict.message);
        TLOG_NOTICE("%s", text.c_str());
    }
}

void report(const graph& graph)
{
    const String wanted = get_ir_context_option(graph.attribute->context, "split.report");
    Vector<Share> shares = list_shares(graph);
    if (wanted == "none" || shares.size() == 1) return;
    for (int i = 0; i < get_vector_num(graph.subgraph_list); ++i)
        add_part(*get_ir_graph_subgraph(&graph, i), &shares);
    log_graph(graph, shares);
    if (wanted == "full") log_nodes(graph);
}

}  // namespace
}  // namespace tengine

void report_ir_split(const struct graph* execution)
{
    if (IS_MINIMAL) return;
    try {
        tengine::report(*execution);
    } catch (const std::bad_alloc&) {
        TLOG_ERR("graph '%s': out of memory while reporting its split", execution->name);
    }
}
