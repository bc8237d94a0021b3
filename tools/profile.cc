// SPDX-License-Identifier: Apache-2.0
// The contract is in profile.h.
#include "profile.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "model.h"
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

// The node whose body has the node of this name, among those in `seen`; -1: none.
int find_owner(const std::map<std::string, int>& seen, const std::string& name)
{
    for (size_t end = name.rfind('/'); end != std::string::npos && end > 0;
         end = name.rfind('/', end - 1))
        for (const char* body : {"/then_branch/", "/else_branch/", "/body/"}) {
            if (name.compare(end, std::strlen(body), body) != 0) continue;
            const auto owner = seen.find(name.substr(0, end));
            if (owner != seen.end()) return owner->second;
        }
    return -1;
}

// The innermost node in whose body each node is: "If_3" of "If_3/else_branch/Conv_1".
std::vector<int> find_owners(const std::vector<std::string>& names,
                             const std::vector<std::string>& operators)
{
    std::map<std::string, int> seen;  // bodies follow their owners
    std::vector<int> owners;
    for (size_t i = 0; i < names.size(); ++i) {
        owners.push_back(find_owner(seen, names[i]));
        if (has_bodies(operators[i])) seen[names[i]] = static_cast<int>(i);
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

}  // namespace

Profiler::Profiler(graph_t graph) : graph_(graph)
{
    const int number = tengine_graph_get_execution_node_number(graph);
    if (number < 0) fail_api("profile");
    times_.resize(static_cast<size_t>(number));
    std::vector<std::string> names, operators;
    size_t part_num = 0;
    for (int i = 0; i < number; ++i) {
        const tengine_execution_node node = execution_node(graph, i);
        names.emplace_back(node.name);
        operators.emplace_back(node.op);
        part_of_.push_back(node.subgraph);
        part_num = std::max(part_num, static_cast<size_t>(node.subgraph) + 1);
    }
    owners_ = find_owners(names, operators);
    parts_.resize(part_num);
    for (size_t i = 0; i < part_of_.size(); ++i)
        parts_[static_cast<size_t>(part_of_[i])].owner = owners_[i];
}

// The time of a part beyond that of its timed nodes belongs to its other nodes. The time of nodes
// in a body is subtracted from the node that has the body.
void Profiler::add_parts(const std::vector<double>& nodes, std::vector<double>* own)
{
    std::vector<double> known(parts_.size());
    std::vector<bool> has_unknown(parts_.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
        const auto part = static_cast<size_t>(part_of_[i]);
        if (nodes[i] >= 0)
            known[part] += nodes[i];
        else
            has_unknown[part] = true;
    }
    for (size_t i = 0; i < parts_.size(); ++i) {
        tengine_subgraph part;
        if (tengine_graph_get_subgraph(graph_, static_cast<int>(i), &part) < 0) fail_api("profile");
        if (part.measured_ms < 0) continue;
        const double rest = has_unknown[i] ? std::max(part.measured_ms - known[i], 0.0) : 0;
        if (has_unknown[i]) parts_[i].rest.push_back(rest);
        if (parts_[i].owner >= 0) (*own)[static_cast<size_t>(parts_[i].owner)] -= rest;
        parts_[i].whole.push_back(part.measured_ms);
        parts_[i].known.push_back(known[i]);
    }
}

void Profiler::add_run(double ms)
{
    std::vector<double> run(times_.size());
    for (size_t i = 0; i < times_.size(); ++i)
        run[i] = execution_node(graph_, static_cast<int>(i)).measured_ms;
    std::vector<double> own = run;
    for (size_t i = 0; i < times_.size(); ++i)
        if (owners_[i] >= 0 && run[i] > 0) own[static_cast<size_t>(owners_[i])] -= run[i];
    add_parts(run, &own);
    for (size_t i = 0; i < times_.size(); ++i)
        if (run[i] >= 0) times_[i].push_back(std::max(own[i], 0.0));
    runs_.push_back(ms);
}

// The clock of a simulated part replaces that of the simulator.
double Profiler::run_ms(const std::vector<bool>& simulated) const
{
    double ms = summarise(runs_).median;
    for (size_t i = 0; i < parts_.size(); ++i)
        if (simulated[i] && !parts_[i].whole.empty())
            ms += summarise(parts_[i].known).median - summarise(parts_[i].whole).median;
    return ms;
}

std::vector<bool> Profiler::add_part_rows(const Report& report, Profile* profile) const
{
    std::vector<bool> simulated;
    for (size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = report.parts[i];
        simulated.push_back(simulated_ms(part.counters).has_value());
        ProfileRow row = {"part " + std::to_string(i), "", part.device, 0};
        row.knows_bytes = false;
        if (!parts_[i].rest.empty()) row.ms = summarise(parts_[i].rest).median;
        profile->total_ms += row.ms;
        profile->parts.push_back(row);
    }
    return simulated;
}

void Profiler::add_node_rows(const Report& report, const std::vector<bool>& simulated,
                             Profile* profile) const
{
    const std::vector<ByteCount> bytes = count_bytes(report);
    for (size_t i = 0; i < report.nodes.size(); ++i) {
        const PlacedNode& node = report.nodes[i];
        const auto part = static_cast<size_t>(node.part);
        if (!times_[i].empty()) {
            profile->nodes.push_back({node.name, node.op, node.device, 1, simulated[part],
                                      summarise(times_[i]).median, 0, node.macs, bytes[i].number,
                                      bytes[i].is_whole, node.kernel});
            profile->total_ms += profile->nodes.back().ms;
        } else if (!parts_[part].rest.empty()) {
            profile->untimed.push_back(node.name);
            profile->parts[part].nodes += 1;
            profile->parts[part].macs += node.macs;
        }
    }
}

Profile Profiler::result() const
{
    const Report report = make_report("", {}, graph_);
    Profile profile;
    profile.runs = static_cast<int>(runs_.size());
    const std::vector<bool> simulated = add_part_rows(report, &profile);
    add_node_rows(report, simulated, &profile);
    const auto is_known = [](const ProfileRow& part) { return part.nodes == 0; };
    profile.parts.erase(std::remove_if(profile.parts.begin(), profile.parts.end(), is_known),
                        profile.parts.end());
    profile.run_ms = std::max(run_ms(simulated), profile.total_ms);
    for (std::vector<ProfileRow>* rows : {&profile.nodes, &profile.parts}) {
        for (ProfileRow& row : *rows)
            row.share = profile.run_ms > 0 ? row.ms / profile.run_ms : 0;
        sort_by_time(rows);
    }
    profile.operators = sum_operators(profile.nodes);
    return profile;
}

}  // namespace tengine::tools
