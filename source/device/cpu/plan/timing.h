// SPDX-License-Identifier: Apache-2.0
// Chooses the fastest kernel of a step by measuring, with the option CPU.timing.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/maps.hpp"
#include "base/sha256.h"
#include "device/cpu/plan/step.h"

namespace tengine::cpu {

// The option of the graph's context.
bool is_timing_wanted(const graph& graph);

// Runs the kernels for the step, with its constants and pool and in memory of its own, one after
// the other, and returns the one to use: the first, unless another one is faster by more than the
// noise of measuring. One that is far slower than the previous ones is run once. Null when the
// first cannot be run, for example when out of memory.
const Kernel* find_fastest(const Step& step, const Vector<const Kernel*>& kernels,
                           KernelTimes* out_times);

// The choices for steps, stored while the device lives, so that equal steps have equal kernels and
// identical results, in any graph and with any number of threads. Any thread.
class TimedKernels
{
  public:
    // Gives steps with alternatives the kernel of an equal step, or the fastest. Where timing would
    // take too long they keep theirs; see the constants in timing.cc.
    void choose(const KernelList& kernels, Vector<Step>& steps);
    // Gives a step of a part that was saved the kernel of this name, if it is one of its
    // alternatives, and also equal ones that are prepared later.
    void take(const KernelList& kernels, const char* name, Step& step);

  private:
    using Key = std::array<uint8_t, SHA256_BYTES>;
    struct Choice
    {
        const Kernel* kernel;
        KernelTimes times;
        const char* untimed;
    };

    static Key find_key(const Step& step, const Vector<const Kernel*>& kernels);
    // Whether there is nothing to time: an equal step is known, whose kernel this one gets, or the
    // table is full.
    bool find(const Key& key, Step& step);
    void add(const Key& key, const Step& step);

    std::mutex mutex_;
    Map<Key, Choice> known_;
};

}  // namespace tengine::cpu
