// SPDX-License-Identifier: Apache-2.0
// All kernels by operator, in the order in which they are asked.
#pragma once

#include "base/maps.hpp"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// Whether it is a kernel of reference/, as an operator's last one is; custom kernels are not.
bool is_reference(const Kernel& kernel);

class KernelList : public Allocated
{
  public:
    // Sorts the generated tables by operator id and in the order of implementations.h. EINTERNAL
    // names a kernel that is not in that order or whose operator is not registered.
    int fill();

    // Leaves only the kernels of reference/ for each operator.
    void keep_references();
    bool has_references_only() const { return has_references_only_; }

    // The kernels of an operator, in the order in which they are asked; empty when there are none.
    const Vector<const Kernel*>& of_operator(int type) const;
    // The first kernel for the layout that accepts the node and pays; null when none does. Every
    // node that has a kernel at all has one for NCHW.
    const Kernel* pick(const node& node, Layout layout = Layout::kPlanar) const;
    // The kernel of a step whose data is not constant, in the layout that it leads to.
    const Kernel* pick_usual(const node& node) const;

    // The types of the operators, ascending.
    Vector<int> operators() const;

  private:
    Map<int, Vector<const Kernel*>> by_type_;
    // A member: one made at first use would take its place at exit() from the heap then.
    Vector<const Kernel*> none_;
    bool has_references_only_ = false;
};

}  // namespace tengine::cpu
