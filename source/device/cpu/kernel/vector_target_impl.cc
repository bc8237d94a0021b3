// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/kernel/vector_target.h"

#ifdef TENGINE_HAVE_HIGHWAY
#include <hwy/highway.h>
#include <vector>
#endif

namespace tengine::cpu {
#ifdef TENGINE_HAVE_HIGHWAY
namespace {

const std::vector<int64_t>& targets()
{
    static const std::vector<int64_t> list = hwy::SupportedAndGeneratedTargets();
    return list;
}

bool is_target(int index)
{
    return index >= 0 && index < get_vector_target_num();
}

}  // namespace

int get_vector_target_num()
{
    return static_cast<int>(targets().size());
}

const char* get_vector_target_name(int index)
{
    return is_target(index) ? hwy::TargetName(targets()[static_cast<size_t>(index)]) : nullptr;
}

void force_vector_target(int index)
{
    // 0 ends the restriction. targets() reads the full list before the first one.
    hwy::SetSupportedTargetsForTest(is_target(index) ? targets()[static_cast<size_t>(index)] : 0);
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
