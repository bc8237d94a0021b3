// SPDX-License-Identifier: Apache-2.0
// One part of an execution graph as a graph of its own, which devices compile and run.
#include "base/guard.hpp"
#include "base/maps.hpp"
#include "base/minimal.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/late_constant.h"
#include "graph/string_pool.h"
#include "graph/subgraph.h"
#include "module/module.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"
#include "optimizer/placement/source_nodes.h"

namespace tengine {
namespace {

class Detacher
{
  public:
    Detacher(const struct subgraph& part, device* device, graph& target, bool copy_constants)
        : part_(part),
          source_(*part.graph),
          device_(device),
          target_(target),
          copy_constants_(copy_constants)
    {
    }

    int run()
    {
        TENGINE_RETURN_IF_ERROR(set_ir_graph_name(&target_, source_.name));
        join_graph_pool(&target_, &source_);
        TENGINE_RETURN_IF_ERROR(join_ir_strings(&target_, &source_));
        if (copy_constants_)
            TENGINE_RETURN_IF_ERROR(share_ir_survey(&target_, &source_, device_));
        else
            target_.core->whole = &source_;
        target_.core->memory_limit = source_.core->memory_limit;
        target_.core->memory_claimed = source_.core->memory_claimed;
        target_.core->run_options = *source_.run_options;
        target_.graph_layout = source_.graph_layout;
        target_.model_layout = source_.model_layout;
        for (int i = 0; i < part_.node_num; ++i)
            TENGINE_RETURN_IF_ERROR(add_node(*source_.node_list[part_.node_list[i]]));
        TENGINE_RETURN_IF_ERROR(set_inputs_and_outputs());
        return TENGINE_OK;
    }

    // The only part of the new graph, with all nodes.
    int add_subgraph(struct subgraph** out_subgraph)
    {
        struct subgraph* made = create_ir_subgraph(&target_, device_);
        if (!made) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a part");
        Vector<int32_t> nodes;
        for (int i = 0; i < target_.node_num; ++i) {
            nodes.push_back(i);
            target_.node_list[i]->subgraph_idx = 0;
            target_.node_list[i]->device = device_;
        }
        TENGINE_RETURN_IF_ERROR(
            set_ir_subgraph_nodes(made, nodes.data(), static_cast<int>(nodes.size())));
        TENGINE_RETURN_IF_ERROR(connect_ir_subgraphs(&target_));
        // A part that may outlive the execution graph plans its memory itself.
        if (!copy_constants_) {
            made->core->planned_blocks = part_.core->planned_blocks;
            made->core->planned_block_num = part_.core->planned_block_num;
        }
        *out_subgraph = made;
        return TENGINE_OK;
    }

  private:
    int add_node(const node& from)
    {
        node* to = nullptr;
        TENGINE_RETURN_IF_ERROR(copy_node_head(from, target_, &to));
        for (int i = 0; i < from.input_num; ++i) {
            tensor* input = nullptr;
            TENGINE_RETURN_IF_ERROR(use_tensor(get_ir_node_input(&from, i), &input));
            TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(to, i, input));
        }
        for (int i = 0; i < from.output_num; ++i) {
            tensor* output = nullptr;
            TENGINE_RETURN_IF_ERROR(use_tensor(get_ir_node_output(&from, i), &output));
            TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(to, i, output));
        }
        to->op.same_shape = from.op.same_shape;
        to->dynamic_shape = from.dynamic_shape;
        return use_kernel(from, to);
    }

    int use_kernel(const node& from, node* to)
    {
        if (!from.core->custom_kernel) return TENGINE_OK;
        to->core->custom_kernel = find_custom_kernel(&from, device_->name);
        return to->core->custom_kernel ? TENGINE_OK : fail_without_kernel(from, *device_);
    }

    // The copy of a tensor, made at its first use; null for an absent one.
    int use_tensor(const tensor* from, tensor** out_tensor)
    {
        if (!from) return TENGINE_OK;
        const auto known = index_.find(from->index);
        tensor* made = known == index_.end() ? nullptr : target_.tensor_list[known->second];
        if (!made) {
            TENGINE_RETURN_IF_ERROR(copy_tensor_head(*from, target_, &made));
            index_[from->index] = made->index;
            if (from->shape_set)
                TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, from->dims, from->dim_num));
            if (from->tensor_type == TENSOR_TYPE_CONST)
                TENGINE_RETURN_IF_ERROR(give_constant(*from, made));
        }
        *out_tensor = made;
        return TENGINE_OK;
    }

    int give_constant(const tensor& from, tensor* to)
    {
        const bool is_late = find_ir_late_values(&from) != nullptr;
        if (!copy_constants_ || (!from.data && !is_late)) {
            set_ir_tensor_data(to, from.data, false);
            if (is_late) share_ir_late_constant(to, &from);
            return TENGINE_OK;
        }
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(to));
        copy_ir_constant(&source_, &from, to->data);
        return TENGINE_OK;
    }

    Vector<int32_t> translate(const int32_t* tensors, int number) const
    {
        Vector<int32_t> translated;
        for (int i = 0; i < number; ++i)
            translated.push_back(index_.at(tensors[i]));
        return translated;
    }

    int set_inputs_and_outputs()
    {
        const auto inputs = translate(part_.input_tensor_list, part_.input_num);
        const auto outputs = translate(part_.output_tensor_list, part_.output_num);
        for (const int32_t input : inputs)
            target_.tensor_list[input]->tensor_type = TENSOR_TYPE_INPUT;
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_input_tensor(&target_, inputs.data(), static_cast<int>(inputs.size())));
        return set_ir_graph_output_tensor(&target_, outputs.data(),
                                          static_cast<int>(outputs.size()));
    }

    const struct subgraph& part_;
    const graph& source_;
    device* const device_;
    graph& target_;
    const bool copy_constants_;
    Map<int32_t, int32_t> index_;  // index of the copy, by that of the tensor
};

// Reports count the nodes that passes add to those that they stand for, or to a neighbour.
void give_origin(graph& part, node& node)
{
    for (int i = 0; i < node.input_num && node.core->source_index < 0; ++i) {
        const struct tensor* input = get_ir_node_input(&node, i);
        const struct node* writer = input ? get_ir_graph_node(&part, input->producer) : nullptr;
        if (writer) node.core->source_index = writer->core->source_index;
    }
}

void give_origin_of_reader(graph& part, node& node)
{
    for (int i = 0; i < node.output_num && node.core->source_index < 0; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        if (output && output->consumer_num > 0)
            node.core->source_index = part.node_list[output->consumer[0]]->core->source_index;
    }
}

int lower(graph& part, const graph& execution)
{
    const int first = part.node_list[0]->core->source_index;
    part.core->source = &execution;  // which has the types that the nodes declare
    const int status = lower_kept_nodes(part);
    part.core->source = nullptr;
    TENGINE_RETURN_IF_ERROR(status);
    for (int i = 0; i < part.node_num; ++i)
        give_origin(part, *part.node_list[i]);
    for (int i = part.node_num - 1; i >= 0; --i)
        give_origin_of_reader(part, *part.node_list[i]);
    for (int i = 0; i < part.node_num; ++i)
        if (part.node_list[i]->core->source_index < 0)
            part.node_list[i]->core->source_index = first;
    return TENGINE_OK;
}

int detach(const struct subgraph& part, device* device, bool copy_constants,
           struct subgraph** out_subgraph)
{
    GraphPointer target(create_ir_graph(part.graph->attribute->context));
    if (!target) return tengine_error_code();
    Detacher detacher(part, device, *target, copy_constants);
    TENGINE_RETURN_IF_ERROR(detacher.run());
    if (!IS_MINIMAL && device == find_default_device() && has_source_nodes(*target))
        TENGINE_RETURN_IF_ERROR(lower(*target, *part.graph));
    TENGINE_RETURN_IF_ERROR(detacher.add_subgraph(out_subgraph));
    target.release();
    return TENGINE_OK;
}

}  // namespace
}  // namespace tengine

int detach_ir_subgraph(const struct subgraph* part, struct device* device, bool copy_constants,
                       struct subgraph** out_subgraph)
{
    return tengine::guarded(
        [&] { return tengine::detach(*part, device, copy_constants, out_subgraph); },
        "part %d: out of memory for its graph", part->index);
}
