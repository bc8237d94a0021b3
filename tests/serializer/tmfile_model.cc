// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile_model.h"

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "graph/graph.h"
#include "module/module.h"
#include "operator/affinity.h"
#include "operator/param.h"
#include "serializer/serializer.h"
#include "serializer/tmfile/tmfile.h"

namespace tengine::test {
namespace {

constexpr uint32_t kGarbage = 0xdeadbeef;

// Appends to a file; all offsets are those of appended items.
class Bytes
{
  public:
    explicit Bytes(size_t header) : text_(header, '\0') {}

    uint32_t offset() const { return static_cast<uint32_t>(text_.size()); }
    void align(size_t to) { text_.resize((text_.size() + to - 1) / to * to, '\xaa'); }
    uint32_t add(const Words& words)
    {
        align(4);
        const uint32_t at = offset();
        for (const uint32_t value : words)
            for (int shift = 0; shift < 32; shift += 8)
                text_ += static_cast<char>(value >> shift);
        return at;
    }
    uint32_t add_vector(Words words)
    {
        words.insert(words.begin(), static_cast<uint32_t>(words.size()));
        return add(words);
    }
    uint32_t add_string(const std::string& letters)
    {
        const uint32_t at = offset();
        text_ += letters + '\0';
        return add({static_cast<uint32_t>(letters.size() + 1), at});
    }
    uint32_t add_data(const std::vector<uint8_t>& data, size_t shift)
    {
        align(64);
        text_.append(shift, '\xaa');
        const uint32_t at = offset();
        text_.append(data.begin(), data.end());
        return at;
    }
    void put(size_t at, uint32_t value)
    {
        for (int i = 0; i < 4; ++i)
            text_[at + static_cast<size_t>(i)] = static_cast<char>(value >> (8 * i));
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

uint32_t write_node(Bytes& bytes, const RawNode& node, uint32_t id)
{
    const uint32_t name = node.name.empty() ? 0 : bytes.add_string(node.name);
    const uint32_t inputs = node.inputs.empty() ? 0 : bytes.add_vector(node.inputs);
    const uint32_t outputs = bytes.add_vector(node.outputs);
    Words words = node.param;
    for (const auto& [place, list] : node.vectors)
        words[place] = bytes.add_vector(list);
    for (const auto& [place, text] : node.strings)
        words[place] = bytes.add_string(text);
    const uint32_t param = words.empty() ? 0 : bytes.add(words);
    const uint32_t op = bytes.add({node.version, node.op, param});
    return bytes.add({id, inputs, outputs, op, name, 0, kGarbage & 0xffffff00});
}

uint32_t write_tensor(Bytes& bytes, const RawTensor& tensor, uint32_t id)
{
    const uint32_t name = tensor.name.empty() ? 0 : bytes.add_string(tensor.name);
    const uint32_t dims =
        tensor.has_dims ? bytes.add_vector(Words(tensor.dims.begin(), tensor.dims.end())) : 0;
    Words records;
    for (const auto& [scale, zero_point] : tensor.quantisation)
        records.push_back(bytes.add({static_cast<uint32_t>(zero_point), word(scale), kGarbage}));
    const uint32_t quantisation = records.empty() ? 0 : bytes.add_vector(records);
    return bytes.add({id, tensor.buffer, dims, name, quantisation, kGarbage,
                      static_cast<uint32_t>(tensor.type), static_cast<uint32_t>(tensor.data_type)});
}

Words write_buffers(Bytes& bytes, const RawModel& model)
{
    Words offsets;
    for (size_t i = 0; i < model.buffers.size(); ++i) {
        const auto missing = model.missing.find(i);
        if (missing != model.missing.end()) {
            offsets.push_back(bytes.add({missing->second, 0}));
            continue;
        }
        const auto size = static_cast<uint32_t>(model.buffers[i].size());
        const uint32_t data = bytes.add_data(model.buffers[i], model.buffer_shift);
        offsets.push_back(bytes.add({size, data}));
    }
    return offsets;
}

uint32_t write_parts(Bytes& bytes, const RawModel& model)
{
    Words offsets;
    for (const RawPart& part : model.parts) {
        const auto id = static_cast<uint32_t>(offsets.size());
        const uint32_t nodes = bytes.add_vector(part.nodes);
        const uint32_t inputs = bytes.add_vector(part.input_tensors);
        const uint32_t outputs = bytes.add_vector(part.output_tensors);
        const uint32_t device = bytes.add_string(part.device);
        offsets.push_back(bytes.add({id, 0, 0, nodes, inputs, outputs, device}));
    }
    return bytes.add_vector(offsets);
}

std::string hex(const void* data, size_t size)
{
    std::ostringstream text;
    for (size_t i = 0; i < size; ++i)
        text << std::hex << int{static_cast<const uint8_t*>(data)[i]} << ' ';
    return text.str();
}

// Describes short values in full, long ones by FNV-1a.
std::string describe_values(const void* data, size_t size)
{
    if (!data) return "none";
    const char* begin = static_cast<const char*>(data);
    if (size == 0 || (*begin == 0 && std::memcmp(begin, begin + 1, size - 1) == 0)) return "zero";
    if (size <= 64) return hex(data, size);
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ static_cast<uint8_t>(begin[i])) * 1099511628211u;
    return std::to_string(hash);
}

void describe_param(std::ostream& text, const op_field_t& field, const void* memory)
{
    text << ' ' << field.name << '=';
    switch (field.kind) {
        case OP_FIELD_INT:
            text << *static_cast<const int*>(memory);
            break;
        case OP_FIELD_FLOAT:
            text << hex(memory, sizeof(float));
            break;
        case OP_FIELD_STRING: {
            const char* value = *static_cast<char* const*>(memory);
            text << (value ? value : "(none)");
            break;
        }
        case OP_FIELD_INTS: {
            const auto& list = *static_cast<const struct op_ints*>(memory);
            text << hex(list.values, sizeof(int64_t) * static_cast<size_t>(list.num));
            break;
        }
        case OP_FIELD_FLOATS: {
            const auto& list = *static_cast<const struct op_floats*>(memory);
            text << hex(list.values, sizeof(float) * static_cast<size_t>(list.num));
            break;
        }
        case OP_FIELD_STRINGS: {
            const auto& list = *static_cast<const struct op_strings*>(memory);
            for (int i = 0; i < list.num; ++i)
                text << list.values[i] << '|';
            break;
        }
        default: {
            const auto& value = *static_cast<const struct op_tensor*>(memory);
            text << value.data_type << ':' << value.dim_num << ':';
            for (int i = 0; i < value.dim_num; ++i)
                text << value.dims[i] << ',';
            if (value.dim_num >= 0) text << describe_values(value.data, value.size);
        }
    }
}

void describe_node(std::ostream& text, const struct node* node)
{
    const ir_method_t& method = *node->op.method;
    text << "node " << node->index << ' ' << node->name << ' ' << get_ir_node_domain(node) << '.'
         << method.name << " opset " << node->op.version << " type " << int{node->node_type};
    for (int i = 0; i < node->input_num; ++i)
        text << " <" << node->input_tensors[i];
    for (int i = 0; i < node->output_num; ++i)
        text << " >" << node->output_tensors[i];
    for (int i = 0; i < method.field_num; ++i)
        if (find_op_field(&method, method.fields[i].name, node->op.version) == &method.fields[i])
            describe_param(text, method.fields[i],
                           static_cast<const char*>(node->op.param_mem) + method.fields[i].offset);
    text << '\n';
}

void describe_tensor(std::ostream& text, const struct tensor* tensor)
{
    text << "tensor " << tensor->index << ' ' << tensor->name << " type "
         << int{tensor->tensor_type} << ' ' << get_data_type_name(tensor->data_type);
    if (!tensor->shape_set) text << " [?]";
    for (int i = 0; tensor->shape_set && i < tensor->dim_num; ++i)
        text << (i ? ',' : '[') << tensor->dims[i];
    for (int i = 0; i < tensor->quant_param_num; ++i) {
        const bool single = tensor->quant_param_num == 1;
        text << " scale " << hex(single ? &tensor->scale : tensor->scale_list + i, sizeof(float))
             << (single ? tensor->zero_point : tensor->zp_list[i]);
    }
    if (tensor->tensor_type == TENSOR_TYPE_CONST)
        text << " values " << describe_values(tensor->data, get_ir_tensor_bytes(tensor));
    text << '\n';
}

void describe_list(std::ostream& text, const char* what, const int32_t* list, int number)
{
    text << what;
    for (int i = 0; i < number; ++i)
        text << ' ' << list[i];
    text << '\n';
}

}  // namespace

uint32_t word(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

uint32_t RawModel::add_input(const std::string& name, const std::vector<int32_t>& dims)
{
    const auto index = static_cast<uint32_t>(tensors.size());
    inputs.push_back(static_cast<uint32_t>(nodes.size()));
    nodes.push_back({name, 12, {}, {index}, {}, {}, {}});
    tensors.push_back({name, dims, TENSOR_TYPE_INPUT});
    return index;
}

uint32_t RawModel::add_constant(const std::string& name, const std::vector<int32_t>& dims,
                                const std::vector<float>& values)
{
    const auto index = static_cast<uint32_t>(tensors.size());
    nodes.push_back({name, 4, {}, {index}, {}, {}, {}});
    tensors.push_back(
        {name, dims, TENSOR_TYPE_CONST, TENGINE_DT_FP32, static_cast<uint32_t>(buffers.size())});
    std::vector<uint8_t> bytes(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    buffers.push_back(bytes);
    return index;
}

RawNode& RawModel::add_node(const std::string& name, uint32_t op, const Words& node_inputs,
                            const Words& param)
{
    const auto output = static_cast<uint32_t>(tensors.size());
    tensors.push_back({name, {}});
    tensors.back().has_dims = false;
    outputs = {static_cast<uint32_t>(nodes.size())};
    nodes.push_back({name, op, node_inputs, {output}, param, {}, {}});
    return nodes.back();
}

std::string RawModel::encode() const
{
    Bytes bytes(12);
    bytes.put(0, 2);
    bytes.put(4, 0x40000000);  // the padding of real files
    Words node_offsets, tensor_offsets;
    for (const RawNode& node : nodes)
        node_offsets.push_back(write_node(bytes, node, static_cast<uint32_t>(node_offsets.size())));
    const uint32_t node_list = bytes.add_vector(node_offsets);
    for (const RawTensor& tensor : tensors)
        tensor_offsets.push_back(
            write_tensor(bytes, tensor, static_cast<uint32_t>(tensor_offsets.size())));
    const uint32_t tensor_list = bytes.add_vector(tensor_offsets);
    const uint32_t buffer_list = bytes.add_vector(write_buffers(bytes, *this));
    const uint32_t input_list = bytes.add_vector(inputs);
    const uint32_t output_list = bytes.add_vector(outputs);
    const uint32_t part_list = parts.empty() ? kGarbage : write_parts(bytes, *this);
    Words subgraph = {0,
                      static_cast<uint32_t>(graph_layout),
                      static_cast<uint32_t>(model_layout),
                      input_list,
                      output_list,
                      node_list,
                      tensor_list,
                      buffer_list,
                      0};
    if (!is_old) subgraph.push_back(part_list);
    const uint32_t graph = bytes.add(subgraph);
    const uint32_t graphs = bytes.add_vector(Words(1 + parts.size(), graph));
    bytes.put(8, bytes.add({3, 0, graphs, 0}));
    return bytes.take();
}

RawModel single_model(uint32_t op, const Words& param)
{
    RawModel model;
    model.add_input("x", {1, 2, 4, 4});
    model.add_node("y", op, {0}, param);
    return model;
}

LoadedTmfile::LoadedTmfile(const std::string& bytes)
{
    // One byte at least: malloc(0) may be NULL.
    block_ = static_cast<char*>(std::malloc(bytes.empty() ? 1 : bytes.size()));
    if (!bytes.empty()) std::memcpy(block_, bytes.data(), bytes.size());
    load(&bytes, nullptr, nullptr);
}

LoadedTmfile::LoadedTmfile(const std::filesystem::path& file, struct context* context)
{
    load(nullptr, file.c_str(), context);
}

static void call_load_model(int* out_status, serializer_t* serializer, struct graph* graph,
                            const char* file, ...)
{
    va_list none;
    va_start(none, file);
    *out_status = serializer->load_model(serializer, graph, file, none);
    va_end(none);
}

void LoadedTmfile::load(const std::string* bytes, const char* file, struct context* context)
{
    serializer_t* serializer = find_serializer_via_name("tengine");
    ASSERT_NE(serializer, nullptr);
    graph = create_ir_graph(context);
    tengine_error_clear();
    if (bytes)
        status = serializer->load_block(serializer, graph, block_, bytes->size(), false);
    else
        call_load_model(&status, serializer, graph, file);
    message = tengine_error_message();
}

LoadedTmfile::~LoadedTmfile()
{
    if (graph && graph->core->serializer)
        graph->core->serializer->unload_graph(graph->core->serializer, graph,
                                              graph->core->serializer_privacy, nullptr);
    destroy_ir_graph(graph);
    std::free(block_);
}

const struct node* LoadedTmfile::node(const std::string& name) const
{
    return get_ir_graph_node(graph, get_ir_node_index_from_name(graph, name.c_str()));
}

struct tensor* LoadedTmfile::tensor(const std::string& name) const
{
    return get_ir_graph_tensor(graph, get_ir_tensor_index_from_name(graph, name.c_str()));
}

void expect_failure(const LoadedTmfile& loaded, int code, std::initializer_list<const char*> parts)
{
    EXPECT_EQ(loaded.status, code) << loaded.message;
    for (const char* part : parts)
        EXPECT_NE(loaded.message.find(part), std::string::npos)
            << "'" << part << "' is not in: " << loaded.message;
}

std::string describe_graph(const struct graph* graph)
{
    std::ostringstream text;
    text << "graph '" << graph->name << "' from " << int{graph->model_format} << " layouts "
         << int{graph->graph_layout} << int{graph->model_layout} << '\n';
    for (int i = 0; i < graph->node_num; ++i)
        describe_node(text, graph->node_list[i]);
    for (int i = 0; i < graph->tensor_num; ++i)
        describe_tensor(text, graph->tensor_list[i]);
    describe_list(text, "input nodes", graph->input_nodes, graph->input_num);
    describe_list(text, "output nodes", graph->output_nodes, graph->output_num);
    describe_list(text, "inputs", graph->input_tensors, graph->input_tensor_num);
    describe_list(text, "outputs", graph->output_tensors, graph->output_tensor_num);
    return text.str();
}

std::string write_graph(const struct graph* graph)
{
    Vector<char> bytes;
    const int status = encode_tmfile(graph, &bytes);
    EXPECT_EQ(status, 0) << tengine_error_message();
    return status < 0 ? "" : std::string(bytes.begin(), bytes.end());
}

std::filesystem::path find_sample(const std::string& name)
{
    const std::filesystem::path file =
        std::filesystem::path(TENGINE_SHARED_DATA_DIR) / "tmfile" / name;
    return std::filesystem::exists(file) ? file : std::filesystem::path();
}

const std::vector<std::string>& sample_names()
{
    static const std::vector<std::string> names = {
        "googlenet_benchmark.tmfile",
        "inception_v3_benchmark.tmfile",
        "mnist.tmfile",
        "mobilenet_benchmark.tmfile",
        "mssd_benchmark.tmfile",
        "resnet50_benchmark.tmfile",
        "squeezenet_v1.1_benchmark.tmfile",
        "vgg16_benchmark.tmfile",
    };
    return names;
}

std::string read_bytes(const std::filesystem::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

void TmfileTest::SetUpTestSuite()
{
    ASSERT_EQ(init_modules(), 0) << tengine_error_message();
}

void TmfileTest::TearDownTestSuite()
{
    release_modules();
}

}  // namespace tengine::test
