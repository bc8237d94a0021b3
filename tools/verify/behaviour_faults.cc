// SPDX-License-Identifier: Apache-2.0
// Nodes that a device does not take: it gives a reason, and the CPU continues.
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "verify/behaviour.h"

namespace tengine::tools {
namespace {

// The device's refusal of a node of the prepared graph; its device is null if there is none.
tengine_refusal find_refusal(graph_t graph, const std::string& device)
{
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        tengine_execution_node node = {};
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) fail_api("execution node");
        for (int k = 0; k < node.refusal_number; ++k) {
            tengine_refusal refusal = {};
            if (tengine_graph_get_refusal(graph, i, k, &refusal) < 0) fail_api("refusal");
            if (refusal.device == device) return refusal;
        }
    }
    return {};
}

Outcome judge(const tengine_refusal& refusal)
{
    const std::string message = refusal.message;
    if (std::string(refusal.reason) == "device")
        return failed("the device failed to say whether it takes it: " + message);
    // The library's message where a device gives none.
    if (message.empty() || message.find(": it returned -") != std::string::npos)
        return failed("the device gives no reason for its refusal" +
                      (message.empty() ? "" : ": " + message));
    return passed(message);
}

Outcome check(const Target& target, const TypedCase& specimen)
{
    const std::vector<Tensor> inputs = values_of(specimen, 1);
    CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
    graph.prepare();
    const tengine_refusal refusal = find_refusal(graph.graph(), target.device);
    if (!refusal.device) return skipped("no node was refused");
    const Outcome outcome = judge(refusal);
    if (outcome.verdict == Verdict::kFailed) return outcome;
    graph.feed(inputs);
    graph.run();
    graph.prepare();
    graph.feed(inputs);
    graph.run();
    return outcome;
}

// One case of each operator, type and shape class that the device refuses. Claims are in the order
// of the cases, of which several may have the same name.
std::vector<TypedCase> choose_refused(const std::vector<TypedCase>& cases,
                                      const Verification& report)
{
    std::map<std::pair<std::string, std::string>, std::deque<bool>> refusals;  // name, types
    for (const Claim& claim : report.claims())
        refusals[{claim.subject, claim.types}].push_back(!claim.is_taken);
    std::vector<TypedCase> chosen;
    std::set<std::string> seen;
    for (const TypedCase& typed : cases) {
        std::deque<bool>& left = refusals[{typed.of.name(), typed.types}];
        if (left.empty()) continue;
        const bool is_refused = left.front();
        left.pop_front();
        if (is_refused && seen.insert(typed.text()).second) chosen.push_back(typed);
    }
    return chosen;
}

Outcome try_check(const Target& target, const TypedCase& specimen)
{
    try {
        return check(target, specimen);
    } catch (const Failure& failure) {
        return failed(failure.what());
    }
}

}  // namespace

void check_faults(const Target& target, const std::vector<TypedCase>& cases, Verification* report,
                  const ShowProgress& show)
{
    const std::vector<TypedCase> refused = choose_refused(cases, *report);
    for (size_t i = 0; i < refused.size(); ++i) {
        show(static_cast<int>(i), static_cast<int>(refused.size()));
        report->add(finding_of("faults", refused[i], try_check(target, refused[i])));
    }
}

}  // namespace tengine::tools
