// SPDX-License-Identifier: Apache-2.0
// ACL has one scheduler for the whole process. This one runs the kernels of a graph on that graph's
// own threads, so that graphs on different threads do not disturb each other; other users of ACL in
// the process still get the previous scheduler.
#pragma once

#include "base/thread_pool.h"
#include "device/acl/acl_version.h"

namespace tengine::acl {

// Replaces ACL's scheduler, and restores it. Not while anything of ACL runs.
void install_scheduler();
void remove_scheduler();

// While an instance lives, ACL functions that are configured and run on the calling thread use
// `pool`; NULL is one thread.
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
