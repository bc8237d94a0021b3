// SPDX-License-Identifier: Apache-2.0
#include "verify/report_page.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "json_file.h"
#include "tengine/inspect.h"
#include "text.h"
#include "verify/report_json.h"

namespace tengine::tools {
namespace {

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --soft: #59636e;
  --good: #c6f0cf; --bad: #ffc4c0; --mixed: #fbe7a8; --none: #e4e8ec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0f1419; --line: #3d444d;
  --soft: #9aa4af; --good: #17492a; --bad: #7a1f1c; --mixed: #5c4a0c; --none: #262c34; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
p, td, th { text-align: left; }
.soft { color: var(--soft); }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.command { display: block; background: var(--none); padding: .4rem .6rem; border-radius: 4px; }
table { border-collapse: collapse; }
td, th { border: 1px solid var(--line); padding: .15rem .5rem; vertical-align: top; }
.wide { overflow-x: auto; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.grid td.p, .grid td.f, .grid td.m, .grid td.r { text-align: center; white-space: nowrap; }
.grid thead th { vertical-align: bottom; }
.grid thead th.up { text-align: center; padding: .5rem .15rem; }
.up span { writing-mode: vertical-rl; transform: rotate(180deg); display: inline-block;
  font-weight: normal; }
.p { background: var(--good); } .f { background: var(--bad); font-weight: bold; }
.m { background: var(--mixed); } .r { background: var(--none); }
.failure { border-left: 4px solid var(--bad); padding: .1rem 0 .1rem .8rem; margin: 1rem 0; }
.failure p { margin: .25rem 0; }
.verdict { display: inline-block; padding: .15rem .6rem; border-radius: 4px; }
)";

struct Explained
{
    const char* check;
    const char* text;
};

constexpr Explained kChecks[] = {
    {"values", "results, within the bounds of the arithmetic of those of plain kernels"},
    {"layers", "each layer of the model alone, with the values it has in the model"},
    {"determinism", "the same inputs give the same bytes, run after run and in another graph"},
    {"misuse", "calls in a wrong order are refused, and the calls after them work"},
    {"reshape", "prepared for other shapes and back, the bytes of a new graph"},
    {"memory", "nothing grows from one preparation to the next"},
    {"allocation", "a run takes nothing from the heap"},
    {"threads", "two and four threads give the bytes of one"},
    {"races", "graphs on several threads at once give the bytes they give alone"},
    {"async", "runs in flight give the bytes of runs one by one"},
    {"faults", "a refusal has a reason, and the CPU continues"},
};

std::string escaped(const std::string& text)
{
    std::string result;
    for (const char letter : valid_utf8(text)) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

// <tag class="kind">text</tag>
std::string element(const std::string& tag, const std::string& kind, const std::string& text)
{
    const std::string attribute = kind.empty() ? "" : " class=\"" + kind + "\"";
    return "<" + tag + attribute + ">" + escaped(text) + "</" + tag + ">";
}

std::string plural(size_t number, const std::string& word)
{
    return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

std::string share_text(const Finding& finding)
{
    if (finding.bound < 0) return "";
    const double share = finding.error / finding.bound;
    return share < 100 ? decimal_text(share, 3) : count_text(share);
}

std::string head(const Target& target, const std::string& command, const Verification& report)
{
    size_t failed = 0;
    for (const Finding& finding : report.findings())
        failed += finding.verdict == Verdict::kFailed;
    const char* features = tengine_device_get_features(target.device.c_str());
    std::string text = element("h1", "", "Device " + target.device);
    std::string line = std::string("tengine ") + get_tengine_version();
    if (features && *features) line += "; " + std::string(features);
    text += element("p", "soft", line);
    text += element("code", "command", command);
    const std::string number = plural(report.findings().size(), "check");
    std::string verdict = failed > 0 ? std::to_string(failed) + " of " + number + " failed"
                                     : "nothing failed in " + number;
    if (!report.claims().empty()) {
        const size_t taken = static_cast<size_t>(report.taken_number());
        verdict += "; the device takes " + std::to_string(taken) + " of " +
                   plural(report.claims().size(), "case");
        if (taken == 0) verdict += ", so there is nothing to verify";
    }
    return text + "<p>" + element("span", failed > 0 ? "verdict f" : "verdict p", verdict) +
           "</p>\n";
}

std::string summary(const Verification& report)
{
    const std::map<std::string, Tally> tallies = report.tally();
    std::string rows;
    for (const Explained& explained : kChecks) {
        const auto tally = tallies.find(explained.check);
        if (tally == tallies.end()) continue;
        const Tally& counts = tally->second;
        rows += "<tr>" + element("th", counts.failed > 0 ? "f" : "", explained.check) +
                element("td", "", explained.text) +
                element("td", "number", std::to_string(counts.passed)) +
                element("td", counts.failed > 0 ? "number f" : "number",
                        std::to_string(counts.failed)) +
                element("td", "number", std::to_string(counts.skipped)) + "</tr>\n";
    }
    if (rows.empty()) return "";
    return "<h2>Checks</h2>\n<table><tr><th>check</th><th>subject</th><th>passed</th>"
           "<th>failed</th><th>skipped</th></tr>\n" +
           rows + "</table>\n";
}

std::string failure(const Target& target, const Finding& finding)
{
    std::string title = finding.check;
    for (const std::string* word : {&finding.op, &finding.types})
        if (!word->empty()) title += " " + *word;
    if (!finding.shape_class.empty()) title += ", " + finding.shape_class;
    std::string text = "<div class=\"failure\"><p><b>" + escaped(title) + "</b></p>\n<p>" +
                       element("code", "", finding.subject) + "</p>\n" +
                       element("p", "", finding.detail);
    if (const std::string share = share_text(finding); !share.empty())
        text += element("p", "soft", "error " + share + " times its bound");
    return text + element("code", "command", reproduction_text(target, finding)) + "</div>\n";
}

// The worst failure of each check and operator, followed by the others.
std::string failures(const Target& target, const Verification& report)
{
    std::vector<std::pair<std::string, std::vector<const Finding*>>> groups;
    for (const Finding& finding : report.findings()) {
        if (finding.verdict != Verdict::kFailed) continue;
        const std::string key =
            finding.check == "layers" ? finding.check : finding.check + " " + finding.op;
        const auto group = std::find_if(groups.begin(), groups.end(),
                                        [&](const auto& each) { return each.first == key; });
        if (group == groups.end())
            groups.push_back({key, {&finding}});
        else
            group->second.push_back(&finding);
    }
    std::string text = groups.empty() ? "" : "<h2>Failures</h2>\n";
    for (auto& [key, findings] : groups) {
        // The first wrong layer is the most informative.
        if (findings[0]->check != "layers")
            std::stable_sort(
                findings.begin(), findings.end(),
                [](const Finding* one, const Finding* other) { return one->error > other->error; });
        text += failure(target, *findings[0]);
        if (findings.size() == 1) continue;
        text += "<details>" +
                element("summary", "", plural(findings.size() - 1, "more failure") + " of " + key);
        for (size_t i = 1; i < findings.size(); ++i)
            text += failure(target, *findings[i]);
        text += "</details>\n";
    }
    return text;
}

std::string layers(const Verification& report)
{
    std::string rows;
    for (const Finding& finding : report.findings()) {
        if (finding.check != "layers") continue;
        const char* kind = finding.verdict == Verdict::kPassed   ? "p"
                           : finding.verdict == Verdict::kFailed ? "f"
                                                                 : "r";
        rows += "<tr>" + element("td", "", finding.subject) + element("td", "", finding.op) +
                element("td", "", finding.types) + element("td", "", finding.shape_class) +
                element("td", kind, verdict_text(finding.verdict)) +
                element("td", "number", share_text(finding)) + element("td", "", finding.detail) +
                "</tr>\n";
    }
    if (rows.empty()) return "";
    return "<h2>Layers</h2>\n<div class=\"wide\"><table><tr><th>layer</th><th>operator</th>"
           "<th>types</th><th>result</th><th></th><th>error / bound</th><th></th></tr>\n" +
           rows + "</table></div>\n";
}

// The outcome for the cases of an operator in a type, of one shape class.
struct Cell
{
    int taken = 0;
    int refused = 0;
    std::set<std::string> failed;  // cases
    std::string remark;            // that of the first failure, or else the first refusal
};

using Row = std::pair<std::string, std::string>;  // operator, types

struct Grid
{
    std::map<Row, std::map<std::string, Cell>> cells;
    std::set<std::string> classes;
};

Grid make_grid(const Verification& report)
{
    Grid grid;
    for (const Claim& claim : report.claims()) {
        Cell& cell = grid.cells[{claim.op, claim.types}][claim.shape_class];
        grid.classes.insert(claim.shape_class);
        ++(claim.is_taken ? cell.taken : cell.refused);
        if (!claim.is_taken && cell.remark.empty()) cell.remark = claim.reason;
    }
    for (const Finding& finding : report.findings()) {
        const auto row = grid.cells.find({finding.op, finding.types});
        if (row == grid.cells.end() || finding.verdict != Verdict::kFailed) continue;
        const auto cell = row->second.find(finding.shape_class);
        if (cell == row->second.end()) continue;
        if (cell->second.failed.empty())
            cell->second.remark = finding.check + ": " + finding.detail;
        cell->second.failed.insert(finding.subject);
    }
    return grid;
}

std::string cell_text(const Cell& cell)
{
    const int all = cell.taken + cell.refused;
    const char* kind = !cell.failed.empty() ? "f"
                       : cell.taken == all  ? "p"
                       : cell.taken > 0     ? "m"
                                            : "r";
    const std::string number = !cell.failed.empty() ? std::to_string(cell.failed.size()) + " ✗"
                               : cell.taken == 0    ? "–"
                               : cell.refused > 0
                                   ? std::to_string(cell.taken) + "/" + std::to_string(all)
                                   : std::to_string(all);
    const std::string title = cell.remark.empty() ? "" : " title=\"" + escaped(cell.remark) + "\"";
    return "<td class=\"" + std::string(kind) + "\"" + title + ">" + number + "</td>";
}

std::string grid_text(const Verification& report)
{
    const Grid grid = make_grid(report);
    if (grid.cells.empty()) return "";
    std::string text =
        "<h2>Operators</h2>\n<p>Cases by operator, types and shape class: "
        "<span class=\"p\">&nbsp;3&nbsp;</span> taken and right, "
        "<span class=\"f\">&nbsp;1 ✗&nbsp;</span> failed, "
        "<span class=\"m\">&nbsp;2/3&nbsp;</span> some refused, "
        "<span class=\"r\">&nbsp;–&nbsp;</span> all refused. Each cell says why.</p>\n"
        "<div class=\"wide\"><table class=\"grid\"><thead><tr><th>operator</th><th>types</th>";
    for (const std::string& name : grid.classes)
        text += "<th class=\"up\">" + element("span", "", name) + "</th>";
    text += "</tr></thead>\n";
    std::string last;
    for (const auto& [row, cells] : grid.cells) {
        text += "<tr>" + element("th", "", row.first == last ? "" : row.first) +
                element("td", "", row.second);
        last = row.first;
        for (const std::string& name : grid.classes) {
            const auto cell = cells.find(name);
            text += cell == cells.end() ? "<td></td>" : cell_text(cell->second);
        }
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

std::string not_verified(const Verification& report)
{
    if (report.unverified().empty()) return "";
    std::string list;
    for (const std::string& op : report.unverified())
        list += (list.empty() ? "" : ", ") + op;
    return "<h2>Claimed, not verified</h2>\n" +
           element("p", "",
                   "The device lists these operators, and there is no case of them: " + list) +
           "\n";
}

}  // namespace

std::string report_page(const Target& target, const std::string& command,
                        const Verification& report)
{
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
           "<meta name=\"viewport\" content=\"width=device-width\">" +
           element("title", "", "tengine verify: " + target.device) + "<style>" + kStyle +
           "</style></head>\n<body>\n" + head(target, command, report) + failures(target, report) +
           summary(report) + layers(report) + grid_text(report) + not_verified(report) +
           "</body></html>\n";
}

}  // namespace tengine::tools
