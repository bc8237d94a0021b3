// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a tmfile, through the public API. It starts from models that our
// writer makes: every operator of Tengine's once, and an extension record. What is accepted and
// small is prepared and run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "fuzz/model_run.h"
#include "fuzz/refusal.h"
#include "graph/graph.h"
#include "operator/registry.h"
#include "serializer/tmfile/tmfile.h"
#include "tengine/c_api.h"

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

void write_seed(const std::string& folder, const char* name, int type)
{
    const tengine::Vector<char> bytes = make_seed(type);
    std::ofstream(folder + "/seed_" + name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_seeds(const std::string& folder)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (method->tengine && method->tengine->id >= 0 && method->max_output != 0)
            write_seed(folder, method->name, get_op_type("tengine", method->name));
    }
    write_seed(folder, "extension", get_op_type_by_name("Einsum"));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argument_num, char*** arguments)
{
    return tengine::test::start_target(*argument_num, *arguments, write_seeds);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    graph_t graph = create_graph(nullptr, "tengine:view", reinterpret_cast<const char*>(data),
                                 static_cast<int>(size));
    tengine::test::note_input(graph != nullptr);
    if (!graph) return 0;
    tengine::test::run_model(graph, tengine::test::seed_of(data, size));
    destroy_graph(graph);
    return 0;
}
