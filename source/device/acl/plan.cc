// SPDX-License-Identifier: Apache-2.0
#include "device/acl/plan.h"

#include <algorithm>

#include "base/alloc.h"
#include "base/clock.h"
#include "device/acl/operator_table.h"
#include "device/acl/scheduler.h"
#include "graph/core.h"

namespace tengine::acl {
namespace {

bool is_same(const TensorInfo& a, const TensorInfo& b)
{
    return a.tensor_shape() == b.tensor_shape() && a.data_type() == b.data_type() &&
           a.quantization_info() == b.quantization_info();
}

bool is_aligned(const void* data)
{
    return reinterpret_cast<uintptr_t>(data) % sizeof(float) == 0;
}

}  // namespace

// ---- tensors ----

Plan::Value& Plan::find(const tensor& of)
{
    std::unique_ptr<Value>& value = values_[of.index];
    if (value) return *value;
    value = std::make_unique<Value>();
    value->host = &of;
    value->memory.allocator()->init(to_acl_info(of));
    const auto role = roles_.find(of.index);
    if (role != roles_.end()) value->role = role->second;
    if (building_ && value->role == Role::kInside) {
        memory_.begin_life(&value->memory);
        value->alive = true;
    }
    return *value;
}

ITensor* Plan::value(const tensor& of)
{
    return &find(of).memory;
}

ITensor* Plan::alias(const tensor& of, const TensorInfo& as)
{
    Value& value = find(of);
    for (const std::unique_ptr<Alias>& alias : value.aliases)
        if (is_same(static_cast<const TensorInfo&>(*alias->info()), as)) return alias.get();
    value.aliases.push_back(std::make_unique<Alias>(as, &value.memory));
    return value.aliases.back().get();
}

ITensor* Plan::constant(const tensor& of, const TensorInfo& as, size_t offset)
{
    const void* data = static_cast<const char*>(of.data) + offset;
    for (const std::unique_ptr<Constant>& constant : constants_) {
        if (constant->data != data || !is_same(constant->wanted, as)) continue;
        ++constant->uses;
        return &constant->memory;
    }
    constants_.push_back(std::make_unique<Constant>());
    Constant& made = *constants_.back();
    made.data = data;
    made.wanted = as;
    made.uses = 1;
    made.memory.allocator()->init(as);
    return &made.memory;
}

ITensor* Plan::constant(const TensorInfo& info, std::vector<uint8_t> bytes)
{
    constants_.push_back(std::make_unique<Constant>());
    Constant& made = *constants_.back();
    made.bytes = std::move(bytes);
    made.data = made.bytes.data();
    made.wanted = info;
    made.uses = 1;
    made.memory.allocator()->init(info);
    return &made.memory;
}

ITensor* Plan::temporary(const TensorInfo& info)
{
    temporaries_.push_back(std::make_unique<arm_compute::Tensor>());
    arm_compute::Tensor& made = *temporaries_.back();
    made.allocator()->init(info);
    if (building_) memory_.begin_life(&made);
    return &made;
}

// ---- building ----

int Plan::create(const subgraph& part, const Settings& settings, std::unique_ptr<Plan>* out_plan)
{
    const int64_t heap_before = count_heap();
    auto plan = std::make_unique<Plan>();
    plan->building_ = true;
    TENGINE_RETURN_IF_ERROR(share_graph_pool(*part.graph, &plan->pool_));
    const UsePool use(plan->pool_.get());
    TENGINE_RETURN_IF_ERROR(plan->build(part, settings));
    plan->place();
    plan->prepare();
    if (part.graph->run_options->profile)
        plan->times_.assign(static_cast<size_t>(part.node_num), int64_t{-1});
    plan->count_compiled(heap_before);
    *out_plan = std::move(plan);
    return TENGINE_OK;
}

void Plan::find_last_uses(const subgraph& part)
{
    for (int i = 0; i < part.node_num; ++i) {
        const node& node = *part.graph->node_list[part.node_list[i]];
        for (int k = 0; k < node.input_num; ++k)
            last_uses_[node.input_tensors[k]] = i;
        for (int k = 0; k < node.output_num; ++k)
            last_uses_[node.output_tensors[k]] = i;
    }
}

int Plan::build(const subgraph& part, const Settings& settings)
{
    for (int i = 0; i < part.input_num; ++i)
        roles_[part.input_tensor_list[i]] = Role::kInput;
    for (int i = 0; i < part.output_num; ++i)
        roles_[part.output_tensor_list[i]] = Role::kOutput;
    find_last_uses(part);
    fused_.assign(static_cast<size_t>(part.node_num), false);
    for (node_ = 0; node_ < part.node_num; ++node_) {
        const node& node = *part.graph->node_list[part.node_list[node_]];
        if (!fused_[static_cast<size_t>(node_)])
            TENGINE_RETURN_IF_ERROR(build_node(node, settings));
        end_lives(node);
    }
    return TENGINE_OK;
}

int Plan::build_node(const node& node, const Settings& settings)
{
    const struct node* activation = find_activation(node, settings);
    ir_verdict_t verdict = {};
    Builder builder(node, settings, activation, this, &verdict);
    if (!acl::build_node(builder) || !builder.finish())
        return tengine_error_set(TENGINE_EOPERATOR, "%s '%s': %s", get_ir_node_op(&node), node.name,
                                 verdict.message);
    return TENGINE_OK;
}

// The activation that the node's functions can compute: it is the only reader of the node's output.
// It is marked as fused.
const node* Plan::find_activation(const node& node, const Settings& settings)
{
    const tensor* output = get_ir_node_output(&node, 0);
    if (!output || output->consumer_num != 1 || roles_.count(output->index) != 0) return nullptr;
    const int reader = output->consumer[0];
    const struct node* candidate = get_ir_graph_node(node.graph, reader);
    ActivationLayerInfo info;
    if (!candidate || !read_activation(*candidate, &info)) return nullptr;
    Plan question;
    ir_verdict_t verdict = {};
    Builder builder(node, settings, candidate, &question, &verdict);
    if (!acl::build_node(builder) || !builder.finish() || !builder.took_activation())
        return nullptr;
    fused_[static_cast<size_t>(reader)] = true;
    return candidate;
}

// Ends the lives of the tensors whose last use is the node that has just been built.
void Plan::end_lives(const node& node)
{
    const auto end = [this](const int32_t* tensors, int number) {
        for (int i = 0; i < number; ++i) {
            const auto value = values_.find(tensors[i]);
            if (value == values_.end() || !value->second->alive) continue;
            if (last_uses_.at(tensors[i]) <= node_) end_life(*value->second);
        }
    };
    end(node.input_tensors, node.input_num);
    end(node.output_tensors, node.output_num);
    for (; ended_temporaries_ < temporaries_.size(); ++ended_temporaries_)
        PartMemory::end_life(temporaries_[ended_temporaries_].get());
}

namespace {

// Gives a tensor and its aliases the largest padding that any of them needs.
template <class Aliases>
void unite_padding(arm_compute::Tensor& tensor, const Aliases& aliases)
{
    for (const auto& alias : aliases)
        tensor.info()->extend_padding(alias->info()->padding());
    for (const auto& alias : aliases)
        alias->info()->extend_padding(tensor.info()->padding());
}

}  // namespace

void Plan::end_life(Value& value)
{
    unite_padding(value.memory, value.aliases);
    PartMemory::end_life(&value.memory);
    value.alive = false;
}

// ---- memory ----

void Plan::place()
{
    for (const auto& [index, value] : values_)
        if (value->role != Role::kInside) place_boundary(*value);
    for (const std::unique_ptr<Constant>& constant : constants_)
        place_constant(*constant);
    memory_.allocate();
}

void Plan::place_boundary(Value& value)
{
    unite_padding(value.memory, value.aliases);
    value.copied = value.memory.info()->has_padding();
    if (!value.copied) return;
    value.memory.allocator()->allocate();
    boundary_bytes_ += value.memory.info()->total_size();
}

void Plan::place_constant(Constant& constant)
{
    constant.copied = constant.memory.info()->has_padding() || !is_aligned(constant.data);
    if (constant.copied) {
        constant.memory.allocator()->allocate();
        copy_in(constant.data, &constant.memory);
    } else {
        // Functions do not write to their constants.
        constant.memory.allocator()->import_memory(const_cast<void*>(constant.data));
    }
}

// Functions rearrange their weights here; memory that they do not need afterwards is freed.
void Plan::prepare()
{
    for (const Step& step : steps_)
        step.function->prepare();
    for (const std::unique_ptr<Constant>& constant : constants_) {
        if (constant->memory.is_used() || constant->uses > 1) continue;
        if (constant->copied) constant->memory.allocator()->free();
        constant->bytes = {};
    }
}

void Plan::count_compiled(int64_t heap_before)
{
    const int64_t grown = count_heap() - heap_before - static_cast<int64_t>(arena_bytes());
    compiled_bytes_ = static_cast<size_t>(std::max<int64_t>(grown, 0));
}

// ---- running ----

void Plan::import_boundaries()
{
    for (const auto& [index, value] : values_) {
        if (value->role == Role::kInside || value->copied || value->imported == value->host->data)
            continue;
        value->memory.allocator()->import_memory(value->host->data);
        value->imported = value->host->data;
    }
}

// A cancelled run may end between two functions.
int Plan::run_step(const subgraph& part, const Step& step)
{
    TENGINE_RETURN_IF_ERROR(check_ir_run(part.graph->core->run));
    step.function->run();
    return TENGINE_OK;
}

int Plan::run_steps(const subgraph& part)
{
    for (const Step& step : steps_)
        TENGINE_RETURN_IF_ERROR(run_step(part, step));
    return TENGINE_OK;
}

int Plan::run_profiled(const subgraph& part)
{
    std::fill(times_.begin(), times_.end(), int64_t{-1});
    uint64_t start = get_time_ns();
    for (const Step& step : steps_) {
        TENGINE_RETURN_IF_ERROR(run_step(part, step));
        const uint64_t end = get_time_ns();
        int64_t& time = times_[static_cast<size_t>(step.node)];
        time = std::max<int64_t>(time, 0) + static_cast<int64_t>(end - start);
        start = end;
    }
    return TENGINE_OK;
}

int Plan::run(const subgraph& part)
{
    const UsePool use(pool_.get());
    import_boundaries();
    for (const auto& [index, value] : values_)
        if (value->role == Role::kInput && value->copied)
            copy_in(value->host->data, &value->memory);
    {
        arm_compute::MemoryGroupResourceScope memory(memory_.group());
        TENGINE_RETURN_IF_ERROR(times_.empty() ? run_steps(part) : run_profiled(part));
    }
    for (const auto& [index, value] : values_)
        if (value->role == Role::kOutput && value->copied)
            copy_out(value->memory, value->host->data);
    return TENGINE_OK;
}

void Plan::copy_times(int64_t* out_ns) const
{
    if (times_.empty())
        std::fill_n(out_ns, fused_.size(), int64_t{-1});
    else
        std::copy(times_.begin(), times_.end(), out_ns);
}

}  // namespace tengine::acl
