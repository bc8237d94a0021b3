// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel/vector_target.h"

#ifdef TENGINE_HAVE_HIGHWAY
#include <hwy/highway.h>
#endif

namespace tengine::cpu {
#ifdef TENGINE_HAVE_HIGHWAY
namespace {

// A bit for each target; a lower one is a better one.
int64_t all_targets()
{
    static const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    return targets;
}

int64_t target_at(int index)
{
    int64_t targets = all_targets();
    for (int i = 0; i < index; i++)
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

void force_vector_target(int index)
{
    // 0 ends the restriction. all_targets() reads the full list before the first one.
    hwy::SetSupportedTargetsForTest(is_target(index) ? target_at(index) : 0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

#else

int get_vector_target_num()
{
    return 0;
}

const char* get_vector_target_name(int)
{
    return nullptr;
}

void force_vector_target(int) {}

#endif
}  // namespace tengine::cpu
