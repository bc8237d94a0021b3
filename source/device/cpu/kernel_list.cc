// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel_list.h"

#include <algorithm>

#include "base/containers.hpp"
#include "operator/registry.h"

namespace tengine::cpu {

int KernelList::fill()
{
    by_type_.clear();
    for (int t = 0; t < kernel_table_num; t++) {
        const KernelTable& table = *kernel_tables[t];
        for (size_t i = 0; i < table.row_num; i++) {
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
    return TENGINE_OK;
}

const Kernel* KernelList::pick(const node& node) const
{
    const auto kernels = by_type_.find(node.op.type);
    if (kernels == by_type_.end()) return nullptr;
    for (const Kernel* kernel : kernels->second)
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
