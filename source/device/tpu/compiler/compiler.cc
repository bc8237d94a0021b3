// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/compiler.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/float_to_index.h"
#include "base/guard.hpp"
#include "base/memory_plan.h"
#include "device/tpu/compiler/cost.h"
#include "device/tpu/compiler/product_layer.h"
#include "device/tpu/compiler/read.h"
#include "device/tpu/compiler/stage_emit.h"
#include "device/tpu/compiler/tiles.h"

namespace tengine::tpu {
namespace {

constexpr size_t kHostAlignment = 64;

// The tensors of a list, without absent ones.
std::set<int> tensors_of(const int32_t* tensors, int number)
{
    std::set<int> known;
    std::copy_if(tensors, tensors + number, std::inserter(known, known.end()),
                 [](int index) { return index >= 0; });
    return known;
}

int read_part(const subgraph& part, NetworkBuilder* builder)
{
    builder->set_inputs(tensors_of(part.input_tensor_list, part.input_num));
    builder->set_outputs(tensors_of(part.output_tensor_list, part.output_num));
    for (int i = 0; i < part.node_num; ++i) {
        const node& node = *get_ir_graph_node(part.graph, part.node_list[i]);
        ir_verdict_t verdict = {};
        builder->set_node(i);
        if (!read_node({node, *builder, &verdict}))
            return tengine_error_set(TENGINE_EOPERATOR, "TPU: node '%s' (%s): %s", node.name,
                                     get_ir_node_op(&node), verdict.message);
    }
    builder->finish();
    return TENGINE_OK;
}

// Reads the node as if it were a part.
bool read_single(const node& node, const Config& config, Network* network, ir_verdict_t* verdict)
{
    NetworkBuilder builder(config, network);
    builder.set_inputs(tensors_of(node.input_tensors, node.input_num));
    builder.set_outputs(tensors_of(node.output_tensors, node.output_num));
    if (!read_node({node, builder, verdict})) return false;
    builder.finish();
    return true;
}

// The state of a compilation between network and program.
class Compilation
{
  public:
    Compilation(const subgraph& part, const Config& config, Program* program)
        : part_(part), config_(config), program_(*program), emitter_(config, program)
    {
    }

    int run()
    {
        NetworkBuilder builder(config_, &network_);
        TENGINE_RETURN_IF_ERROR(read_part(part_, &builder));
        TENGINE_RETURN_IF_ERROR(make_plan(network_, config_, &plan_));
        TENGINE_RETURN_IF_ERROR(
            make_tiles(*part_.graph, config_, list_products(), &program_.weights));
        for (const Stage& stage : plan_.stages) {
            blobs_.emplace_back();
            for (Layer* layer : stage.layers)
                blobs_.back().push_back(layer->pack(emitter_));
        }
        TENGINE_RETURN_IF_ERROR(place_in_host(builder));
        for (size_t i = 0; i < plan_.stages.size(); ++i)
            emit_stage(network_, plan_, i, blobs_[i], &emitter_);
        emitter_.finish();
        program_.fingerprint = fingerprint_of(config_);
        for (int i = 0; i < part_.node_num; ++i)
            program_.nodes.emplace_back(get_ir_graph_node(part_.graph, part_.node_list[i])->name);
        return TENGINE_OK;
    }

  private:
    std::vector<ProductLayer*> list_products() const;
    int place_in_host(NetworkBuilder& builder);
    void add_binding(NetworkBuilder& builder, int tensor_index, bool is_output);

    const subgraph& part_;
    const Config& config_;
    Program& program_;
    Emitter emitter_;
    Network network_;
    Plan plan_;
    std::vector<std::vector<std::vector<uint64_t>>> blobs_;  // by stage and layer
};

std::vector<ProductLayer*> Compilation::list_products() const
{
    std::vector<ProductLayer*> products;
    for (const Stage& stage : plan_.stages)
        for (Layer* layer : stage.layers)
            if (auto* product = dynamic_cast<ProductLayer*>(layer)) products.push_back(product);
    return products;
}

void Compilation::add_binding(NetworkBuilder& builder, int tensor_index, bool is_output)
{
    const tensor& tensor = *get_ir_graph_tensor(part_.graph, tensor_index);
    const Ref ref = builder.ref(tensor);
    plan_.homes.resize(network_.values.size());
    Home& home = plan_.homes[static_cast<size_t>(ref.value)];
    home.host = program_.host_bytes;
    program_.host_bytes +=
        (get_ir_tensor_bytes(&tensor) + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
    Binding binding;
    binding.name = tensor.name;
    binding.is_output = is_output;
    binding.data_type = tensor.data_type;
    binding.channels_last = tensor.dim_num == 4;
    binding.dims.assign(tensor.dims, tensor.dims + tensor.dim_num);
    binding.address = home.host;
    program_.bindings.push_back(std::move(binding));
}

// Assigns host memory: constants first, then inputs and outputs, then values that are not kept in
// the buffer, which share memory when their lifetimes do not overlap.
int Compilation::place_in_host(NetworkBuilder& builder)
{
    for (size_t i = 0; i < network_.values.size(); ++i) {
        const Value& value = network_.values[i];
        if (value.is_constant)
            plan_.homes[i].host = emitter_.add_constant(value.data.data(), value.data.size());
    }
    program_.constants.resize((program_.constants.size() + kHostAlignment - 1) / kHostAlignment *
                              kHostAlignment);
    program_.host_bytes = program_.constants.size();
    for (int index : tensors_of(part_.input_tensor_list, part_.input_num))
        add_binding(builder, index, false);
    for (int index : tensors_of(part_.output_tensor_list, part_.output_num))
        add_binding(builder, index, true);

    std::map<int, memory_block_t> lives;
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
        const Stage& stage = plan_.stages[s];
        const auto touch = [&](const Ref& ref) {
            const Value& value = network_.values[static_cast<size_t>(ref.value)];
            if (value.is_constant || value.is_input || value.is_output ||
                plan_.homes[static_cast<size_t>(ref.value)].resident)
                return;
            const auto now = static_cast<int32_t>(s);
            const auto size = static_cast<size_t>(value.bytes());
            lives.insert({ref.value, {size, now, now, 0}}).first->second.last_use = now;
        };
        for (const Source& source : stage.sources)
            touch(stage.input(source));
        touch(stage.output());
    }
    std::vector<memory_block_t> blocks;
    for (const auto& [value, block] : lives)
        blocks.push_back(block);
    size_t total = 0;
    TENGINE_RETURN_IF_ERROR(
        plan_memory(blocks.data(), static_cast<int64_t>(blocks.size()), kHostAlignment, &total));
    size_t index = 0;
    for (const auto& [value, block] : lives)
        plan_.homes[static_cast<size_t>(value)].host = program_.host_bytes + blocks[index++].offset;
    program_.host_bytes += total;
    return TENGINE_OK;
}

// Cycles of a layer alone: those of the array, or of the vector unit.
double layer_cycles(const Layer& layer, const Config& config)
{
    const double elements = static_cast<double>(layer.output.shape.elements());
    const auto* product = dynamic_cast<const ProductLayer*>(&layer);
    if (!product) return elements * layer.element_bytes / config.vector_lanes;
    const double width = product->is_float ? 4 : product->is_wide() ? 2 : 1;
    const double vectors = elements / layer.output.shape.c;
    const double fetch = tile_cycles(config) * (product->is_wide() ? 2 : 1);
    return static_cast<double>(product->tile_number()) * std::max(vectors * width, fetch);
}

}  // namespace

void judge_node(const node& node, const Config& config, ir_verdict_t* out_verdict)
{
    Network network;
    Plan plan;
    if (!read_single(node, config, &network, out_verdict)) return;
    if (make_plan(network, config, &plan) != TENGINE_OK)
        refuse_ir_node(out_verdict, IR_REASON_SHAPE, "", "", "%s", tengine_error_message());
}

int64_t predict_cycles(const node& node, const Config& config)
{
    Network network;
    ir_verdict_t verdict = {};
    if (!read_single(node, config, &network, &verdict)) return 0;
    double compute = 0, bytes = 0;
    for (const auto& layer : network.layers) {
        compute += layer_cycles(*layer, config);
        for (const Ref& input : layer->inputs)
            bytes += static_cast<double>(input.shape.elements()) * layer->element_bytes;
        bytes += static_cast<double>(layer->output.shape.elements()) * layer->element_bytes;
    }
    return float_to_index(std::max(compute, host_cycles(config, bytes)) + config.dma_latency, 0,
                          INT64_MAX);
}

int compile_part(const subgraph& part, const Config& config, Program* out_program)
{
    return guarded(
        [&]() -> int {
            *out_program = {};
            return Compilation(part, config, out_program).run();
        },
        "TPU: out of memory while compiling %d nodes", part.node_num);
}

}  // namespace tengine::tpu
