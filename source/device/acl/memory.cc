// SPDX-License-Identifier: Apache-2.0
#include "device/acl/memory.h"

#include <malloc.h>

#include <arm_compute/runtime/BlobLifetimeManager.h>
#include <arm_compute/runtime/MemoryManagerOnDemand.h>
#include <arm_compute/runtime/PoolManager.h>

namespace tengine::acl {

void* CountingAllocator::allocate(size_t size, size_t alignment)
{
    bytes_ += size;
    return allocator_.allocate(size, alignment);
}

void CountingAllocator::free(void* memory)
{
    allocator_.free(memory);
}

std::unique_ptr<arm_compute::IMemoryRegion> CountingAllocator::make_region(size_t size,
                                                                           size_t alignment)
{
    bytes_ += size;
    return allocator_.make_region(size, alignment);
}

int64_t count_heap()
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
#else
    return 0;
#endif
}

namespace {

std::shared_ptr<arm_compute::IMemoryManager> make_manager()
{
    return std::make_shared<arm_compute::MemoryManagerOnDemand>(
        std::make_shared<arm_compute::BlobLifetimeManager>(),
        std::make_shared<arm_compute::PoolManager>());
}

}  // namespace

PartMemory::PartMemory() : inside_(make_manager()), between_(make_manager()), group_(between_) {}

void PartMemory::allocate()
{
    inside_->populate(allocator_, 1);
    between_->populate(allocator_, 1);
}

}  // namespace tengine::acl
