// SPDX-License-Identifier: Apache-2.0
#include "verify/report_json.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "tengine/c_api.h"
#include "verify/manifest.h"

namespace tengine::tools {
namespace {

// JSON has no infinity.
Json number_json(double value)
{
    return std::isfinite(value) ? Json(value) : Json("inf");
}

Json finding_json(const Target& target, const Finding& finding)
{
    Json json = {{"check", finding.check},     {"operator", finding.op},
                 {"types", finding.types},     {"shape_class", finding.shape_class},
                 {"subject", finding.subject}, {"verdict", verdict_text(finding.verdict)},
                 {"detail", finding.detail}};
    if (finding.bound >= 0) {
        json["error"] = number_json(finding.error);
        json["bound"] = number_json(finding.bound);
    }
    if (!finding.kernels.empty()) json["kernels"] = finding.kernels;
    if (finding.verdict == Verdict::kFailed) json["reproduce"] = reproduction_text(target, finding);
    return json;
}

}  // namespace

std::string target_text(const Target& target)
{
    static const std::map<int, std::string> precisions = {{TENGINE_MODE_FP16, "fp16"},
                                                          {TENGINE_MODE_BF16, "bf16"},
                                                          {TENGINE_MODE_INT8, "int8"},
                                                          {TENGINE_MODE_UINT8, "uint8"}};
    std::string text = "tengine verify";
    // Plug-ins of the environment are loaded without an argument.
    const bool are_named = !std::getenv("TENGINE_PLUGIN_PATH");
    for (int i = 0; are_named && i < get_tengine_plugin_number(); ++i)
        text += std::string(" --plugin ") + tengine_plugin_get_file(i);
    text += " --device " + target.device;
    for (const std::string& option : target.options)
        text += " --option '" + option + "'";
    if (target.threads != 1) text += " --threads " + std::to_string(target.threads);
    const auto precision = precisions.find(target.precision);
    if (precision != precisions.end()) text += " --precision " + precision->second;
    return text;
}

std::string reproduction_text(const Target& target, const Finding& finding)
{
    if (!finding.reproduction.empty()) return finding.reproduction;
    if (finding.op.empty()) return target_text(target);
    return target_text(target) + " --only '" + finding.subject + " " + finding.types + "'";
}

Json report_json(const Target& target, const Verification& report)
{
    Json findings = Json::array();
    for (const Finding& finding : report.findings())
        findings.push_back(finding_json(target, finding));
    Json checks = Json::object();
    for (const auto& [check, tally] : report.tally())
        checks[check] = {
            {"passed", tally.passed}, {"failed", tally.failed}, {"skipped", tally.skipped}};
    return {{"version", 1},
            {"device", target.device},
            {"options", target.options},
            {"threads", target.threads},
            {"passed", !report.has_failed()},
            {"checks", checks},
            {"claims", manifest_json(report)},
            {"not_verified", report.unverified()},
            {"findings", findings}};
}

}  // namespace tengine::tools
