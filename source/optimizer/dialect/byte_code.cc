// SPDX-License-Identifier: Apache-2.0
// Parts that a vendor's compiler has made of nodes of a .tflite become DISPATCH_OPs with their byte
// code, for a file that LiteRT's dispatches run.
#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/saved_call.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "graph/state.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/shaped.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// The nodes of the source graph that became those of the part, each once and in order; empty: one
// of them is not as the file has it.
Vector<int32_t> list_source_nodes(const struct subgraph& part)
{
    Vector<int32_t> nodes;
    for (int i = 0; i < part.node_num; ++i) {
        const node& each = *part.graph->node_list[part.node_list[i]];
        if (!(each.op.method->traits & OP_READS_QUANTIZED) || each.core->source_index < 0)
            return {};
        nodes.push_back(each.core->source_index);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

bool find_code(const graph& source, const struct subgraph& part, saved_call_t* out_call)
{
    const Vector<int32_t> nodes = list_source_nodes(part);
    for (int i = 0; !nodes.empty() && i < count_ir_model_parts(&source); ++i) {
        const ir_model_part_t& kept = *get_ir_model_part(&source, i);
        const Vector<int32_t> known(kept.nodes, kept.nodes + kept.node_num);
        if (std::strcmp(kept.device, part.device->name) == 0 && known == nodes &&
            read_saved_call(kept.bytes->data, kept.bytes->size, out_call))
            return true;
    }
    return false;
}

class Bundler
{
  public:
    Bundler(const graph& source, graph& target) : source_(source), target_(target) {}

    int run(const graph& execution, int* out_number);

  private:
    int complete_tensors();
    int bundle(const struct subgraph& part, const saved_call_t& call);
    int set_texts(node& made, const saved_call_t& call) const;
    struct tensor* find_copy(const graph& execution, int tensor) const;

    const graph& source_;
    graph& target_;
    Vector<int32_t> tensors_;  // by tensor of the source: its copy, or -1
    Vector<int32_t> nodes_;
};

// Shapes are those of the file.
int Bundler::complete_tensors()
{
    tensors_.resize(static_cast<size_t>(source_.tensor_num), -1);
    nodes_.resize(static_cast<size_t>(source_.node_num), -1);
    for (int i = 0; i < target_.node_num; ++i)
        if (const int place = target_.node_list[i]->core->source_index; place >= 0)
            nodes_[static_cast<size_t>(place)] = i;
    for (int i = 0; i < target_.tensor_num; ++i) {
        struct tensor& copy = *target_.tensor_list[i];
        const int place = copy.core->source_index;
        if (place < 0) continue;
        tensors_[static_cast<size_t>(place)] = i;
        const struct tensor& from = *source_.tensor_list[place];
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&copy, from.data_type));
        if (from.shape_set)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&copy, from.dims, from.dim_num));
    }
    return TENGINE_OK;
}

struct tensor* Bundler::find_copy(const graph& execution, int tensor) const
{
    const int place = execution.tensor_list[tensor]->core->source_index;
    return place < 0 ? nullptr
                     : get_ir_graph_tensor(&target_, tensors_[static_cast<size_t>(place)]);
}

int Bundler::set_texts(node& made, const saved_call_t& call) const
{
    TENGINE_RETURN_IF_ERROR(
        set_node_text(&made, "name", call.entry_point, static_cast<size_t>(call.head.entry_size)));
    TENGINE_RETURN_IF_ERROR(
        set_node_text(&made, "manufacturer", call.maker, std::strlen(call.maker)));
    return set_node_text(&made, "soc_model", call.chip, std::strlen(call.chip));
}

// The inputs and outputs of the part in its order, and the byte code.
int Bundler::bundle(const struct subgraph& part, const saved_call_t& call)
{
    const graph& execution = *part.graph;
    const String name = execution.node_list[part.node_list[0]]->name;
    Vector<struct tensor*> inputs, outputs;
    for (int i = 0; i < part.input_num; ++i)
        inputs.push_back(find_copy(execution, part.input_tensor_list[i]));
    for (int i = 0; i < part.output_num; ++i)
        outputs.push_back(find_copy(execution, part.output_tensor_list[i]));
    for (const int32_t place : list_source_nodes(part)) {
        node* old = get_ir_graph_node(&target_, nodes_[static_cast<size_t>(place)]);
        if (old) destroy_ir_node(&target_, old);
    }
    node* made = create_op_node(&target_, name.c_str(), "tflite.DISPATCH_OP", name.c_str());
    struct tensor* bytes =
        create_ir_tensor(&target_, (name + "_byte_code").c_str(), TENGINE_DT_UINT8);
    const auto size = static_cast<int>(call.head.module_size);
    if (!made || !bytes) return tengine_error_code();
    bytes->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(bytes, &size, 1));
    set_ir_tensor_data(bytes, const_cast<void*>(call.module), false);
    inputs.push_back(bytes);
    for (size_t i = 0; i < inputs.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, static_cast<int>(i), inputs[i]));
    for (size_t i = 0; i < outputs.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(made, static_cast<int>(i), outputs[i]));
    return set_texts(*made, call);
}

int Bundler::run(const graph& execution, int* out_number)
{
    TENGINE_RETURN_IF_ERROR(complete_tensors());
    for (int i = 0; i < get_vector_num(execution.subgraph_list); ++i) {
        const struct subgraph& part = *get_ir_graph_subgraph(&execution, i);
        saved_call_t call;
        if (!find_code(source_, part, &call)) continue;
        TENGINE_RETURN_IF_ERROR(bundle(part, call));
        ++*out_number;
    }
    return TENGINE_OK;
}

int create_bundled(const graph& source, graph** out_graph)
{
    *out_graph = nullptr;
    const graph* execution = source.core->execution;
    if (!execution || count_ir_model_parts(&source) == 0) return TENGINE_OK;
    GraphPointer target;
    int number = 0;
    TENGINE_RETURN_IF_ERROR(copy_to_execution_graph(source, &target));
    TENGINE_RETURN_IF_ERROR(Bundler(source, *target).run(*execution, &number));
    if (number == 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(tidy_graph(*target));
    TENGINE_RETURN_IF_ERROR(remove_dead_code(*target));
    TENGINE_RETURN_IF_ERROR(tidy_graph(*target));
    TENGINE_RETURN_IF_ERROR(to_source_form(*target, false));
    TENGINE_RETURN_IF_ERROR(apply_ir_states(target.get()));
    *out_graph = target.release();
    return TENGINE_OK;
}

}  // namespace
}  // namespace tengine

int create_bundled_graph(const struct graph* source, struct graph** out_graph)
{
    return tengine::guarded([&] { return tengine::create_bundled(*source, out_graph); },
                            "graph '%s': out of memory while saving it", source->name);
}
