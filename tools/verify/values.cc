// SPDX-License-Identifier: Apache-2.0
#include "verify/values.h"

#include <algorithm>
#include <cmath>

#include "tensor_file/failure.h"
#include "verify/bound.h"
#include "verify/case_inputs.h"
#include "verify/graph_of_case.h"
#include "verify/reference.h"

namespace tengine::tools {
namespace {

constexpr uint64_t kSeed = 7;

int64_t largest_number(const std::vector<Tensor>& tensors)
{
    int64_t elements = 0;
    for (const Tensor& tensor : tensors)
        elements = std::max(elements, static_cast<int64_t>(tensor.element_number()));
    return elements;
}

struct DeviceRun
{
    std::vector<Tensor> outputs;
    Placement placement;
    int64_t redo_number = 0;
};

DeviceRun run_on(const Target& target, const TypedCase& typed, const std::vector<Tensor>& inputs)
{
    CaseGraph graph(typed.of, typed.data_type, inputs, target);
    graph.prepare();
    graph.feed(inputs);
    graph.run();
    return {graph.outputs(), graph.placement(), graph.redo_number()};
}

Finding judge(const Target& target, const TypedCase& typed, Finding finding)
{
    const auto end = [&](Verdict verdict, const std::string& detail) {
        finding.verdict = verdict;
        finding.detail = detail;
        return finding;
    };
    const std::vector<Tensor> inputs =
        make_inputs(typed.of, typed.data_type, typed.value_type, kSeed);
    Expected expected;
    try {
        expected = compute_reference(typed.of, typed.data_type, inputs);
    } catch (const Failure& failure) {
        return end(Verdict::kSkipped, std::string("the reference fails: ") + failure.what());
    }
    const DeviceRun run = run_on(target, typed, inputs);
    finding.kernels = run.placement.kernels;
    if (run.redo_number > 0)
        return end(Verdict::kFailed, "the device fails to run it, and the CPU did");
    const Agreement agreement = compare(
        typed.of, typed.value_type,
        count_terms(typed.of.op, run.outputs[0], largest_number(inputs), run.placement.mac_number),
        expected, run.outputs);
    finding.error = agreement.error;
    finding.bound = 1;
    return end(agreement.agrees ? Verdict::kPassed : Verdict::kFailed, agreement.detail);
}

}  // namespace

void check_values(const Target& target, const std::vector<TypedCase>& cases, Verification* report,
                  const ShowProgress& show)
{
    for (const TypedCase& typed : cases) {
        show(static_cast<int>(&typed - cases.data()), static_cast<int>(cases.size()));
        Finding finding = begin_finding("values", typed);
        try {
            finding = judge(target, typed, finding);
        } catch (const Failure& failure) {
            finding.verdict = Verdict::kFailed;
            finding.detail = failure.what();
        }
        report->add(finding);
    }
}

}  // namespace tengine::tools
