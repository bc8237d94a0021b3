// SPDX-License-Identifier: Apache-2.0
#include "graph_view.h"

#include <iterator>

#include "tengine/defines.h"

namespace tengine::provider {
namespace {

struct ElementType
{
    const char* name;  // ONNX's
    int data_type;
};

// Indexed by ONNX's number of the type.
constexpr ElementType kElementTypes[] = {
    {"undefined", kNoType},        {"float", TENGINE_DT_FP32},    {"uint8", TENGINE_DT_UINT8},
    {"int8", TENGINE_DT_INT8},     {"uint16", TENGINE_DT_UINT16}, {"int16", TENGINE_DT_INT16},
    {"int32", TENGINE_DT_INT32},   {"int64", TENGINE_DT_INT64},   {"string", kNoType},
    {"bool", TENGINE_DT_BOOL},     {"float16", TENGINE_DT_FP16},  {"double", TENGINE_DT_FP64},
    {"uint32", TENGINE_DT_UINT32}, {"uint64", TENGINE_DT_UINT64}, {"complex64", kNoType},
    {"complex128", kNoType},       {"bfloat16", TENGINE_DT_BF16},
};

ElementType find_type(ONNXTensorElementDataType type)
{
    const auto index = static_cast<size_t>(type);
    return index < std::size(kElementTypes) ? kElementTypes[index]
                                            : ElementType{"a type of few bits", kNoType};
}

void read_shape(const OrtTensorTypeAndShapeInfo* tensor, Value* value)
{
    const OrtApi& api = *runtime().api;
    value->has_rank = api.TensorTypeAndShape_HasShape(tensor);
    if (!value->has_rank) return;
    size_t rank = 0;
    check(api.GetDimensionsCount(tensor, &rank));
    value->dims.resize(rank);
    check(api.GetDimensions(tensor, value->dims.data(), rank));
}

Value read_value(const OrtValueInfo* info)
{
    const OrtApi& api = *runtime().api;
    Value value;
    value.info = info;
    const char* name = nullptr;
    check(api.GetValueInfoName(info, &name));
    value.name = text_of(name);
    check(api.ValueInfo_IsGraphOutput(info, &value.is_output));
    check(api.ValueInfo_IsConstantInitializer(info, &value.is_constant));
    const OrtTypeInfo* type = nullptr;
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    check(api.GetValueInfoTypeInfo(info, &type));
    if (type) check(api.CastTypeInfoToTensorInfo(type, &tensor));
    value.type = "not a tensor";
    if (!tensor) return value;
    auto element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api.GetTensorElementType(tensor, &element));
    value.type = find_type(element).name;
    value.data_type = find_type(element).data_type;
    read_shape(tensor, &value);
    return value;
}

template <class Item, class Owner, class Count, class Fill>
std::vector<const Item*> list_of(const Owner* owner, const Count& count, const Fill& fill)
{
    size_t number = 0;
    check(count(owner, &number));
    std::vector<const Item*> items(number);
    if (number > 0) check(fill(owner, items.data(), number));
    return items;
}

std::vector<const OrtValueInfo*> inputs_of(const OrtNode* node)
{
    const OrtApi& api = *runtime().api;
    return list_of<OrtValueInfo>(node, api.Node_GetNumInputs, api.Node_GetInputs);
}

std::vector<const OrtValueInfo*> outputs_of(const OrtNode* node)
{
    const OrtApi& api = *runtime().api;
    return list_of<OrtValueInfo>(node, api.Node_GetNumOutputs, api.Node_GetOutputs);
}

std::vector<int> add_values(GraphView* view, const std::vector<const OrtValueInfo*>& list)
{
    std::vector<int> indices;
    for (const OrtValueInfo* info : list)
        indices.push_back(info ? view->add_value(info) : kAbsent);
    return indices;
}

ViewedNode read_node(GraphView* view, const OrtNode* node)
{
    const OrtApi& api = *runtime().api;
    ViewedNode viewed;
    const char *name = nullptr, *op = nullptr, *domain = nullptr;
    check(api.Node_GetName(node, &name));
    check(api.Node_GetOperatorType(node, &op));
    check(api.Node_GetDomain(node, &domain));
    check(api.Node_GetSinceVersion(node, &viewed.version));
    size_t subgraph_num = 0;
    check(api.Node_GetNumSubgraphs(node, &subgraph_num));
    viewed.node = node;
    viewed.name = text_of(name);
    viewed.op = text_of(op);
    viewed.domain = text_of(domain) == "ai.onnx" ? "" : text_of(domain);
    viewed.has_subgraphs = subgraph_num > 0;
    viewed.inputs = add_values(view, inputs_of(node));
    viewed.outputs = add_values(view, outputs_of(node));
    viewed.captured = add_values(view, list_of<OrtValueInfo>(node, api.Node_GetNumImplicitInputs,
                                                             api.Node_GetImplicitInputs));
    return viewed;
}

std::vector<std::string> names_of(const std::vector<const OrtValueInfo*>& list)
{
    std::vector<std::string> names;
    for (const OrtValueInfo* info : list) {
        const char* name = nullptr;
        if (info) check(runtime().api->GetValueInfoName(info, &name));
        names.push_back(text_of(name));
    }
    return names;
}

}  // namespace

int GraphView::find(const std::string& name) const
{
    const auto found = index_.find(name);
    return found == index_.end() ? kAbsent : found->second;
}

int GraphView::add_value(const OrtValueInfo* info)
{
    Value value = read_value(info);
    if (value.name.empty()) return kAbsent;
    const auto [entry, is_new] = index_.emplace(value.name, static_cast<int>(values.size()));
    if (is_new) values.push_back(std::move(value));
    return entry->second;
}

GraphView read_graph(const OrtGraph* graph)
{
    const OrtApi& api = *runtime().api;
    GraphView view;
    const OrtNode* parent = nullptr;
    check(api.Graph_GetParentNode(graph, &parent));
    view.is_nested = parent != nullptr;
    const ORTCHAR_T* path = nullptr;
    check(api.Graph_GetModelPath(graph, &path));
    view.path = text_of(path);
    for (const OrtNode* node : list_of<OrtNode>(graph, api.Graph_GetNumNodes, api.Graph_GetNodes))
        view.nodes.push_back(read_node(&view, node));
    return view;
}

int convert_type(ONNXTensorElementDataType type)
{
    return find_type(type).data_type;
}

std::vector<std::string> input_names(const OrtNode* node)
{
    return names_of(inputs_of(node));
}

std::vector<std::string> output_names(const OrtNode* node)
{
    return names_of(outputs_of(node));
}

}  // namespace tengine::provider
