// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/runnable.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>

#include "device/cpu/kernel/product/tile/group_tile.h"

namespace tengine::cpu {
namespace {

// Returns false if the code ends its process with SIGILL.
template <class Code>
bool survives(const Code& code)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGILL, SIG_DFL);
        code();
        std::_Exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool runs(const TileFormat& format)
{
    return format.multiply && survives([&] {
               const char zeros[64 * 8] = {};
               const int32_t start[64] = {};
               const int64_t segments[] = {0};
               int32_t sums[64];
               GroupTile tile = {};
               tile.input = tile.weights = zeros;
               tile.segments = segments;
               tile.segment_num = tile.groups = 1;
               tile.start = start;
               tile.sums = sums;
               format.multiply(tile, 1);
           });
}

SpecialInstructions describe(const char* word, const char* kernel, const TileFormat& format)
{
    return {word, kernel, format.features, format.multiply != nullptr, runs(format)};
}

}  // namespace

const std::vector<SpecialInstructions>& list_special_instructions()
{
    static const std::vector<SpecialInstructions> list = {
        describe("avx512_vnni", "conv.s8.nhwc", avx512_vnni_format),
        describe("avx_vnni", "conv.s8.nhwc", avx_vnni_format),
        describe("i8mm", "conv.s8.nhwc", i8mm_format),
        describe("dotprod", "conv.s8.nhwc", dotprod_format),
        describe("avx512_bf16", "conv.f16.nhwc", avx512_bf16_format),
        describe("bf16", "conv.f16.nhwc", bfmmla_format),
        describe("fhm", "conv.f16.nhwc", fhm_format),
    };
    return list;
}

uint64_t find_runnable_features()
{
    uint64_t features = get_cpu_features();
    for (const SpecialInstructions& special : list_special_instructions())
        if (special.runs) features |= special.feature;
    return features;
}

}  // namespace tengine::cpu
