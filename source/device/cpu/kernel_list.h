// SPDX-License-Identifier: Apache-2.0
// All kernels by operator, in the order in which they are asked.
#pragma once

#include "base/maps.hpp"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// Whether the kernel is from reference/, as an operator's last one is; custom kernels are not.
bool is_reference(const Kernel& kernel);

class KernelList : public Allocated
{
  public:
    // Sorts the generated tables by operator id and in the order of implementations.h. EINTERNAL:
    // names a kernel that is missing in that order or has an unregistered operator.
    int fill();

    // Removes all kernels except those of reference/.
    void keep_references();
    bool has_references_only() const { return has_references_only_; }

    // Returns the kernels of an operator, in the order in which they are asked; empty if there are
    // none.
    const Vector<const Kernel*>& of_operator(int type) const;
    // Returns the first kernel for the layout that accepts the node and pays; null if none does.
    // Every node that has any kernel has one for NCHW.
    const Kernel* pick(const node& node, Layout layout = Layout::kPlanar) const;
    // Returns the kernel of a step with data that is not constant, in the layout that the kernel
    // leads to.
    const Kernel* pick_usual(const node& node) const;

    // Returns the types of the operators, ascending.
    Vector<int> operators() const;

  private:
    Map<int, Vector<const Kernel*>> by_type_;
    // A member, since a function's static would need the heap at exit().
    Vector<const Kernel*> none_;
    bool has_references_only_ = false;
};

}  // namespace tengine::cpu
