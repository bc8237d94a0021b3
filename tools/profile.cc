// SPDX-License-Identifier: Apache-2.0
// The contract is in profile.h.
#include "profile.h"

#include <algorithm>
#include <map>
#include <set>

#include "report.h"
#include "statistics.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
namespace {

struct ByteCount
{
    int64_t number = 0;
    bool is_whole = true;  // false: a shape is not known

    void add(const Value& value)
    {
        number += value.bytes;
        is_whole = is_whole && value.has_rank &&
                   std::count(value.shape.begin(), value.shape.end(), -1) == 0;
    }
};

// Bytes that each node reads and writes. A tensor that a node reads twice counts once.
std::vector<ByteCount> count_bytes(const Report& report)
{
    std::vector<ByteCount> bytes(report.nodes.size());
    std::set<std::string> written;
    const auto add_written = [&](const Value& value) {
        if (value.producer >= 0 && written.insert(value.name).second)
            bytes[static_cast<size_t>(value.producer)].add(value);
    };
    for (size_t i = 0; i < report.nodes.size(); ++i) {
        std::set<std::string> read;
        for (const Value& input : report.nodes[i].inputs) {
            if (read.insert(input.name).second) bytes[i].add(input);
            add_written(input);
        }
    }
    for (const Value& result : report.results)
        add_written(result);
    return bytes;
}

tengine_execution_node execution_node(graph_t graph, int index)
{
    tengine_execution_node node;
    if (tengine_graph_get_execution_node(graph, index, &node) < 0) fail_api("profile");
    return node;
}

bool begins_with(const std::string& text, const std::string& begin)
{
    return text.compare(0, begin.size(), begin) == 0;
}

// Of each node the innermost that it is in a body of: "If_3" of "If_3/else_branch/Conv_1".
std::vector<int> find_owners(const std::vector<std::string>& names,
                             const std::vector<std::string>& operators)
{
    static const std::set<std::string> kOwners = {"If", "Loop", "Scan", "SequenceMap"};
    std::vector<int> owners(names.size(), -1);
    for (size_t i = 0; i < names.size(); ++i) {
        if (kOwners.count(operators[i]) == 0) continue;
        for (size_t k = i + 1; k < names.size(); ++k)  // bodies come after what owns them
            for (const char* body : {"/then_branch/", "/else_branch/", "/body/"})
                if (begins_with(names[k], names[i] + body)) owners[k] = static_cast<int>(i);
    }
    return owners;
}

void sort_by_time(std::vector<ProfileRow>* rows)
{
    std::stable_sort(rows->begin(), rows->end(),
                     [](const ProfileRow& a, const ProfileRow& b) { return a.ms > b.ms; });
}

void add_device(const std::string& device, ProfileRow* row)
{
    const std::string list = ", " + row->device + ",";
    if (list.find(", " + device + ",") == std::string::npos)
        row->device += (row->device.empty() ? "" : ", ") + device;
}

std::vector<ProfileRow> sum_operators(const std::vector<ProfileRow>& nodes)
{
    std::map<std::string, ProfileRow> sums;
    for (const ProfileRow& node : nodes) {
        ProfileRow& sum = sums.emplace(node.op, ProfileRow{"", node.op, "", 0}).first->second;
        add_device(node.device, &sum);
        sum.nodes += 1;
        sum.simulated = sum.simulated || node.simulated;
        sum.ms += node.ms;
        sum.share += node.share;
        sum.macs += node.macs;
        sum.bytes += node.bytes;
        sum.knows_bytes = sum.knows_bytes && node.knows_bytes;
    }
    std::vector<ProfileRow> rows;
    for (const auto& [op, row] : sums)
        rows.push_back(row);
    sort_by_time(&rows);
    return rows;
}

// 10^9 of something a second; 0 where no time was measured.
double giga(double number, double ms)
{
    return ms > 0 ? number / (ms * 1e6) : 0;
}

double gflops_of(const ProfileRow& row)
{
    return giga(2.0 * static_cast<double>(row.macs), row.ms);
}

double gbps_of(const ProfileRow& row)
{
    return row.knows_bytes ? giga(static_cast<double>(row.bytes), row.ms) : 0;
}

Json rows_json(const std::vector<ProfileRow>& rows, bool is_node)
{
    Json list = Json::array();
    for (const ProfileRow& row : rows) {
        Json entry;
        if (is_node)
            entry["name"] = row.name;
        else
            entry["nodes"] = row.nodes;
        entry["op"] = row.op;
        entry["device"] = row.device;
        entry["median_ms"] = row.ms;
        entry["share"] = row.share;
        entry["macs"] = row.macs;
        entry["bytes"] = row.bytes;
        entry["gflops"] = gflops_of(row);
        entry["gbps"] = gbps_of(row);
        entry["simulated"] = row.simulated;
        list.push_back(entry);
    }
    return list;
}

// What both tables show of a row; nothing in place of figures that mean nothing.
std::vector<std::string> figures(const ProfileRow& row)
{
    return {decimal_text(row.ms, 4), decimal_text(100 * row.share, 1),
            row.macs > 0 && row.ms > 0 ? decimal_text(gflops_of(row), 2) : "",
            gbps_of(row) > 0 ? decimal_text(gbps_of(row), 2) : ""};
}

std::vector<std::string> join(std::vector<std::string> a, const std::vector<std::string>& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

ProfileRow sum_of(const std::vector<ProfileRow>& rows)
{
    ProfileRow sum;
    sum.nodes = 0;
    for (const ProfileRow& row : rows) {
        sum.nodes += row.nodes;
        sum.ms += row.ms;
        sum.share += row.share;
        sum.macs += row.macs;
        sum.bytes += row.bytes;
        sum.knows_bytes = sum.knows_bytes && row.knows_bytes;
    }
    return sum;
}

std::string operators_text(const Profile& profile)
{
    std::vector<std::vector<std::string>> rows = {
        {"operator", ">nodes", ">ms", ">share %", ">GFLOP/s", ">GB/s", "device"}};
    const auto add = [&rows](const std::string& name, const ProfileRow& row) {
        rows.push_back(join(join({name, std::to_string(row.nodes)}, figures(row)), {row.device}));
    };
    for (const ProfileRow& row : profile.operators)
        add(row.op, row);
    add("all", sum_of(profile.operators));
    return table_text(rows);
}

std::string nodes_text(const Profile& profile, size_t top)
{
    std::vector<std::vector<std::string>> rows = {
        {">ms", ">share %", ">GFLOP/s", ">GB/s", "operator", "device", "node"}};
    const size_t shown = std::min(top, profile.nodes.size());
    for (size_t i = 0; i < shown; ++i) {
        const ProfileRow& row = profile.nodes[i];
        rows.push_back(join(figures(row), {row.op, row.device, row.name}));
    }
    if (shown < profile.nodes.size()) {
        const ProfileRow rest =
            sum_of({profile.nodes.begin() + static_cast<long>(shown), profile.nodes.end()});
        rows.push_back(join(figures(rest), {"", "", std::to_string(rest.nodes) + " others"}));
    }
    return table_text(rows);
}

}  // namespace

Profiler::Profiler(graph_t graph) : graph_(graph)
{
    const int number = tengine_graph_get_execution_node_number(graph);
    if (number < 0) fail_api("profile");
    times_.resize(static_cast<size_t>(number));
    std::vector<std::string> names, operators;
    for (int i = 0; i < number; ++i) {
        const tengine_execution_node node = execution_node(graph, i);
        names.emplace_back(node.name);
        operators.emplace_back(node.op);
    }
    owners_ = find_owners(names, operators);
}

void Profiler::add_run()
{
    std::vector<double> run(times_.size());
    for (size_t i = 0; i < times_.size(); ++i)
        run[i] = execution_node(graph_, static_cast<int>(i)).measured_ms;
    std::vector<double> own = run;
    for (size_t i = 0; i < times_.size(); ++i)
        if (owners_[i] >= 0 && run[i] > 0) own[static_cast<size_t>(owners_[i])] -= run[i];
    for (size_t i = 0; i < times_.size(); ++i)
        if (run[i] >= 0) times_[i].push_back(std::max(own[i], 0.0));
}

Profile Profiler::result() const
{
    const Report report = make_report("", {}, graph_);
    const std::vector<ByteCount> bytes = count_bytes(report);
    Profile profile;
    for (size_t i = 0; i < report.nodes.size(); ++i) {
        const PlacedNode& node = report.nodes[i];
        profile.runs = std::max(profile.runs, static_cast<int>(times_[i].size()));
        if (times_[i].empty()) {
            profile.untimed.push_back(node.name);
            continue;
        }
        const Part& part = report.parts[static_cast<size_t>(node.part)];
        profile.nodes.push_back(
            {node.name, node.op, node.device, 1, simulated_ms(part.counters).has_value(),
             summarise(times_[i]).median, 0, node.macs, bytes[i].number, bytes[i].is_whole});
        profile.total_ms += profile.nodes.back().ms;
    }
    for (ProfileRow& node : profile.nodes)
        node.share = profile.total_ms > 0 ? node.ms / profile.total_ms : 0;
    sort_by_time(&profile.nodes);
    profile.operators = sum_operators(profile.nodes);
    return profile;
}

Json to_json(const Profile& profile)
{
    return {{"runs", profile.runs},
            {"total_ms", profile.total_ms},
            {"nodes", rows_json(profile.nodes, true)},
            {"operators", rows_json(profile.operators, false)},
            {"untimed", profile.untimed}};
}

std::string profile_text(const Profile& profile, int top)
{
    std::string text =
        operators_text(profile) + "\n" + nodes_text(profile, static_cast<size_t>(top));
    if (!profile.untimed.empty())
        text += std::to_string(profile.untimed.size()) +
                " nodes have no time: their device does not report it\n";
    return text;
}

}  // namespace tengine::tools
