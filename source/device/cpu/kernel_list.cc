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
    for (const Implementations& row : implementations)
        if (!std::strcmp(row.op, op)) return row.names;
    return nullptr;
}

const Kernel* find_kernel(const Vector<const Kernel*>& kernels, const char* name)
{
    const auto found = std::find_if(kernels.begin(), kernels.end(), [name](const Kernel* kernel) {
        return !std::strcmp(kernel->name, name);
    });
    return found == kernels.end() ? nullptr : *found;
}

bool has_name(const char* const* names, const char* name)
{
    for (int i = 0; names && i < Implementations::kMost && names[i]; ++i)
        if (!std::strcmp(names[i], name)) return true;
    return false;
}

// Sorts the kernels of an operator by the list, which names all of them.
int sort_kernels(Vector<const Kernel*>& kernels)
{
    if (kernels.size() == 1) return TENGINE_OK;
    const char* op = kernels.front()->op;
    const char* const* order = find_order(op);
    for (const Kernel* kernel : kernels)
        if (!has_name(order, kernel->name))
            return tengine_error_set(
                TENGINE_EINTERNAL,
                "implementation '%s' of %s is missing in the CPU device's list of implementations",
                kernel->name, op);
    Vector<const Kernel*> sorted;
    for (int i = 0; i < Implementations::kMost && order[i]; ++i)
        if (const Kernel* kernel = find_kernel(kernels, order[i])) sorted.push_back(kernel);
    kernels.swap(sorted);
    return TENGINE_OK;
}

bool is_expected(const Kernel& kernel, const node& node)
{
    return (!kernel.accepts || kernel.accepts(node)) && (!kernel.pays || kernel.pays(node));
}

}  // namespace

bool is_reference(const Kernel& kernel)
{
    return std::strncmp(kernel.name, "reference", sizeof "reference" - 1) == 0;
}

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

void KernelList::keep_references()
{
    for (auto& entry : by_type_) {
        Vector<const Kernel*>& kernels = entry.second;
        if (is_reference(*kernels.back()))
            kernels.erase(kernels.begin(),
                          std::find_if(kernels.begin(), kernels.end(),
                                       [](const Kernel* kernel) { return is_reference(*kernel); }));
    }
    has_references_only_ = true;
}

const Vector<const Kernel*>& KernelList::of_operator(int type) const
{
    const auto found = by_type_.find(type);
    return found == by_type_.end() ? none_ : found->second;
}

const Kernel* KernelList::pick(const node& node, Layout layout) const
{
    for (const Kernel* kernel : of_operator(node.op.type)) {
        const bool fits = kernel->layout == layout || kernel->layout == Layout::kAny;
        if (fits && is_expected(*kernel, node)) return kernel;
    }
    return nullptr;
}

const Kernel* KernelList::pick_usual(const node& node) const
{
    const Kernel* kernel = pick(node, Layout::kChannelsLast);
    return kernel && kernel->leads ? kernel : pick(node);
}

Vector<int> KernelList::operators() const
{
    Vector<int> types;
    for (const auto& entry : by_type_)
        types.push_back(entry.first);
    return types;
}

}  // namespace tengine::cpu
