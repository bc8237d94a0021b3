// SPDX-License-Identifier: Apache-2.0
// On Arm the choice is made here, from base/cpu.h, and handed to Highway 1.0, whose own has two
// faults: it takes an AArch64 processor without AES instructions, such as the Raspberry Pi 3 and 4,
// for one without NEON and complains on stderr; and its library, where it was built for a
// processor without NEON, as Debian's for armhf is, never finds NEON.
#include <hwy/highway.h>

#include "base/cpu.h"
#include "device/cpu/kernel/vector/vector_target.h"
#if HWY_ARCH_ARM_A64
#include <sys/prctl.h>
#endif

namespace tengine::cpu {
namespace {

#if HWY_ARCH_ARM

#if HWY_ARCH_ARM_A64

int64_t find_scalable_targets()
{
    const uint64_t features = get_cpu_features();
    const int vector_length = prctl(PR_SVE_GET_VL);
    const int vector_bytes = vector_length < 0 ? 0 : vector_length & PR_SVE_VL_LEN_MASK;
    int64_t found = 0;
    if (features & CPU_FEATURE_SVE) found |= HWY_SVE | (vector_bytes == 32 ? HWY_SVE_256 : 0);
    if (features & CPU_FEATURE_SVE2) found |= HWY_SVE2 | (vector_bytes == 16 ? HWY_SVE2_128 : 0);
    return found;
}

#else

int64_t find_scalable_targets()
{
    return 0;
}

#endif

// The target that the whole library is compiled for is always supported.
int64_t find_supported_targets()
{
    const int64_t supported = HWY_STATIC_TARGET | find_scalable_targets();
    hwy::SetSupportedTargetsForTest(supported);
    return supported;
}

#else

int64_t find_supported_targets()
{
    return hwy::SupportedTargets();
}

#endif  // HWY_ARCH_ARM

// A bit for each target; a lower one is better. supported_targets() has those of the processor,
// all_targets() those among them that kernels are compiled for.
int64_t supported_targets()
{
    static const int64_t targets = find_supported_targets();
    return targets;
}

int64_t all_targets()
{
    return supported_targets() & HWY_TARGETS;
}

int64_t target_at(int index)
{
    int64_t targets = all_targets();
    for (int i = 0; i < index; ++i)
        targets &= targets - 1;
    return targets & -targets;
}

bool is_target(int index)
{
    return index >= 0 && index < get_vector_target_num();
}

}  // namespace

int get_vector_target_num()
{
    return __builtin_popcountll(static_cast<uint64_t>(all_targets()));
}

const char* get_vector_target_name(int index)
{
    return is_target(index) ? hwy::TargetName(target_at(index)) : nullptr;
}

void choose_vector_target()
{
    force_vector_target(-1);
}

void force_vector_target(int index)
{
    const int64_t target = is_target(index) ? target_at(index) : supported_targets();
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
}

}  // namespace tengine::cpu
