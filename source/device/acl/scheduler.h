// SPDX-License-Identifier: Apache-2.0
// ACL has one scheduler for the whole process. Ours runs the kernels of a graph on that graph's own
// threads, so that graphs on different threads do not get in each other's way; who else uses ACL in
// the process still gets the scheduler that was there before.
#pragma once

#include "base/thread_pool.h"
#include "device/acl/acl_version.h"

namespace tengine::acl {

// Puts ours in the place of ACL's, and back. Not while anything of ACL runs.
void install_scheduler();
void remove_scheduler();

// While it lives, ACL functions configured and run on the calling thread use `pool`; NULL is one
// thread.
class UsePool
{
  public:
    explicit UsePool(thread_pool_t* pool);
    ~UsePool();
    UsePool(const UsePool&) = delete;
    UsePool& operator=(const UsePool&) = delete;

  private:
    bool was_bound_;
    thread_pool_t* previous_;
};

}  // namespace tengine::acl
