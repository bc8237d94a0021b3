// SPDX-License-Identifier: Apache-2.0
#include "attributes.h"

#include <climits>
#include <memory>

#include "tengine/c_api.h"
#include "tengine/error.h"

namespace tengine::provider {
namespace {

// The bytes of an attribute, as the host gives them: 8 for an integer, 4 for a float, and strings
// each with a NUL at the end.
std::vector<char> read_bytes(const OrtOpAttr* attribute, OrtOpAttrType type)
{
    const OrtApi& api = *runtime().api;
    // The host writes a number whatever the size is; a list that is larger fails and returns its
    // size.
    std::vector<char> bytes(sizeof(int64_t));
    size_t size = 0;
    OrtStatus* status = api.ReadOpAttr(attribute, type, bytes.data(), bytes.size(), &size);
    if (!status) {
        bytes.resize(size);
        return bytes;
    }
    if (size <= bytes.size()) check(status);
    api.ReleaseStatus(status);
    bytes.resize(size);
    check(api.ReadOpAttr(attribute, type, bytes.data(), bytes.size(), &size));
    bytes.resize(size);
    return bytes;
}

int set_number(node_t node, const char* name, const std::vector<char>& bytes)
{
    const int64_t wide = *reinterpret_cast<const int64_t*>(bytes.data());
    if (wide < INT_MIN || wide > INT_MAX)
        return tengine_error_set(TENGINE_ERANGE, "attribute '%s' is %lld", name,
                                 static_cast<long long>(wide));
    const int number = static_cast<int>(wide);
    return set_node_attr_generic(node, name, "int", &number, sizeof number);
}

int set_plain(node_t node, const char* name, const char* type, const std::vector<char>& bytes)
{
    // An empty list may have a null pointer.
    return set_node_attr_generic(node, name, type, bytes.empty() ? "" : bytes.data(),
                                 static_cast<int>(bytes.size()));
}

int set_texts(node_t node, const char* name, const std::vector<char>& bytes)
{
    std::vector<const char*> texts;
    for (size_t begin = 0; begin < bytes.size();) {
        texts.push_back(bytes.data() + begin);
        begin += std::char_traits<char>::length(texts.back()) + 1;
    }
    return set_node_attr_generic(node, name, "string[]", texts.data(),
                                 static_cast<int>(texts.size() * sizeof(char*)));
}

// The library copies the tensor of a graph, which exists for that time only.
class AttributeTensor
{
  public:
    explicit AttributeTensor(const OrtOpAttr* attribute)
    {
        const OrtApi& api = *runtime().api;
        OrtValue* value = nullptr;
        check(api.OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
        value_.reset(value);
        auto type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
        const int64_t* dims = nullptr;
        size_t rank = 0;
        check(api.GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
        graph_.reset(create_graph(nullptr, nullptr, nullptr));
        if (!graph_) return;
        const node_t node = create_graph_node(graph_.get(), "value", "Const");
        tensor_ = create_graph_tensor(graph_.get(), "value", convert_type(type));
        const std::vector<int> shape(dims, dims + rank);
        if (!node || !tensor_ || set_node_output_tensor(node, 0, tensor_, TENSOR_TYPE_CONST) < 0 ||
            set_tensor_shape(tensor_, shape.data(), static_cast<int>(rank)) < 0)
            tensor_ = nullptr;
        const void* data = nullptr;
        check(api.GetTensorData(value, &data));
        if (tensor_ && set_tensor_data(tensor_, data, get_tensor_buffer_size(tensor_)) < 0)
            tensor_ = nullptr;
    }

    tensor_t get() const { return tensor_; }

  private:
    struct Release
    {
        void operator()(OrtValue* value) const { runtime().api->ReleaseValue(value); }
        void operator()(void* graph) const { destroy_graph(graph); }
    };
    std::unique_ptr<OrtValue, Release> value_;
    std::unique_ptr<void, Release> graph_;
    tensor_t tensor_ = nullptr;
};

int set_tensor(node_t node, const char* name, const OrtOpAttr* attribute)
{
    const AttributeTensor value(attribute);
    const tensor_t tensor = value.get();
    return tensor ? set_node_attr_generic(node, name, "tensor", &tensor, sizeof tensor) : -1;
}

int set_attribute(node_t node, const char* name, OrtOpAttrType type, const OrtOpAttr* attribute)
{
    switch (type) {
        case ORT_OP_ATTR_INT:
            return set_number(node, name, read_bytes(attribute, type));
        case ORT_OP_ATTR_INTS:
            return set_plain(node, name, "int64[]", read_bytes(attribute, type));
        case ORT_OP_ATTR_FLOAT:
            return set_plain(node, name, "float", read_bytes(attribute, type));
        case ORT_OP_ATTR_FLOATS:
            return set_plain(node, name, "float[]", read_bytes(attribute, type));
        case ORT_OP_ATTR_STRING:
            return set_plain(node, name, "string", read_bytes(attribute, type));
        case ORT_OP_ATTR_STRINGS:
            return set_texts(node, name, read_bytes(attribute, type));
        case ORT_OP_ATTR_TENSOR:
            return set_tensor(node, name, attribute);
        default:
            return tengine_error_set(TENGINE_ENOTSUP,
                                     "attribute '%s' is of a kind that the library "
                                     "does not have (%d)",
                                     name, static_cast<int>(type));
    }
}

// NULL when the node has none of this name and kind.
const OrtOpAttr* find_attribute(const OrtNode* node, const char* name, OrtOpAttrType wanted)
{
    const OrtApi& api = *runtime().api;
    const OrtOpAttr* attribute = nullptr;
    OrtStatus* status = api.Node_GetAttributeByName(node, name, &attribute);
    if (status) {
        api.ReleaseStatus(status);  // no such name
        return nullptr;
    }
    auto type = ORT_OP_ATTR_UNDEFINED;
    if (attribute) check(api.OpAttr_GetType(attribute, &type));
    return type == wanted ? attribute : nullptr;
}

}  // namespace

int set_attributes(const ViewedNode& viewed, node_t made)
{
    const OrtApi& api = *runtime().api;
    size_t number = 0;
    check(api.Node_GetNumAttributes(viewed.node, &number));
    std::vector<const OrtOpAttr*> attributes(number);
    if (number > 0) check(api.Node_GetAttributes(viewed.node, attributes.data(), number));
    for (const OrtOpAttr* attribute : attributes) {
        const char* name = nullptr;
        auto type = ORT_OP_ATTR_UNDEFINED;
        check(api.OpAttr_GetName(attribute, &name));
        check(api.OpAttr_GetType(attribute, &type));
        if (set_attribute(made, name, type, attribute) < 0) return -1;
    }
    return 0;
}

std::string read_text(const OrtNode* node, const char* name, const std::string& otherwise)
{
    const OrtOpAttr* attribute = find_attribute(node, name, ORT_OP_ATTR_STRING);
    if (!attribute) return otherwise;
    const std::vector<char> bytes = read_bytes(attribute, ORT_OP_ATTR_STRING);
    return {bytes.begin(), bytes.end()};
}

int64_t read_number(const OrtNode* node, const char* name, int64_t otherwise)
{
    const OrtOpAttr* attribute = find_attribute(node, name, ORT_OP_ATTR_INT);
    return attribute
               ? *reinterpret_cast<const int64_t*>(read_bytes(attribute, ORT_OP_ATTR_INT).data())
               : otherwise;
}

}  // namespace tengine::provider
