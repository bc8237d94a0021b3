// SPDX-License-Identifier: Apache-2.0
// Memory of a part as ACL plans it: two managers, one for the tensors between functions and one for
// what functions need while they run. Functions run one after the other, so one pool each will do.
#pragma once

#include <arm_compute/runtime/Allocator.h>
#include <arm_compute/runtime/IMemoryManager.h>
#include <arm_compute/runtime/MemoryGroup.h>
#include <cstdint>
#include <memory>

#include "device/acl/acl_version.h"

namespace tengine::acl {

// The default allocator, counting.
class CountingAllocator final : public arm_compute::IAllocator
{
  public:
    void* allocate(size_t size, size_t alignment) override;
    void free(void* memory) override;
    std::unique_ptr<arm_compute::IMemoryRegion> make_region(size_t size, size_t alignment) override;

    size_t bytes() const { return bytes_; }

  private:
    arm_compute::Allocator allocator_;
    size_t bytes_ = 0;
};

// Bytes of the process' heap in use, which is where ACL's functions have their rearranged weights;
// 0 where the C library does not tell.
int64_t count_heap();

class PartMemory
{
  public:
    PartMemory();

    // For functions that take one.
    const std::shared_ptr<arm_compute::IMemoryManager>& inside_functions() { return inside_; }

    // The life of a tensor between functions: begins before the function that writes it is
    // configured, ends after the last one that reads it is.
    void begin_life(arm_compute::Tensor* tensor) { group_.manage(tensor); }
    static void end_life(arm_compute::Tensor* tensor) { tensor->allocator()->allocate(); }

    // To be called once all lives have ended.
    void allocate();
    // Acquired around every run.
    arm_compute::IMemoryGroup& group() { return group_; }
    size_t bytes() const { return allocator_.bytes(); }

  private:
    CountingAllocator allocator_;
    std::shared_ptr<arm_compute::IMemoryManager> inside_, between_;
    arm_compute::MemoryGroup group_;
};

}  // namespace tengine::acl
