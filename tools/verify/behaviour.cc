// SPDX-License-Identifier: Apache-2.0
#include "verify/behaviour.h"

#include <algorithm>
#include <map>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "text.h"
#include "verify/bound.h"
#include "verify/case_inputs.h"

namespace tengine::tools {
namespace {

struct Named
{
    const char* name;
    Check check;
    bool compares = true;  // bytes of different runs
};

constexpr Named kChecks[] = {
    {"misuse", check_misuse},   {"memory", check_memory, false},
    {"reshape", check_reshape}, {"allocation", check_allocation, false},
    {"threads", check_threads}, {"races", check_races},
    {"async", check_async},
};

// Enough for several threads and for kernels that work in blocks; more takes time.
constexpr size_t kMostElements = 1 << 16;

size_t count_elements(const Case& of)
{
    size_t number = 0;
    for (const Operand& input : of.inputs) {
        size_t elements = input.is_absent ? 0 : 1;
        for (const int dim : input.dims)
            elements *= static_cast<size_t>(dim);
        number += elements;
    }
    return number;
}

// The largest of those that are not too large, or else the smallest.
bool is_better(const TypedCase& one, const TypedCase& other)
{
    const size_t own = count_elements(one.of), others = count_elements(other.of);
    if ((own <= kMostElements) != (others <= kMostElements)) return own <= kMostElements;
    return own <= kMostElements ? own > others : own < others;
}

std::vector<TypedCase> choose(const std::vector<TypedCase>& taken)
{
    std::vector<TypedCase> chosen;
    std::map<std::pair<std::string, std::string>, size_t> places;
    for (const TypedCase& each : taken) {
        if (each.of.is_behind_conv) continue;
        const auto [place, is_new] =
            places.emplace(std::pair(each.of.op, each.types), chosen.size());
        if (is_new)
            chosen.push_back(each);
        else if (is_better(each, chosen[place->second]))
            chosen[place->second] = each;
    }
    return chosen;
}

Outcome try_check(Check check, const Target& target, const TypedCase& specimen)
{
    try {
        return check(target, specimen);
    } catch (const Failure& failure) {
        return failed(failure.what());
    }
}

}  // namespace

Outcome passed(const std::string& detail)
{
    return {Verdict::kPassed, detail};
}

Outcome failed(const std::string& detail)
{
    return {Verdict::kFailed, detail};
}

Outcome skipped(const std::string& reason)
{
    return {Verdict::kSkipped, reason};
}

Finding finding_of(const std::string& check, const TypedCase& specimen, const Outcome& outcome)
{
    Finding finding = begin_finding(check, specimen);
    finding.verdict = outcome.verdict;
    finding.detail = outcome.detail;
    return finding;
}

namespace {

// A comparison gives no information if the results of a graph change from run to run.
void check_specimen(const Target& target, const TypedCase& specimen, Verification* report)
{
    const Outcome outcome = try_check(check_determinism, target, specimen);
    report->add(finding_of("determinism", specimen, outcome));
    const bool is_steady = outcome.verdict != Verdict::kFailed;
    for (const Named& named : kChecks)
        report->add(finding_of(named.name, specimen,
                               is_steady || !named.compares
                                   ? try_check(named.check, target, specimen)
                                   : skipped("results differ from run to run")));
}

}  // namespace

void check_behaviour(const Target& target, const std::vector<TypedCase>& taken,
                     Verification* report, const ShowProgress& show)
{
    const std::vector<TypedCase> chosen = choose(taken);
    for (size_t i = 0; i < chosen.size(); ++i) {
        show(static_cast<int>(i), static_cast<int>(chosen.size()));
        check_specimen(target, chosen[i], report);
    }
}

std::vector<Tensor> values_of(const TypedCase& specimen, uint64_t seed)
{
    return make_inputs(specimen.of, specimen.data_type, specimen.value_type, seed);
}

Target with_option(const Target& target, const std::string& option)
{
    Target other = target;
    other.options.push_back(option);
    return other;
}

std::vector<Tensor> run_once(CaseGraph* graph, const std::vector<Tensor>& inputs)
{
    graph->feed(inputs);
    graph->run();
    if (graph->redo_number() > 0) throw Failure("the device failed to run, and the CPU did it");
    return graph->outputs();
}

std::vector<Tensor> run_alone(const Target& target, const TypedCase& specimen,
                              const std::vector<Tensor>& inputs)
{
    CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
    graph.prepare();
    const Placement placement = graph.placement();
    if (!placement.is_taken)
        throw Failure("the device does not take " + specimen.of.name() +
                      (placement.reason.empty() ? "" : ": " + placement.reason));
    return run_once(&graph, inputs);
}

namespace {

std::string place_text(const std::vector<int>& shape, size_t index)
{
    std::string text;
    for (size_t axis = shape.size(); axis-- > 0;) {
        const auto dim = static_cast<size_t>(shape[axis]);
        text = std::to_string(index % dim) + (text.empty() ? "" : ",") + text;
        index /= dim;
    }
    return "[" + text + "]";
}

std::string tensor_difference(const Tensor& result, const Tensor& expected)
{
    if (result.shape != expected.shape)
        return "is " + shape_text(result.shape) + " instead of " + shape_text(expected.shape);
    if (result.bytes == expected.bytes) return "";
    const size_t number = result.element_number();
    const size_t size = result.bytes.size() / std::max<size_t>(number, 1);
    size_t differing = 0, first = 0;
    for (size_t i = number; i-- > 0;) {
        const auto at = static_cast<std::ptrdiff_t>(i * size);
        if (std::equal(result.bytes.begin() + at,
                       result.bytes.begin() + at + static_cast<std::ptrdiff_t>(size),
                       expected.bytes.begin() + at))
            continue;
        ++differing;
        first = i;
    }
    return "differs in " + std::to_string(differing) + " of " + std::to_string(number) +
           " elements, the first of them is " + number_text(get_element(result, first)) +
           " instead of " + number_text(get_element(expected, first)) + " at " +
           place_text(result.shape, first);
}

}  // namespace

std::string difference(const std::vector<Tensor>& results, const std::vector<Tensor>& expected)
{
    for (size_t i = 0; i < results.size() && i < expected.size(); ++i) {
        const std::string text = tensor_difference(results[i], expected[i]);
        if (!text.empty()) return "output " + std::to_string(i) + " " + text;
    }
    return "";
}

bool is_random(const Case& of)
{
    return rule_of(of.op) == Rule::kRandom;
}

}  // namespace tengine::tools
