// SPDX-License-Identifier: Apache-2.0
// A graph that is prepared for one shape after the other. A device then finds its compiled part for
// the previous shape, and may keep all of its data that do not depend on shapes.
#include <algorithm>

#include "tensor_file/failure.h"
#include "verify/behaviour.h"

namespace tengine::tools {
namespace {

bool may_change(const Operand& operand)
{
    return !operand.is_constant && !operand.is_absent && operand.values.empty();
}

// The fed operand with the most dimensions; null if no operand can change.
const Operand* find_widest(const Case& of)
{
    const Operand* widest = nullptr;
    for (const Operand& operand : of.inputs)
        if (may_change(operand) && (!widest || operand.dims.size() > widest->dims.size()))
            widest = &operand;
    return widest;
}

// Increases a dimension, counted from the last, of all operands that share it. A dimension of 1 may
// be broadcast, and stays when others are larger.
void grow_dimension(size_t from_last, int addend, Case* of)
{
    const size_t rank = find_widest(*of)->dims.size();
    const int size = find_widest(*of)->dims[rank - 1 - from_last];
    for (Operand& operand : of->inputs)
        if (may_change(operand) && operand.dims.size() > from_last) {
            int& dim = operand.dims[operand.dims.size() - 1 - from_last];
            if (dim == size) dim += addend;
        }
}

// The case in other shapes, which the operator may not allow.
std::vector<Case> list_variants(const Case& of)
{
    std::vector<Case> variants;
    const Operand* widest = find_widest(of);
    const size_t rank = widest ? widest->dims.size() : 0;
    const auto add = [&](const std::vector<std::pair<size_t, int>>& changes) {
        Case variant = of;
        for (const auto& [from_last, addend] : changes)
            grow_dimension(from_last, addend, &variant);
        variants.push_back(variant);
    };
    if (rank > 1) add({{0, 3}, {1, 2}});
    if (rank > 0) add({{0, 5}});
    if (rank > 1) add({{1, 1}});
    if (rank > 2) add({{rank - 1, 1}});
    return variants;
}

bool is_legal(const TypedCase& specimen, const std::vector<Tensor>& inputs)
{
    try {
        CaseGraph graph(specimen.of, specimen.data_type, inputs, reference_target());
        graph.prepare();
        graph.feed(inputs);
        graph.run();
        return true;
    } catch (const Failure&) {
        return false;
    }
}

struct Variant
{
    Case of;
    std::vector<Tensor> inputs;
    std::vector<Tensor> expected;  // from a graph that never had another shape
};

// Those that the operator allows and the device takes. Constants are those of the graph.
std::vector<Variant> list_expected(const Target& target, const TypedCase& specimen,
                                   const std::vector<Tensor>& constants)
{
    std::vector<Variant> variants;
    for (const Case& of : list_variants(specimen.of)) {
        TypedCase typed = specimen;
        typed.of = of;
        std::vector<Tensor> inputs = values_of(typed, 2);
        for (size_t i = 0; i < inputs.size(); ++i)
            if (of.inputs[i].is_constant) inputs[i] = constants[i];
        if (!is_legal(typed, inputs)) continue;
        CaseGraph graph(of, typed.data_type, inputs, target);
        graph.prepare();
        if (graph.placement().is_taken) variants.push_back({of, inputs, run_once(&graph, inputs)});
    }
    return variants;
}

std::string shapes_text(const Case& of)
{
    std::string text;
    for (const Operand& operand : of.inputs)
        if (may_change(operand)) text += (text.empty() ? "" : " and ") + shape_text(operand.dims);
    return text;
}

// The first failure in the sequence of shapes and back, "" if there is none.
std::string walk(const Target& target, const TypedCase& specimen, const Variant& first,
                 const std::vector<Variant>& variants)
{
    CaseGraph graph(specimen.of, specimen.data_type, first.inputs, target);
    graph.prepare();
    run_once(&graph, first.inputs);
    const auto go_on = [&](const Variant& to, const std::string& what) {
        graph.reshape(to.inputs);
        graph.prepare();
        if (!graph.placement().is_taken) return what + ": the device does not take it any more";
        const std::string found = difference(run_once(&graph, to.inputs), to.expected);
        return found.empty() ? "" : what + ": " + found;
    };
    const std::string from = shapes_text(specimen.of);
    for (const Variant& variant : variants) {
        const std::string to = shapes_text(variant.of);
        std::string found = go_on(variant, "prepared for " + to + " after " + from);
        if (found.empty()) found = go_on(first, "prepared for " + from + " again after " + to);
        if (!found.empty()) return found;
    }
    return "";
}

}  // namespace

Outcome check_reshape(const Target& target, const TypedCase& specimen)
{
    if (is_random(specimen.of)) return skipped("the operator gives random numbers");
    Variant first = {specimen.of, values_of(specimen, 1), {}};
    first.expected = run_alone(target, specimen, first.inputs);
    const std::vector<Variant> variants = list_expected(target, specimen, first.inputs);
    if (variants.empty()) return skipped("no other shape that was tried is possible");
    // Without kept preparations, and with them.
    for (const char* option : {"run.shape_cache=0", "run.shape_cache=3"}) {
        const std::string found = walk(with_option(target, option), specimen, first, variants);
        if (!found.empty()) return failed(found);
    }
    return passed();
}

}  // namespace tengine::tools
