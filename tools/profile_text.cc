// SPDX-License-Identifier: Apache-2.0
// A profile as tables and as JSON.
#include <algorithm>

#include "profile.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

// 10^9 operations or bytes a second; 0 if no time was measured.
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

// A node has "name", an operator "nodes", a part both.
Json rows_json(const std::vector<ProfileRow>& rows)
{
    Json list = Json::array();
    for (const ProfileRow& row : rows) {
        Json entry;
        if (!row.name.empty()) entry["name"] = row.name;
        if (row.name.empty() || row.op.empty()) entry["nodes"] = row.nodes;
        if (!row.op.empty()) entry["op"] = row.op;
        entry["device"] = row.device;
        if (!row.kernel.empty()) entry["kernel"] = row.kernel;
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

// The figures of a row that both tables show; "" in place of meaningless ones.
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
    for (const ProfileRow& row : profile.parts)
        add("(" + row.name + ")", row);
    for (const ProfileRow& row : profile.operators)
        add(row.op, row);
    ProfileRow rest;
    rest.ms = profile.run_ms - profile.total_ms;
    rest.share = profile.run_ms > 0 ? rest.ms / profile.run_ms : 0;
    rows.push_back(join(join({"(between)", ""}, figures(rest)), {""}));
    std::vector<ProfileRow> whole = profile.operators;
    whole.insert(whole.end(), profile.parts.begin(), profile.parts.end());
    ProfileRow all = sum_of(whole);
    all.ms = profile.run_ms;
    all.share = profile.run_ms > 0 ? 1 : 0;
    add("all", all);
    return table_text(rows, terminal_style({"operator", "device", "node"}));
}

// "part 1, 12 nodes"
std::string nodes_of(const ProfileRow& part)
{
    return part.name + ", " + std::to_string(part.nodes) + (part.nodes == 1 ? " node" : " nodes");
}

std::string nodes_text(const Profile& profile, size_t top)
{
    std::vector<std::vector<std::string>> rows = {
        {">ms", ">share %", ">GFLOP/s", ">GB/s", "operator", "device", "kernel", "node"}};
    for (const ProfileRow& row : profile.parts)
        rows.push_back(join(figures(row), {"", row.device, "", nodes_of(row)}));
    const size_t shown = std::min(top, profile.nodes.size());
    for (size_t i = 0; i < shown; ++i) {
        const ProfileRow& row = profile.nodes[i];
        rows.push_back(join(figures(row), {row.op, row.device, row.kernel, row.name}));
    }
    if (shown < profile.nodes.size()) {
        const ProfileRow rest =
            sum_of({profile.nodes.begin() + static_cast<long>(shown), profile.nodes.end()});
        rows.push_back(join(figures(rest), {"", "", "", std::to_string(rest.nodes) + " others"}));
    }
    return table_text(rows, terminal_style({"operator", "device", "kernel", "node"}));
}

}  // namespace

Json to_json(const Profile& profile)
{
    return {{"runs", profile.runs},
            {"run_ms", profile.run_ms},
            {"total_ms", profile.total_ms},
            {"parts", rows_json(profile.parts)},
            {"nodes", rows_json(profile.nodes)},
            {"operators", rows_json(profile.operators)},
            {"untimed", profile.untimed}};
}

std::string profile_text(const Profile& profile, int top)
{
    std::string text;
    for (const ProfileRow& part : profile.parts)
        text += part.device +
                " does not report the times of its nodes: " + decimal_text(100 * part.share, 1) +
                " % of the run are those of " + nodes_of(part) + "\n";
    return text + (text.empty() ? "" : "\n") + operators_text(profile) + "\n" +
           nodes_text(profile, static_cast<size_t>(top));
}

}  // namespace tengine::tools
