// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass/declared_inputs.h"

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/maps.hpp"
#include "base/minimal.h"
#include "graph/core.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "optimizer/optimizer.h"

namespace tengine {
namespace {

// Calls use(input) for the inputs of a source graph whose model declares their shape.
template <class Use>
void for_declared(const graph& source, const Use& use)
{
    for (int i = 0; i < source.input_tensor_num; ++i) {
        const struct tensor& input = *source.tensor_list[source.input_tensors[i]];
        if (is_ir_shape_declared(&input)) use(input);
    }
}

String describe_unlike(const graph& source)
{
    String text;
    for_declared(source, [&](const struct tensor& input) {
        char declared[IR_SHAPE_TEXT_SIZE];
        char given[IR_SHAPE_TEXT_SIZE];
        if (!has_ir_declared_shape(&input))
            text += String("; input '") + input.name + "' is declared as " +
                    print_ir_declared_shape(&input, declared) + ", given " +
                    print_ir_shape(&input, given);
    });
    return text;
}

// A named dimension, and its size in an input that was set.
struct DeclaredExtent
{
    const struct tensor* input;
    const char* name;
    int elements;
};

// The extents of inputs that have the rank of their declaration.
Vector<DeclaredExtent> list_extents(const graph& source)
{
    Vector<DeclaredExtent> extents;
    for_declared(source, [&](const struct tensor& input) {
        for (int i = 0; i < input.dim_num; ++i)
            if (const char* name = get_ir_tensor_dim_name(&input, i); *name)
                extents.push_back({&input, name, input.dims[i]});
    });
    return extents;
}

// The first name with two sizes.
String describe_conflict(const Vector<DeclaredExtent>& extents)
{
    Map<String, const DeclaredExtent*> known;
    for (const DeclaredExtent& extent : extents) {
        const DeclaredExtent& first = *known.emplace(extent.name, &extent).first->second;
        if (first.elements != extent.elements)
            return String("; dimension '") + extent.name + "' is " + to_string(first.elements) +
                   " of input '" + first.input->name + "' and " + to_string(extent.elements) +
                   " of input '" + extent.input->name + "'";
    }
    return "";
}

String describe_difference(const graph& source)
{
    const String text = describe_unlike(source);
    return text.empty() ? describe_conflict(list_extents(source)) : text;
}

// Lists every name once, with its size: "; with batch = 1, tokens = 16".
String describe_extents(const graph& source)
{
    String text;
    Map<String, bool> known;
    for (const DeclaredExtent& extent : list_extents(source))
        if (known.emplace(extent.name, true).second)
            text += String(text.empty() ? "; with " : ", ") + extent.name + " = " +
                    to_string(extent.elements);
    return text;
}

int go_on(int status, const String& text)
{
    if (text.empty()) return status;
    return tengine_error_set(status, "%s%s", tengine_error_message(), text.c_str());
}

// Whether shapes can explain the failure.
bool is_mistake(int status)
{
    return status == TENGINE_EINVAL || status == TENGINE_ERANGE;
}

int fail_as_declared(const graph& graph, const struct tensor& input)
{
    const struct tensor* source =
        graph.core->source ? get_ir_graph_tensor(graph.core->source, input.core->source_index)
                           : nullptr;
    if (!source || !is_ir_shape_declared(source)) return TENGINE_OK;
    char text[IR_SHAPE_TEXT_SIZE];
    return tengine_error_set(TENGINE_EINVAL,
                             "input '%s' is declared as %s; set its shape with set_tensor_shape "
                             "before prerun",
                             input.name, print_ir_declared_shape(source, text));
}

}  // namespace

int require_input_shapes(const graph& graph)
{
    for (int i = 0; i < graph.input_tensor_num; ++i) {
        const struct tensor& input = *graph.tensor_list[graph.input_tensors[i]];
        if (is_ir_tensor_shape_known(&input)) continue;
        TENGINE_RETURN_IF_ERROR(fail_as_declared(graph, input));
        return tengine_error_set(
            TENGINE_EINVAL,
            "input '%s' has no complete shape; set it with set_tensor_shape before prerun",
            input.name);
    }
    return TENGINE_OK;
}

int explain_inference(const graph& graph, int status)
{
    if (IS_MINIMAL || !graph.core->source || !is_mistake(status)) return status;
    const String text = describe_difference(*graph.core->source);
    return go_on(status, text.empty() ? describe_extents(*graph.core->source) : text);
}

}  // namespace tengine

int explain_ir_inputs(const struct graph* source, int status)
{
    if (IS_MINIMAL || !tengine::is_mistake(status)) return status;
    return tengine::guarded(
        [&] { return tengine::go_on(status, tengine::describe_difference(*source)); },
        "graph '%s': out of memory while explaining a failure", source->name);
}
