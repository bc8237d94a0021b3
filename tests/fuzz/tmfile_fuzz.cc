// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a tmfile, through the public API. It starts from models that the
// library writes: every operator of Tengine's once, an extension record, and those of onnx_seeds.h
// if ONNX models can be read. Accepted models are prepared and run if they are small.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fuzz/model_run.h"
#include "fuzz/onnx_seeds.h"
#include "fuzz/refusal.h"
#include "graph/graph.h"
#include "operator/registry.h"
#include "serializer/tmfile/tmfile.h"
#include "tengine/c_api.h"
#include "tengine/entry.h"
#include "tengine/graph.h"

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

void write_seeds(const std::string& folder)
{
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
