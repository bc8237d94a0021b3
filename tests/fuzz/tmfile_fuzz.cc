// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a tmfile, through the public API. It starts from models that the
// library writes: every operator of Tengine's once, an extension record, and those of onnx_seeds.h
// if ONNX models can be read. Accepted models are prepared and run if they are small.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "fuzz/model_run.h"
#include "fuzz/onnx_seeds.h"
#include "fuzz/refusal.h"
#include "graph/graph.h"
#include "operator/registry.h"
#include "serializer/tmfile/tmfile.h"
#include "tengine/bucket.h"
#include "tengine/c_api.h"
#include "tengine/entry.h"
#include "tengine/graph.h"
#include "tengine/placement.h"
#include "tengine/state.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace tengine::test {
__attribute__((weak)) std::vector<OnnxSeed> make_onnx_seeds();
}

namespace {

using tengine::encode_tmfile;

// x → the operator → y, with a constant.
tengine::Vector<char> make_seed(int type)
{
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    auto* made = static_cast<struct graph*>(graph);
    node* nodes[] = {create_ir_node(made, "x", get_op_type("tengine", "InputOp"), 0),
                     create_ir_node(made, "w", get_op_type("tengine", "Const"), 0),
                     create_ir_node(made, "y", type, 0)};
    const int dims[] = {1, 2, 4, 4};
    const uint8_t roles[] = {TENSOR_TYPE_INPUT, TENSOR_TYPE_CONST, TENSOR_TYPE_VAR};
    tengine::Vector<char> bytes;
    bool is_made = true;
    for (int i = 0; i < 3; ++i) {
        tensor* tensor = create_ir_tensor(made, nodes[i]->name, TENGINE_DT_FP32);
        tensor->tensor_type = roles[i];
        is_made = is_made && set_ir_tensor_shape(tensor, dims, 4) == 0 &&
                  (i != 1 || allocate_ir_tensor(tensor) == 0) &&
                  set_ir_node_output_tensor(nodes[i], 0, tensor) == 0 &&
                  (i == 2 || set_ir_node_input_tensor(nodes[2], i, tensor) == 0);
    }
    is_made = is_made && set_ir_graph_output_node(made, &nodes[2]->index, 1) == 0 &&
              set_ir_graph_input_node(made, &nodes[0]->index, 1) == 0 &&
              encode_tmfile(made, &bytes) == 0;
    if (!is_made) std::abort();
    destroy_graph(graph);
    return bytes;
}

void write_seed(const std::string& folder, const char* name, const tengine::Vector<char>& bytes)
{
    std::ofstream(folder + "/seed_" + name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The format cannot express some, such as an input that is a sequence.
void write_onnx_seeds(const std::string& folder)
{
    for (const tengine::test::OnnxSeed& seed : tengine::test::make_onnx_seeds()) {
        graph_t graph =
            create_graph(nullptr, "onnx:m", seed.bytes.data(), static_cast<int>(seed.bytes.size()));
        tengine::Vector<char> bytes;
        if (!graph) std::abort();
        if (encode_tmfile(static_cast<struct graph*>(graph), &bytes) == 0)
            write_seed(folder, seed.name, bytes);
        destroy_graph(graph);
    }
}

// A file with two entries.
void write_entries(const std::string& folder)
{
    graph_t graphs[2];
    const char* const names[] = {"first", "second"};
    const char* const operators[] = {"Eltwise", "Concat"};
    for (int i = 0; i < 2; ++i) {
        const tengine::Vector<char> bytes = make_seed(get_op_type("tengine", operators[i]));
        graphs[i] = tengine_graph_load(nullptr, "tengine", bytes.data(), bytes.size());
    }
    if (tengine_graph_join_entries(graphs, names, 2) < 0 ||
        save_graph(graphs[0], "tengine", (folder + "/seed_entries").c_str()) < 0)
        std::abort();
    for (graph_t graph : graphs)
        destroy_graph(graph);
}

void check(bool good)
{
    if (!good) std::abort();
}

// sum = before op x, y = -sum, with the state `before`, a hint and a bucket.
graph_t make_step(const char* op)
{
    const char* inputs[] = {"x", "before"};
    const char* outputs[] = {"sum", "y"};
    const int dims[] = {2};
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const auto add = [&](const char* name, const char* type, std::initializer_list<tensor_t> from) {
        const node_t node = create_graph_node(graph, name, type);
        const tensor_t result = create_graph_tensor(graph, name, TENGINE_DT_FP32);
        check(set_node_output_tensor(node, 0, result, TENSOR_TYPE_VAR) == 0);
        check(set_tensor_shape(result, dims, 1) == 0);
        int index = 0;
        for (const tensor_t tensor : from)
            check(set_node_input_tensor(node, index++, tensor) == 0);
        return result;
    };
    const tensor_t x = add("x", "InputOp", {}), before = add("before", "InputOp", {});
    add("y", "Neg", {add("sum", op, {before, x})});
    check(set_graph_input_node(graph, inputs, 2) == 0);
    check(set_graph_output_node(graph, outputs, 2) == 0);
    check(tengine_graph_keep_state(graph, "before", "sum") == 0);
    check(tengine_graph_set_hint(graph, "split.prune", "0") == 0);
    return graph;
}

// Entries with a state, a hint and a bucket; the second file has their compiled parts, too, as a
// variant, and what prerun made of the graphs.
void write_states(const std::string& folder)
{
    const std::string plain = folder + "/seed_states", compiled = folder + "/seed_prepared";
    const graph_t graphs[] = {make_step("Add"), make_step("Sub")};
    const char* const names[] = {"add", "subtract"};
    check(tengine_graph_join_entries(graphs, names, 2) == 0);
    check(tengine_graph_add_bucket(graphs[0], "x=4") == 0);
    check(save_graph(graphs[0], "tengine", plain.c_str()) == 0);
    for (const graph_t graph : graphs)
        destroy_graph(graph);
    const context_t context = create_context("fuzz", 1);
    check(tengine_context_set_option(context, "model.keep_parts", "1") == 0);
    check(tengine_context_set_option(context, "model.keep_variant", "name=one") == 0);
    const graph_t first = create_graph(context, "tengine", plain.c_str());
    const graph_t second = tengine_graph_open_entry(first, "subtract");
    for (const graph_t graph : {first, second})
        check(graph && prerun_graph(graph) == 0);
    check(save_graph(first, "tengine", compiled.c_str()) == 0);
    destroy_graph(first);
    destroy_graph(second);
    destroy_context(context);
}

void write_seeds(const std::string& folder)
{
    write_states(folder);
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (method->tengine && method->tengine->id >= 0 && method->max_output != 0)
            write_seed(folder, method->name, make_seed(get_op_type("tengine", method->name)));
    }
    write_entries(folder);
    write_seed(folder, "extension", make_seed(get_op_type_by_name("Einsum")));
    if (tengine::test::make_onnx_seeds) write_onnx_seeds(folder);
}

// Changes a word of four bytes at an offset that is a multiple of four, as the writer places them:
// mostly an offset, an index, a count or a size.
using Word = uint32_t;

Word spoil_word(std::mt19937* engine, const uint8_t* data, size_t words, size_t at)
{
    const auto read = [data](size_t index) {
        Word word;
        std::memcpy(&word, data + index * sizeof word, sizeof word);
        return word;
    };
    switch ((*engine)() % 6) {
        case 0:  // the reference or count of another record
            return read((*engine)() % words);
        case 1:  // an adjacent record, or the record itself
            return static_cast<Word>((at - (*engine)() % 8) * sizeof(Word));
        case 2:
            return (*engine)() % 16;
        case 3:
            return read(at) + (*engine)() % 9 - 4;
        case 4:
            return (Word{1} << (*engine)() % 32) - (*engine)() % 2;
        default:
            return static_cast<Word>(((*engine)() % words) * sizeof(Word));
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
    const size_t words = size / sizeof(Word);
    if (words == 0 || engine() % 3 == 0) return LLVMFuzzerMutate(data, size, max_size);
    for (auto steps = engine() % 3 + 1; steps > 0; --steps) {
        const size_t at = engine() % words;
        const Word word = spoil_word(&engine, data, words, at);
        std::memcpy(data + at * sizeof word, &word, sizeof word);
    }
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const uint32_t seed = tengine::test::seed_of(data, size);
    context_t context = tengine::test::make_context(seed);
    graph_t graph = create_graph(context, "tengine:view", reinterpret_cast<const char*>(data),
                                 static_cast<int>(size));
    tengine::test::note_input(graph != nullptr);
    if (graph) {
        tengine::test::run_entries(graph, seed);
        destroy_graph(graph);
    }
    destroy_context(context);
    return 0;
}
