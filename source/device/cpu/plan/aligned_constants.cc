// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/aligned_constants.h"

#include <algorithm>
#include <new>

#include "device/cpu/kernel_table.h"
#include "graph/late_constant.h"
#include "operator/infer.h"

namespace tengine::cpu {
namespace {

struct Source
{
    const graph& owner;
    const tensor& constant;
};

void fill(void* memory, void* argument)
{
    const auto& source = *static_cast<const Source*>(argument);
    copy_ir_constant(&source.owner, &source.constant, memory);
}

bool wants_copy(const Step& step, int input)
{
    const tensor* value = step.inputs[static_cast<size_t>(input)];
    if (!value || value->tensor_type != TENSOR_TYPE_CONST || is_ir_constant_readable(value))
        return false;
    const bool is_unaligned_input = step.kernel && step.kernel->unaligned_input == input;
    // A late constant has no bytes that a kernel without prepare() could copy.
    return !is_unaligned_input || (find_ir_late_values(value) && !step.kernel->prepare);
}

// Whether a kernel of the operator may pack the input.
bool may_be_packed(const KernelList& kernels, const Step& step, int input)
{
    const Vector<const Kernel*>& all = kernels.of_operator(step.context.node->op.type);
    return std::any_of(all.begin(), all.end(),
                       [input](const Kernel* kernel) { return kernel->unaligned_input == input; });
}

}  // namespace

AlignedConstants::~AlignedConstants()
{
    for (const Entry& entry : entries_) {
        release_graph_pack(entry.shared, entry.copy->data);
        free_memory(entry.copy);
    }
}

int AlignedConstants::align(Step& step)
{
    for (int i = 0; i < static_cast<int>(step.inputs.size()); ++i)
        if (wants_copy(step, i))
            TENGINE_RETURN_IF_ERROR(find(*step.context.node, &step.inputs[static_cast<size_t>(i)]));
    return TENGINE_OK;
}

int AlignedConstants::align_dynamic(const KernelList& kernels, const Step& step)
{
    for (int i = 0; i < static_cast<int>(step.inputs.size()); ++i)
        if (wants_copy(step, i) && !may_be_packed(kernels, step, i))
            TENGINE_RETURN_IF_ERROR(
                align_ir_constant(step.context.node->graph, step.inputs[static_cast<size_t>(i)]));
    return TENGINE_OK;
}

int AlignedConstants::find(const node& node, tensor** constant)
{
    for (const Entry& entry : entries_)
        if (entry.original == *constant) {
            *constant = entry.copy;
            return TENGINE_OK;
        }
    return add(node, constant);
}

int AlignedConstants::add(const node& node, tensor** constant)
{
    static const char kind = 0;
    const tensor& original = **constant;
    const size_t bytes = get_ir_tensor_bytes(&original);
    const ir_pack_key_t key = {
        &kind, {find_ir_constant_place(&original)}, {static_cast<int64_t>(bytes)}};
    graph_pool* shared = node.graph->core->pool;
    Source source = {*node.graph, original};
    entries_.reserve(entries_.size() + 1);
    void* memory = alloc_memory(sizeof(tensor));
    void* data = memory ? hold_graph_pack(shared, &key, bytes, fill, &source) : nullptr;
    if (!data) {
        free_memory(memory);
        return fail_node(&node, TENGINE_ENOMEM,
                         "out of memory for a copy of constant '%s', %zu bytes", original.name,
                         bytes);
    }
    auto* copy = new (memory) tensor(original);
    copy->index = -1;
    copy->data = data;
    entries_.push_back({*constant, copy, shared});
    *constant = copy;
    return TENGINE_OK;
}

size_t AlignedConstants::bytes() const
{
    size_t sum = entries_.capacity() * sizeof(Entry);
    for (const Entry& entry : entries_)
        sum += sizeof(tensor) + get_graph_pack_share(entry.shared, entry.copy->data);
    return sum;
}

}  // namespace tengine::cpu
