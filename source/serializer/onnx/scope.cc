// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/scope.h"

#include <utility>

namespace tengine {
namespace {

int rename(const Scope& scope, const Charge& charge, std::string* name)
{
    std::string found = scope.find(*name);
    TENGINE_RETURN_IF_ERROR(charge(found.size()));
    *name = std::move(found);
    return TENGINE_OK;
}

}  // namespace

std::string Scope::find(const std::string& name) const
{
    if (name.empty()) return name;
    for (const Scope* scope = this; scope; scope = scope->outer) {
        const auto known = scope->names.find(name);
        if (known != scope->names.end()) return known->second;
    }
    return unknown_prefix + name;
}

int rename_node(const Scope& scope, const Charge& charge, ::onnx::NodeProto* node)
{
    for (std::string& name : *node->mutable_input())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, &name));
    for (std::string& name : *node->mutable_output())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, &name));
    for (::onnx::AttributeProto& attribute : *node->mutable_attribute())
        if (attribute.has_g())
            TENGINE_RETURN_IF_ERROR(rename_graph(scope, charge, attribute.mutable_g()));
    return TENGINE_OK;
}

int rename_graph(const Scope& outer, const Charge& charge, ::onnx::GraphProto* graph)
{
    Scope scope{outer.prefix, outer.unknown_prefix, &outer, {}};
    for (const auto& input : graph->input())
        scope.add(input.name());
    for (const auto& constant : graph->initializer())
        scope.add(constant.name());
    for (const auto& constant : graph->sparse_initializer())
        scope.add(constant.values().name());
    for (const ::onnx::NodeProto& node : graph->node())
        for (const std::string& name : node.output())
            scope.add(name);
    for (auto& input : *graph->mutable_input())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, input.mutable_name()));
    for (auto& constant : *graph->mutable_initializer())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, constant.mutable_name()));
    for (auto& constant : *graph->mutable_sparse_initializer())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, constant.mutable_values()->mutable_name()));
    for (::onnx::NodeProto& node : *graph->mutable_node())
        TENGINE_RETURN_IF_ERROR(rename_node(scope, charge, &node));
    for (auto& output : *graph->mutable_output())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, output.mutable_name()));
    for (auto& value : *graph->mutable_value_info())
        TENGINE_RETURN_IF_ERROR(rename(scope, charge, value.mutable_name()));
    return TENGINE_OK;
}

}  // namespace tengine
