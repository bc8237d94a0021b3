// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a .tflite, through the public API. It starts from a model for each
// operator. Accepted models are prepared and run if they are small.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/model_run.h"
#include "fuzz/refusal.h"
#include "operator/registry.h"
#include "serializer/tflite/model_builder.h"
#include "tengine/c_api.h"
#include "tengine/graph.h"

namespace {

using tengine::test::TfliteModel;
using tengine::test::TfliteOperator;

constexpr int kCustom = 32;

// The operator on float pictures, with a constant for each other input, and 1 in all its options.
TfliteModel make_seed(const ir_method_t& method)
{
    TfliteModel model;
    TfliteOperator op;
    op.code = method.tflite_code;
    if (op.code == kCustom) op.name = method.name;
    const int inputs = method.max_input > 0 ? method.max_input : 2;
    const int outputs = method.max_output > 0 ? method.max_output : 1;
    model.tensors.push_back({"x", {1, 4, 4, 2}});
    op.inputs.push_back(0);
    for (int i = 1; i < inputs; ++i) {
        const bool is_float = i == 1 && inputs > 2;
        op.inputs.push_back(static_cast<int32_t>(model.tensors.size()));
        if (is_float)
            model.tensors.push_back({"w",
                                     {1, 2, 2, 2},
                                     tengine::test::kTfliteFloat,
                                     tengine::test::bytes_of(std::vector<float>(8, 0.5f))});
        else
            model.tensors.push_back(
                {"i", {2}, tengine::test::kTfliteInt32, tengine::test::bytes_of<int32_t>({1, 2})});
    }
    for (int i = 0; i < outputs; ++i) {
        op.outputs.push_back(static_cast<int32_t>(model.tensors.size()));
        model.tensors.push_back({"y", {1, 4, 4, 2}});
    }
    for (int i = 0; i < method.field_num; ++i) {
        const op_field_t& field = method.fields[i];
        if (field.file_kind == OP_FILE_WORD || field.file_kind == OP_FILE_BYTE)
            op.options.push_back({field.file_offset, field.file_kind == OP_FILE_BYTE ? 1 : 4, 1});
    }
    model.inputs = {0};
    model.outputs = op.outputs;
    model.operators = {op};
    return model;
}

// The share of models that are written, which takes longer than reading, is 1 / kWritten.
constexpr uint32_t kWritten = 8;

// A graph that is read becomes a file that can be read, or an error.
void write_model(context_t context, graph_t graph)
{
    const std::string path =
        std::filesystem::temp_directory_path() / ("tflite_fuzz_" + std::to_string(getpid()));
    if (save_graph(graph, "tflite", path.c_str()) == 0) {
        graph_t again = create_graph(context, "tflite", path.c_str());
        if (!again) {
            std::fprintf(stderr, "the written file is refused: %s\n", get_tengine_error());
            std::abort();
        }
        destroy_graph(again);
    }
    std::filesystem::remove(path);
}

// y = v = v op x
TfliteModel make_step(int code, int32_t once)
{
    constexpr int kCallOnce = 129, kVarHandle = 142, kReadVariable = 143, kAssignVariable = 144;
    TfliteModel model;
    model.tensors = {
        {"x", {2}}, {"handle", {}, tengine::test::kTfliteResource}, {"old", {2}}, {"y", {2}}};
    model.operators = {{kCallOnce, {}, {}, {{0, 4, once}}},
                       {kVarHandle, {}, {1}, {{0, 0, 0, {}, "box"}, {1, 0, 0, {}, "v"}}},
                       {kReadVariable, {1}, {2}},
                       {code, {2, 0}, {3}},
                       {kAssignVariable, {1, 3}, {}}};
    model.inputs = {0};
    model.outputs = {3};
    return model;
}

// Two signatures that share a resource, with hints and buckets.
TfliteModel make_signatures()
{
    constexpr int kAdd = 0, kMul = 18;
    TfliteModel model = make_step(kAdd, 1), once = make_step(kAdd, 1);
    once.tensors = {
        {"handle", {}, tengine::test::kTfliteResource},
        {"first", {2}, tengine::test::kTfliteFloat, tengine::test::bytes_of<float>({5, 6})}};
    once.operators = {once.operators[1], once.operators[4]};
    once.operators[0].outputs = {0};
    once.operators[1].inputs = {0, 1};
    once.inputs = once.outputs = {};
    model.called = {once, make_step(kMul, 3), once};
    model.signatures = {{"add", 0, {{0, "x"}}, {{3, "y"}}}, {"scale", 2, {{0, "x"}}, {{3, "y"}}}};
    model.metadata = {{"tengine.bucket.wide", "x=4"},
                      {"tengine.option.split.prune", "0"},
                      {"tengine.entry.scale/tengine.option.split.min_nodes", "1"}};
    return model;
}

void write_seed(const std::string& folder, const char* name, const TfliteModel& model)
{
    const std::string bytes = tengine::test::encode_tflite(model);
    std::ofstream(folder + "/seed_" + name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_seeds(const std::string& folder)
{
    write_seed(folder, "signatures", make_signatures());
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (!method->domain || std::strcmp(method->domain, "tflite") != 0) continue;
        write_seed(folder, method->name, make_seed(*method));
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argument_num, char*** arguments)
{
    return tengine::test::start_target(*argument_num, *arguments, write_seeds);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const uint32_t seed = tengine::test::seed_of(data, size);
    context_t context = tengine::test::make_context(seed);
    graph_t graph = tengine_graph_load(context, "tflite:view", data, size);
    tengine::test::note_input(graph != nullptr);
    if (graph) {
        if (seed % kWritten == 0) write_model(context, graph);
        tengine::test::run_entries(graph, seed);
        destroy_graph(graph);
    }
    destroy_context(context);
    return 0;
}
