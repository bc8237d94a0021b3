// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/prepared.h"

#include <algorithm>
#include <cstdio>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "graph/late_constant.h"
#include "graph/subgraph.h"
#include "operator/operator.h"
#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/nodes.h"
#include "serializer/tmfile/reader.h"
#include "serializer/tmfile/tensors.h"
#include "serializer/tmfile/writer.h"
#include "tengine/device.h"

namespace tengine::tmfile {
namespace {

constexpr char kNoMemory[] = "out of memory for a preparation of the model's file";

// ---- writing ----

int check_tensor(const struct tensor& tensor)
{
    if (find_ir_late_values(&tensor))
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "constant '%s' has its values when a kernel packs them only",
                                 tensor.name);
    if (tensor.data_type >= TENGINE_DT_STRING)
        return tengine_error_set(TENGINE_ENOTSUP, "tensor '%s' is %s", tensor.name,
                                 get_data_type_name(tensor.data_type));
    return TENGINE_OK;
}

int check_node(const struct node& node)
{
    const char* what = node.core->custom_kernel                  ? "has a custom kernel"
                       : node.core->bodies                       ? "has a graph of its own"
                       : node.dynamic_shape                      ? "has shapes that depend on data"
                       : node.op.method->value_shape             ? "has shapes that values decide"
                       : (node.op.method->traits & OP_OPEN) != 0 ? "has an unknown operator"
                                                                 : nullptr;
    return what ? tengine_error_set(TENGINE_ENOTSUP, "node '%s' (%s) %s", node.name,
                                    get_ir_node_op(&node), what)
                : TENGINE_OK;
}

class Writer
{
  public:
    Writer(const struct graph& execution, const vector_t& blocks)
        : graph_(execution), blocks_(blocks)
    {
    }

    int run(ir_sink* sink)
    {
        TENGINE_RETURN_IF_ERROR(check());
        builder_.add(PreparedRecord{});
        SubgraphRecord subgraph = {};
        TENGINE_RETURN_IF_ERROR(write_execution(graph_, builder_, &subgraph));
        PreparedRecord record = {};
        std::copy_n(kPreparedMark, sizeof kPreparedMark, record.mark);
        record.subgraph = builder_.add(subgraph);
        record.inputs =
            builder_.add_vector(graph_.input_tensors, static_cast<size_t>(graph_.input_tensor_num));
        record.outputs = builder_.add_vector(graph_.output_tensors,
                                             static_cast<size_t>(graph_.output_tensor_num));
        record.tensors = write_tensors();
        record.nodes = write_nodes();
        record.parts = write_parts();
        record.settled = write_settled();
        record.blocks = write_blocks();
        record.precision = graph_.run_options->precision;
        record.rounding = graph_.run_options->rounding;
        record.between_bytes = graph_.core->plan_bytes;
        if (builder_.is_too_large())
            return tengine_error_set(TENGINE_ELIMIT, "the preparation is larger than 4 GiB");
        builder_.overwrite(0, record);
        const Vector<char> bytes = builder_.take();
        return write_ir_sink(sink, bytes.data(), bytes.size());
    }

  private:
    int check() const
    {
        for (int i = 0; i < graph_.tensor_num; ++i)
            TENGINE_RETURN_IF_ERROR(check_tensor(*graph_.tensor_list[i]));
        for (int i = 0; i < graph_.node_num; ++i)
            TENGINE_RETURN_IF_ERROR(check_node(*graph_.node_list[i]));
        return TENGINE_OK;
    }

    uint64_t find_place(const struct tensor& tensor) const
    {
        const auto* begin = static_cast<const char*>(graph_.core->plan);
        const auto* data = static_cast<const char*>(tensor.data);
        const bool is_planned = begin && tensor.internal_allocated && data >= begin &&
                                data < begin + graph_.core->plan_bytes;
        return is_planned ? static_cast<uint64_t>(data - begin) : kNoPlace;
    }

    uint32_t write_tensors()
    {
        Vector<PreparedTensorRecord> list;
        for (int i = 0; i < graph_.tensor_num; ++i) {
            const struct tensor& tensor = *graph_.tensor_list[i];
            PreparedTensorRecord& record = list.emplace_back();
            record.source = tensor.core->source_index;
            record.axis = tensor.quant_axis;
            record.layout = tensor.layout;
            record.place = find_place(tensor);
        }
        return builder_.add_vector(list);
    }

    uint32_t write_refusals(const struct node& node)
    {
        Vector<PreparedRefusalRecord> list;
        for (int i = 0; i < node.core->refusal_num; ++i) {
            const ir_refusal_t& refusal = node.core->refusal_list[i];
            PreparedRefusalRecord& record = list.emplace_back();
            record.device = builder_.add_string(refusal.device->name);
            record.verdict = refusal.verdict.verdict;
            record.code = refusal.verdict.code;
            record.attribute = builder_.add_string(refusal.verdict.attribute);
            record.value = builder_.add_string(refusal.verdict.value);
            record.message = builder_.add_string(refusal.verdict.message);
        }
        return list.empty() ? 0 : builder_.add_vector(list);
    }

    uint32_t write_nodes()
    {
        Vector<PreparedNodeRecord> list;
        for (int i = 0; i < graph_.node_num; ++i) {
            const struct node& node = *graph_.node_list[i];
            PreparedNodeRecord& record = list.emplace_back();
            record.source = node.core->source_index;
            record.part = static_cast<uint32_t>(node.subgraph_idx);
            record.group = node.core->group;
            record.keep_float = node.core->keep_float;
            record.refusals = write_refusals(node);
        }
        return builder_.add_vector(list);
    }

    uint32_t write_parts()
    {
        Vector<PreparedPartRecord> list;
        for (int i = 0; i < get_vector_num(graph_.subgraph_list); ++i) {
            const struct subgraph* part = get_ir_graph_subgraph(&graph_, i);
            PreparedPartRecord& record = list.emplace_back();
            record.device = builder_.add_string(part->device->name);
            record.arena = part->plan_bytes;
        }
        return builder_.add_vector(list);
    }

    uint32_t write_settled()
    {
        Vector<PreparedShapeRecord> list;
        const vector_t* shapes = graph_.core->settled_shapes;
        for (int i = 0; shapes && i < get_vector_num(shapes); ++i) {
            const auto* shape = static_cast<const ir_settled_shape_t*>(get_vector_data(shapes, i));
            PreparedShapeRecord& record = list.emplace_back();
            record.source = shape->source_index;
            record.dims = builder_.add_vector(shape->dims, static_cast<size_t>(shape->dim_num));
        }
        return builder_.add_vector(list);
    }

    uint32_t write_blocks()
    {
        Vector<PreparedBlockRecord> list;
        for (int i = 0; i < get_vector_num(&blocks_); ++i) {
            const auto* block = static_cast<const ir_arena_block_t*>(get_vector_data(&blocks_, i));
            list.push_back({block->offset, block->bytes, block->memory, block->part});
        }
        return list.empty() ? 0 : builder_.add_vector(list);
    }

    const struct graph& graph_;
    const vector_t& blocks_;
    FileBuilder builder_;
};

// ---- reading ----

int fail_count(const char* what, uint32_t number, int expected)
{
    return tengine_error_set(TENGINE_EFORMAT, "it describes %u %s, expected %d", number, what,
                             expected);
}

int read_head(const char* bytes, size_t size, PreparedRecord* out_record)
{
    if (size < sizeof *out_record)
        return tengine_error_set(TENGINE_EFORMAT, "it has %zu bytes, expected %zu or more", size,
                                 sizeof *out_record);
    std::memcpy(out_record, bytes, sizeof *out_record);
    if (std::memcmp(out_record->mark, kPreparedMark, sizeof kPreparedMark) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "it does not begin with its mark");
}

class Reader
{
  public:
    Reader(struct graph& execution, const char* bytes, size_t size)
        : graph_(execution),
          source_(*execution.core->source),
          reading_(&execution, bytes, size),
          size_(size)
    {
    }

    int run(const char* bytes)
    {
        TENGINE_RETURN_IF_ERROR(read_head(bytes, size_, &record_));
        reading_.subgraph_offset = record_.subgraph;
        TENGINE_RETURN_IF_ERROR(
            reading_.file.read(record_.subgraph, "the subgraph", &reading_.subgraph));
        TENGINE_RETURN_IF_ERROR(add_tensors(reading_));
        TENGINE_RETURN_IF_ERROR(complete_tensors());
        Vector<struct node*> nodes;
        TENGINE_RETURN_IF_ERROR(add_nodes(reading_, &nodes));
        TENGINE_RETURN_IF_ERROR(check_order());
        TENGINE_RETURN_IF_ERROR(set_ends());
        TENGINE_RETURN_IF_ERROR(read_parts());
        TENGINE_RETURN_IF_ERROR(complete_nodes());
        TENGINE_RETURN_IF_ERROR(fill_parts());
        TENGINE_RETURN_IF_ERROR(read_settled());
        TENGINE_RETURN_IF_ERROR(read_blocks());
        if (record_.rounding < IR_ROUNDING_NEAREST || record_.rounding > IR_ROUNDING_TWICE)
            return tengine_error_set(TENGINE_EFORMAT, "it has rounding %d", record_.rounding);
        graph_.core->run_options.precision = record_.precision;
        graph_.core->run_options.rounding = record_.rounding;
        return TENGINE_OK;
    }

  private:
    int read_list(uint32_t offset, size_t bytes, const char* what, int expected,
                  VectorView* out_list)
    {
        TENGINE_RETURN_IF_ERROR(reading_.file.read_vector(offset, bytes, what, out_list));
        if (expected >= 0 && out_list->count() != static_cast<uint32_t>(expected))
            return fail_count(what, out_list->count(), expected);
        return reading_.budget.charge(uint64_t{out_list->count()} * bytes);
    }

    // The constant gets the values of the model's tensor.
    int take_values(struct tensor& tensor)
    {
        const struct tensor* from = get_ir_graph_tensor(&source_, tensor.core->source_index);
        if (!from || from->tensor_type != TENSOR_TYPE_CONST || !from->data ||
            from->data_type != tensor.data_type || !is_ir_tensor_shape_known(&tensor) ||
            get_ir_tensor_bytes(from) != get_ir_tensor_bytes(&tensor))
            return tengine_error_set(TENGINE_EFORMAT,
                                     "constant '%s' has no values, and tensor %d of the model is "
                                     "not a constant of its type and size",
                                     tensor.name, tensor.core->source_index);
        set_ir_tensor_data(&tensor, from->data, false);
        return TENGINE_OK;
    }

    int complete_tensor(const PreparedTensorRecord& record, struct tensor& tensor)
    {
        if (record.source < -1 || record.source >= source_.tensor_num)
            return tengine_error_set(TENGINE_EFORMAT, "tensor '%s' is that of tensor %d of %d",
                                     tensor.name, record.source, source_.tensor_num);
        const int scales = tensor.quant_param_num;
        const bool has_axis =
            record.axis >= 0 && record.axis < std::max(tensor.dim_num, uint8_t{1});
        if (!has_axis || (scales > 1 && (!is_ir_tensor_shape_known(&tensor) ||
                                         tensor.dims[record.axis] != scales)))
            return tengine_error_set(TENGINE_EFORMAT,
                                     "tensor '%s' has %d scales along dimension %d", tensor.name,
                                     scales, record.axis);
        if (record.layout != TENGINE_LAYOUT_NCHW && record.layout != TENGINE_LAYOUT_NHWC)
            return tengine_error_set(TENGINE_EFORMAT, "tensor '%s' has layout %d", tensor.name,
                                     record.layout);
        tensor.core->source_index = record.source;
        tensor.quant_axis = record.axis;
        tensor.layout = static_cast<uint8_t>(record.layout);
        return tensor.tensor_type == TENSOR_TYPE_CONST && !tensor.data ? take_values(tensor)
                                                                       : int{TENGINE_OK};
    }

    int complete_tensors()
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(read_list(record_.tensors, sizeof(PreparedTensorRecord), "tensors",
                                          graph_.tensor_num, &list));
        vector_t*& places = graph_.core->planned_places;
        places = create_vector(sizeof(uint64_t), nullptr);
        if (!places) return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        for (uint32_t i = 0; i < list.count(); ++i) {
            const auto record = list.get<PreparedTensorRecord>(i);
            TENGINE_RETURN_IF_ERROR(complete_tensor(record, *graph_.tensor_list[i]));
            if (push_vector_data(places, &record.place) < 0)
                return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        }
        return TENGINE_OK;
    }

    // A node reads what nodes before it write.
    int check_order() const
    {
        for (int i = 0; i < graph_.node_num; ++i)
            for (int k = 0; k < graph_.node_list[i]->input_num; ++k) {
                const struct tensor* input = get_ir_node_input(graph_.node_list[i], k);
                if (input && input->producer >= i)
                    return tengine_error_set(TENGINE_EGRAPH, "node %d reads what node %d writes", i,
                                             input->producer);
            }
        return TENGINE_OK;
    }

    int read_ends(uint32_t offset, const char* what, int expected, Vector<int32_t>* out_tensors)
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(read_list(offset, sizeof(int32_t), what, expected, &list));
        for (uint32_t i = 0; i < list.count(); ++i) {
            if (list[i] >= static_cast<uint32_t>(graph_.tensor_num))
                return tengine_error_set(TENGINE_EFORMAT, "one of its %s is tensor %u of %d", what,
                                         list[i], graph_.tensor_num);
            out_tensors->push_back(static_cast<int32_t>(list[i]));
        }
        return TENGINE_OK;
    }

    int set_ends()
    {
        Vector<int32_t> inputs, outputs;
        TENGINE_RETURN_IF_ERROR(
            read_ends(record_.inputs, "inputs", source_.input_tensor_num, &inputs));
        TENGINE_RETURN_IF_ERROR(
            read_ends(record_.outputs, "outputs", source_.output_tensor_num, &outputs));
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_input_tensor(&graph_, inputs.data(), static_cast<int>(inputs.size())));
        return set_ir_graph_output_tensor(&graph_, outputs.data(),
                                          static_cast<int>(outputs.size()));
    }

    int find_device(uint32_t offset, struct device** out_device)
    {
        std::string_view name;
        TENGINE_RETURN_IF_ERROR(reading_.file.read_string(offset, "the name of a device", &name));
        *out_device = find_device_via_name(String(name).c_str());
        if (*out_device) return TENGINE_OK;
        return tengine_error_set(TENGINE_ENOENT,
                                 "it has a part for the device %s, which there is "
                                 "not here",
                                 quote(name).c_str());
    }

    int read_parts()
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(
            read_list(record_.parts, sizeof(PreparedPartRecord), "parts", -1, &list));
        for (uint32_t i = 0; i < list.count(); ++i) {
            const auto record = list.get<PreparedPartRecord>(i);
            struct device* device = nullptr;
            TENGINE_RETURN_IF_ERROR(find_device(record.device, &device));
            TENGINE_RETURN_IF_ERROR(reading_.budget.charge(sizeof(struct subgraph)));
            if (!create_ir_subgraph(&graph_, device))
                return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        }
        nodes_of_.resize(list.count());
        return TENGINE_OK;
    }

    int read_refusal(const PreparedRefusalRecord& record, struct node& node)
    {
        ir_verdict_t verdict = {};
        struct device* device = nullptr;
        TENGINE_RETURN_IF_ERROR(find_device(record.device, &device));
        std::string_view attribute, value, message;
        TENGINE_RETURN_IF_ERROR(
            reading_.file.read_string(record.attribute, "an attribute", &attribute));
        TENGINE_RETURN_IF_ERROR(reading_.file.read_string(record.value, "its value", &value));
        TENGINE_RETURN_IF_ERROR(reading_.file.read_string(record.message, "a reason", &message));
        if (record.verdict < IR_VERDICT_NO || record.verdict > IR_VERDICT_NOT_WORTH ||
            record.code < IR_REASON_NONE || record.code > IR_REASON_COMPILER)
            return tengine_error_set(TENGINE_EFORMAT, "node '%s' has verdict %d for reason %d",
                                     node.name, record.verdict, record.code);
        refuse_ir_node(&verdict, record.code, String(attribute).c_str(), String(value).c_str(),
                       "%s", String(message).c_str());
        verdict.verdict = record.verdict;
        TENGINE_RETURN_IF_ERROR(reading_.budget.charge(2 * sizeof(ir_refusal_t)));
        return add_ir_node_refusal(&node, device, &verdict);
    }

    int complete_node(const PreparedNodeRecord& record, struct node& node)
    {
        const struct subgraph* part =
            get_ir_graph_subgraph(&graph_, static_cast<int>(std::min(record.part, 0x7fffffffu)));
        if (!part || record.source < -1 || record.source >= source_.node_num)
            return tengine_error_set(TENGINE_EFORMAT, "node '%s' is in part %u, for node %d of %d",
                                     node.name, record.part, record.source, source_.node_num);
        node.core->source_index = record.source;
        node.core->group = record.group;
        node.core->keep_float = record.keep_float != 0;
        node.subgraph_idx = part->index;
        node.device = part->device;
        nodes_of_[record.part].push_back(node.index);
        VectorView refusals;
        TENGINE_RETURN_IF_ERROR(
            read_list(record.refusals, sizeof(PreparedRefusalRecord), "refusals", -1, &refusals));
        for (uint32_t i = 0; i < refusals.count(); ++i)
            TENGINE_RETURN_IF_ERROR(read_refusal(refusals.get<PreparedRefusalRecord>(i), node));
        return TENGINE_OK;
    }

    int complete_nodes()
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(
            read_list(record_.nodes, sizeof(PreparedNodeRecord), "nodes", graph_.node_num, &list));
        for (uint32_t i = 0; i < list.count(); ++i)
            TENGINE_RETURN_IF_ERROR(
                complete_node(list.get<PreparedNodeRecord>(i), *graph_.node_list[i]));
        return TENGINE_OK;
    }

    // A part reads what it or parts before it write.
    int check_part_order(const struct node& node) const
    {
        for (int i = 0; i < node.input_num; ++i) {
            const struct tensor* input = get_ir_node_input(&node, i);
            const struct node* writer =
                input ? get_ir_graph_node(&graph_, input->producer) : nullptr;
            if (writer && writer->subgraph_idx > node.subgraph_idx)
                return tengine_error_set(TENGINE_EGRAPH, "part %d reads what part %d writes",
                                         node.subgraph_idx, writer->subgraph_idx);
        }
        return TENGINE_OK;
    }

    int fill_parts()
    {
        for (size_t i = 0; i < nodes_of_.size(); ++i) {
            if (nodes_of_[i].empty())
                return tengine_error_set(TENGINE_EGRAPH, "part %zu has no nodes", i);
            TENGINE_RETURN_IF_ERROR(
                set_ir_subgraph_nodes(get_ir_graph_subgraph(&graph_, static_cast<int>(i)),
                                      nodes_of_[i].data(), static_cast<int>(nodes_of_[i].size())));
        }
        for (int i = 0; i < graph_.node_num; ++i)
            TENGINE_RETURN_IF_ERROR(check_part_order(*graph_.node_list[i]));
        return connect_ir_subgraphs(&graph_);
    }

    int read_shape(const PreparedShapeRecord& record, ir_settled_shape_t* out_shape)
    {
        VectorView dims;
        TENGINE_RETURN_IF_ERROR(
            reading_.file.read_vector(record.dims, sizeof(int32_t), "a shape", &dims));
        if (record.source < 0 || record.source >= source_.tensor_num ||
            dims.count() > MAX_SHAPE_DIM_NUM)
            return tengine_error_set(TENGINE_EFORMAT,
                                     "tensor %d of %d has a shape of %u dimensions", record.source,
                                     source_.tensor_num, dims.count());
        out_shape->source_index = record.source;
        out_shape->dim_num = static_cast<int32_t>(dims.count());
        for (uint32_t i = 0; i < dims.count(); ++i)
            out_shape->dims[i] = dims.get<int32_t>(i);
        return TENGINE_OK;
    }

    int read_settled()
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(
            read_list(record_.settled, sizeof(PreparedShapeRecord), "shapes", -1, &list));
        TENGINE_RETURN_IF_ERROR(
            reading_.budget.charge(uint64_t{list.count()} * 2 * sizeof(ir_settled_shape_t)));
        vector_t*& shapes = graph_.core->settled_shapes;
        shapes = create_vector(sizeof(ir_settled_shape_t), nullptr);
        if (!shapes) return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        for (uint32_t i = 0; i < list.count(); ++i) {
            ir_settled_shape_t shape = {};
            TENGINE_RETURN_IF_ERROR(read_shape(list.get<PreparedShapeRecord>(i), &shape));
            if (push_vector_data(shapes, &shape) < 0)
                return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        }
        return TENGINE_OK;
    }

    // The parts are checked here. The planners compare the blocks with those that they need.
    int add_block(const PreparedBlockRecord& record, int last_part)
    {
        if (record.part < last_part || record.part >= get_vector_num(graph_.subgraph_list))
            return tengine_error_set(TENGINE_EFORMAT,
                                     "a block of memory is in part %d of %d, after one of part %d",
                                     record.part, get_vector_num(graph_.subgraph_list), last_part);
        const ir_arena_block_t block = {record.offset, record.bytes, record.memory, record.part};
        if (push_vector_data(graph_.core->planned_blocks, &block) < 0)
            return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        ++get_ir_graph_subgraph(&graph_, record.part)->core->planned_block_num;
        return TENGINE_OK;
    }

    int read_blocks()
    {
        VectorView list;
        TENGINE_RETURN_IF_ERROR(
            read_list(record_.blocks, sizeof(PreparedBlockRecord), "blocks", -1, &list));
        TENGINE_RETURN_IF_ERROR(
            reading_.budget.charge(uint64_t{list.count()} * sizeof(ir_arena_block_t)));
        vector_t*& blocks = graph_.core->planned_blocks;
        blocks = create_vector(sizeof(ir_arena_block_t), nullptr);
        if (!blocks) return tengine_error_set(TENGINE_ENOMEM, kNoMemory);
        int part = 0;
        for (uint32_t i = 0; i < list.count(); ++i) {
            const auto record = list.get<PreparedBlockRecord>(i);
            TENGINE_RETURN_IF_ERROR(add_block(record, part));
            part = record.part;
        }
        for (int i = 0, first = 0; i < get_vector_num(graph_.subgraph_list); ++i) {
            ir_subgraph_core_t* core = get_ir_graph_subgraph(&graph_, i)->core;
            if (core->planned_block_num > 0)
                core->planned_blocks =
                    static_cast<const ir_arena_block_t*>(get_vector_data(blocks, first));
            first += core->planned_block_num;
        }
        return TENGINE_OK;
    }

    struct graph& graph_;
    const struct graph& source_;
    Reading reading_;
    const size_t size_;
    PreparedRecord record_ = {};
    Vector<Vector<int32_t>> nodes_of_;  // by part
};

int write(const struct graph* execution, const struct vector* blocks, ir_sink* sink)
{
    return guarded([=] { return Writer(*execution, *blocks).run(sink); }, kNoMemory);
}

int read(struct graph* execution, const void* data, size_t size)
{
    const auto* bytes = static_cast<const char*>(data);
    return guarded([=] { return Reader(*execution, bytes, size).run(bytes); }, kNoMemory);
}

int measure_memory(const char* bytes, size_t size, ir_prepared_memory_t* out_memory)
{
    PreparedRecord record;
    TENGINE_RETURN_IF_ERROR(read_head(bytes, size, &record));
    VectorView parts;
    TENGINE_RETURN_IF_ERROR(FileView(bytes, size)
                                .read_vector(record.parts, sizeof(PreparedPartRecord),
                                             "the parts of a preparation", &parts));
    *out_memory = {};
    out_memory->part_num = static_cast<int>(parts.count());
    out_memory->between = static_cast<int64_t>(record.between_bytes);
    for (uint32_t i = 0; i < parts.count(); ++i)
        out_memory->arenas += static_cast<int64_t>(parts.get<PreparedPartRecord>(i).arena);
    return TENGINE_OK;
}

int measure(const void* data, size_t size, ir_prepared_memory_t* out_memory)
{
    const auto* bytes = static_cast<const char*>(data);
    return guarded([=] { return measure_memory(bytes, size, out_memory); }, kNoMemory);
}

constexpr ir_prepared_format_t kFormat = {IS_RUNTIME_ONLY ? nullptr : write, read, measure};

}  // namespace

const ir_prepared_format_t* find_prepared_format()
{
    return &kFormat;
}

}  // namespace tengine::tmfile
