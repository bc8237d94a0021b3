// SPDX-License-Identifier: Apache-2.0
// Convolutions as phases: the taps that meet the input at each position, and identical bits for
// every number of threads. kernel_test.cc compares results with the reference's.
#include <cstring>
#include <gtest/gtest.h>

#include "device/cpu/kernel/conv/conv_phase.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_runner.h"

namespace tengine::cpu {
namespace {

// Returns the input positions that contribute to output position `position`, ascending, by
// definition.
std::vector<int64_t> find_sources(const window_axis& axis, int64_t position)
{
    std::vector<int64_t> sources;
    for (int64_t tap = axis.kernel - 1; tap >= 0; --tap) {
        const int64_t at = position + axis.pad_begin - tap * axis.dilation;
        if (at >= 0 && at % axis.stride == 0 && at / axis.stride < axis.input)
            sources.push_back(at / axis.stride);
    }
    return sources;
}

void check_axis(const window_axis& axis)
{
    SCOPED_TRACE(testing::Message()
                 << axis.input << " kernel " << axis.kernel << " stride " << axis.stride
                 << " dilation " << axis.dilation << " pad " << axis.pad_begin);
    PhasedAxis phased = {};
    describe_phases(axis, &phased);
    int64_t taps = 0, positions = 0;
    for (int64_t i = 0; i < phased.stride; ++i) {
        const Phase& phase = phased.phases[i];
        EXPECT_EQ(phase.taps_before, taps);
        EXPECT_LE(phase.taps, count_most_taps(axis));
        taps += phase.taps;
        positions += phase.positions;
        PhaseRange range = {};
        for (int64_t n = 0; n < phase.positions; n = range.end) {
            range = find_phase_range(phase, phased.source_step, axis.input, n, phase.positions);
            ASSERT_EQ(range.begin, n);
            ASSERT_GT(range.end, n);
            for (int64_t at = n; at < range.end; ++at) {
                std::vector<int64_t> sources;
                for (int64_t tap = range.first_tap; tap < range.last_tap; ++tap)
                    sources.push_back(phase.source + at + tap * phased.source_step);
                ASSERT_EQ(sources, find_sources(axis, i + at * phased.stride)) << i << ' ' << at;
            }
        }
    }
    EXPECT_EQ(taps, axis.kernel);
    EXPECT_EQ(positions, axis.output);
}

TEST(ConvTransposePhase, HasTheTapsOfItsPositions)
{
    for (const int input : {1, 2, 5})
        for (const int kernel : {1, 2, 3, 4, 7})
            for (const int stride : {1, 2, 3, 6})
                for (const int dilation : {1, 2, 3, 4})
                    for (const int pad : {0, 1, 2, 9}) {
                        const int full = (input - 1) * stride + (kernel - 1) * dilation + 1;
                        for (const int output : {full - pad, full - pad + 3})
                            if (output > 0)
                                check_axis({input, output, kernel, stride, dilation, pad, 0});
                    }
}

const Kernel* find_phased(const KernelRunner& runner)
{
    for (const Kernel* kernel : runner.kernels())
        for (const char* name : {"conv_transpose.f32.nhwc", "conv.f32.nhwc_clipped"})
            if (!std::strcmp(kernel->name, name)) return kernel;
    return nullptr;
}

TEST(PhasedConv, HasTheSameBitsForEveryNumberOfThreads)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    for (const Case& node_case :
         {tools::conv_case("ConvTranspose", {2, 70, 9, 14}, {70, 100, 2, 2}, {{2, 2}}),
          tools::conv_case("ConvTranspose", {1, 33, 13, 8}, {33, 40, 4, 5}, {{2, 3}, {1, 1, 1, 1}}),
          tools::conv_case("ConvTranspose", {1, 300, 3, 3}, {300, 200, 3, 3},
                           {{2, 2}, {1, 1, 0, 0}}),
          tools::conv_case("Conv", {2, 40, 9, 14}, {100, 40, 3, 3}, {{}, {6, 6, 6, 6}, {6, 6}}),
          tools::conv_case("Conv", {1, 300, 9, 4}, {200, 300, 3, 3}, {{}, {4, 4, 4, 4}, {4, 4}})}) {
        KernelRunner runner(node_case);
        const Kernel* kernel = find_phased(runner);
        if (!kernel) GTEST_SKIP() << "the build leaves the kernel out";
        for (size_t i = 0; i < runner.input_num(); ++i) {
            std::vector<float> values(runner.input_size(static_cast<int>(i)));
            for (size_t k = 0; k < values.size(); ++k)
                values[k] = static_cast<float>(k * 7919 % 1009) / 500 - 1;
            runner.fill(static_cast<int>(i), values);
        }
        for (int target = 0; target < get_vector_target_num(); ++target) {
            SCOPED_TRACE(node_case.name() + ' ' + get_vector_target_name(target));
            force_vector_target(target);
            const std::vector<float> expected = runner.run(*kernel, 1);
            for (const int thread_num : {2, 3, 5})
                EXPECT_EQ(runner.run(*kernel, thread_num), expected) << thread_num;
        }
        force_vector_target(-1);
    }
}

}  // namespace
}  // namespace tengine::cpu
