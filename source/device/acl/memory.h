// SPDX-License-Identifier: Apache-2.0
// Memory of a part as ACL plans it, with two managers: one for the tensors between functions and
// one for memory of functions during their run. Functions run one after the other, so each manager
// has one pool.
#pragma once

#include <arm_compute/runtime/Allocator.h>
#include <arm_compute/runtime/IMemoryManager.h>
#include <arm_compute/runtime/MemoryGroup.h>
#include <cstdint>
#include <memory>

#include "device/acl/acl_version.h"

namespace tengine::acl {

// The default allocator, with a count of bytes.
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

// Bytes of the process's heap in use, which contains the rearranged weights of ACL's functions; 0
// if the C library does not report it.
int64_t count_heap();

class PartMemory
{
  public:
    PartMemory();

    // For functions that take a manager.
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
