// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel_list.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "device/cpu/implementations.h"
#include "operator/registry.h"

namespace tengine::cpu {
namespace {

const char* const* find_order(const char* op)
{
    for (const Implementations* row = implementations; row->op; ++row)
        if (!std::strcmp(row->op, op)) return row->names;
    return nullptr;
}

// Its place in the order, or kMost.
int rank(const char* const* order, const Kernel& kernel)
{
    int place = 0;
    while (place < Implementations::kMost &&
           (!order[place] || std::strcmp(order[place], kernel.name)))
        ++place;
    return place;
}

int sort_kernels(Vector<const Kernel*>& kernels)
{
    if (kernels.size() == 1) return TENGINE_OK;
    const char* op = kernels.front()->op;
    const char* const* order = find_order(op);
    for (const Kernel* kernel : kernels)
        if (!order || rank(order, *kernel) == Implementations::kMost)
            return tengine_error_set(
                TENGINE_EINTERNAL,
                "implementation '%s' of %s is missing in the CPU device's list of implementations",
                kernel->name, op);
    std::sort(kernels.begin(), kernels.end(), [order](const Kernel* a, const Kernel* b) {
        return rank(order, *a) < rank(order, *b);
    });
    return TENGINE_OK;
}

}  // namespace

int KernelList::fill()
{
    by_type_.clear();
    for (int t = 0; t < kernel_table_num; ++t) {
        const KernelTable& table = *kernel_tables[t];
        for (size_t i = 0; i < table.row_num; ++i) {
            const Kernel& kernel = table.rows[i];
            const int type = get_op_type_by_name(kernel.op);
            if (type < 0)
                return tengine_error_set(TENGINE_EINTERNAL,
                                         "kernel '%s' is for operator '%s', "
                                         "which is not registered",
                                         kernel.name, kernel.op);
            by_type_[type].push_back(&kernel);
        }
    }
    for (auto& entry : by_type_)
        TENGINE_RETURN_IF_ERROR(sort_kernels(entry.second));
    return TENGINE_OK;
}

const Vector<const Kernel*>& KernelList::of_operator(int type) const
{
    const auto found = by_type_.find(type);
    return found == by_type_.end() ? none_ : found->second;
}

const Kernel* KernelList::pick(const node& node) const
{
    for (const Kernel* kernel : of_operator(node.op.type))
        if (!kernel->accepts || kernel->accepts(node)) return kernel;
    return nullptr;
}

Vector<int> KernelList::operators() const
{
    Vector<int> types;
    for (const auto& entry : by_type_)
        types.push_back(entry.first);
    std::sort(types.begin(), types.end());
    return types;
}

}  // namespace tengine::cpu
