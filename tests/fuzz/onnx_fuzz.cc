// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as an ONNX model, through the public API; an accepted model is prepared
// and run, on a device and in a precision that the bytes decide. It starts from a model of each
// operator, and most changes keep a model valid (onnx_mutation.h), so that more than the parser is
// tested. See CMakeLists.txt here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "fuzz/model_run.h"
#include "fuzz/onnx_mutation.h"
#include "fuzz/onnx_seeds.h"
#include "fuzz/refusal.h"
#include "operator/registry.h"
#include "tengine/c_api.h"
#include "tengine/error.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr int kOpset = 21;

void add_constant(::onnx::GraphProto* graph, const char* name, int type, int extent)
{
    ::onnx::TensorProto* constant = graph->add_initializer();
    constant->set_name(name);
    constant->set_data_type(type);
    constant->add_dims(extent);
    for (int i = 0; i < extent; ++i) {
        if (type == ::onnx::TensorProto::FLOAT) constant->add_float_data(0.5f);
        if (type == ::onnx::TensorProto::INT64) constant->add_int64_data(1);
    }
}

// Adds a required attribute, with a value that suits most operators.
void add_attribute(const op_field_t& field, ::onnx::NodeProto* node)
{
    ::onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(field.name);
    if (field.kind == OP_FIELD_INT) {
        attribute->set_type(::onnx::AttributeProto::INT);
        attribute->set_i(1);
    } else if (field.kind == OP_FIELD_FLOAT) {
        attribute->set_type(::onnx::AttributeProto::FLOAT);
        attribute->set_f(1);
    } else if (field.kind == OP_FIELD_STRING) {
        const std::string choices = field.choices ? field.choices : "...i->...";
        attribute->set_type(::onnx::AttributeProto::STRING);
        attribute->set_s(choices.substr(0, choices.find('|')));
    } else {
        attribute->set_type(::onnx::AttributeProto::INTS);
        for (int i = 0; i < 2; ++i)
            attribute->add_ints(2);
    }
}

bool has_domain(const ir_method_t& method)
{
    return method.domain && method.domain[0] != '\0';
}

// x of 1x2x4x4 → the operator → y; its further inputs are `other`.
::onnx::ModelProto make_seed(const ir_method_t& method, const char* other)
{
    ::onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(kOpset);
    ::onnx::GraphProto* graph = model.mutable_graph();
    ::onnx::ValueInfoProto* input = graph->add_input();
    input->set_name("x");
    ::onnx::TypeProto_Tensor* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(::onnx::TensorProto::FLOAT);
    for (const int extent : {1, 2, 4, 4})
        type->mutable_shape()->add_dim()->set_dim_value(extent);
    add_constant(graph, "w", ::onnx::TensorProto::FLOAT, 4);
    add_constant(graph, "i", ::onnx::TensorProto::INT64, 1);
    ::onnx::NodeProto* node = graph->add_node();
    node->set_op_type(method.name);
    if (has_domain(method)) {
        node->set_domain(method.domain);
        model.add_opset_import()->set_domain(method.domain);
        model.mutable_opset_import(1)->set_version(std::max(method.version, method.until));
    }
    node->add_input("x");
    for (int i = 1; i < method.min_input || (i == 1 && method.max_input != 1); ++i)
        node->add_input(other);
    for (int i = 0; i < method.field_num; ++i)
        if (method.fields[i].required) add_attribute(method.fields[i], node);
    for (int i = 0; i < std::max(method.min_output, 1); ++i) {
        node->add_output("y" + std::to_string(i));
        graph->add_output()->set_name(node->output(i));
    }
    return model;
}

// A seed need not run in every precision, or with every input.
void check_seed(const tengine::test::OnnxSeed& seed)
{
    constexpr uint32_t kMostTries = 32;
    const size_t before = tengine::test::run_inputs;
    for (uint32_t i = 0; i < kMostTries && tengine::test::run_inputs == before; ++i) {
        graph_t graph =
            create_graph(nullptr, "onnx:m", seed.bytes.data(), static_cast<int>(seed.bytes.size()));
        if (!graph) break;
        tengine::test::run_model(graph, i);
        destroy_graph(graph);
    }
    if (tengine::test::run_inputs > before) return;
    std::fprintf(stderr, "the seed '%s' cannot be run: %s\n", seed.name, tengine_error_message());
    std::abort();
}

void write_seeds(const std::string& folder)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (method->tengine || (method->until != 0 && !has_domain(*method))) continue;
        const bool has_others = method->min_input > 1 || method->max_input != 1;
        for (const char* other : {"x", "w", "i"}) {
            if (!has_others && other[0] != 'x') continue;
            const std::string domain = has_domain(*method) ? method->domain : "";
            std::ofstream file(folder + "/seed_" + domain + method->name + "_" + other,
                               std::ios::binary);
            file << make_seed(*method, other).SerializeAsString();
        }
    }
    for (const tengine::test::OnnxSeed& seed : tengine::test::make_onnx_seeds()) {
        check_seed(seed);
        std::ofstream(folder + "/seed_" + seed.name, std::ios::binary) << seed.bytes;
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argument_num, char*** arguments)
{
    return tengine::test::start_target(*argument_num, *arguments, write_seeds);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed)
{
    std::mt19937 engine(seed);
    ::onnx::ModelProto model;
    if (engine() % 4 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
        return LLVMFuzzerMutate(data, size, max_size);
    for (auto steps = engine() % 4 + 1; steps > 0; --steps)
        tengine::test::mutate_model(&engine, &model);
    const std::string bytes = model.SerializeAsString();
    if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::copy(bytes.begin(), bytes.end(), data);
    return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const uint32_t seed = tengine::test::seed_of(data, size);
    context_t context = tengine::test::make_context(seed);
    graph_t graph = create_graph(context, "onnx:m", reinterpret_cast<const char*>(data),
                                 static_cast<int>(size));
    tengine::test::note_input(graph != nullptr);
    if (graph) {
        tengine::test::run_model(graph, seed);
        destroy_graph(graph);
    }
    destroy_context(context);
    return 0;
}
