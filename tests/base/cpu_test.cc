// SPDX-License-Identifier: Apache-2.0
// base/cpu.h and base/clock.h: facts about any machine, and the cluster rule.
#include "base/cpu.h"

#include <sched.h>

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include "base/alloc.h"
#include "base/clock.h"

namespace tengine {
namespace {

uint64_t select(const std::vector<uint64_t>& frequencies, uint64_t usable, int cluster)
{
    return select_cluster(frequencies.data(), static_cast<int>(frequencies.size()), usable,
                          cluster);
}

// Runs `check` on a thread that may use one core only.
template <typename Check>
void on_one_core(Check check)
{
    std::thread([&check] {
        cpu_set_t cores;
        ASSERT_EQ(0, sched_getaffinity(0, sizeof cores, &cores));
        int core = 0;
        while (!CPU_ISSET(core, &cores))
            ++core;
        CPU_ZERO(&cores);
        CPU_SET(core, &cores);
        ASSERT_EQ(0, sched_setaffinity(0, sizeof cores, &cores));
        check(core);
    }).join();
}

TEST(Cpu, CountFollowsTheAffinityOfTheThread)
{
    EXPECT_GE(get_cpu_count(), 1);
    on_one_core([](int) { EXPECT_EQ(1, get_cpu_count()); });
}

TEST(Cpu, ClustersAreUsableCores)
{
    const uint64_t all = get_cluster_mask(CPU_CLUSTER_ALL);
    for (int cluster = -1; cluster < 6; ++cluster) {
        const uint64_t mask = get_cluster_mask(cluster);
        EXPECT_NE(0u, mask);
        EXPECT_EQ(mask, mask & all);
    }
    on_one_core([](int core) {
        if (core < 64) {
            EXPECT_EQ(UINT64_C(1) << core, get_cluster_mask(CPU_CLUSTER_BIG));
        }
    });
}

TEST(Cpu, ThreeClusters)
{
    const std::vector<uint64_t> phone = {1800, 1800, 1800, 1800, 2420, 2420, 2420, 2840};
    EXPECT_EQ(0xffu, select(phone, 0xff, CPU_CLUSTER_ALL));
    EXPECT_EQ(0x80u, select(phone, 0xff, CPU_CLUSTER_BIG));
    EXPECT_EQ(0x70u, select(phone, 0xff, CPU_CLUSTER_MEDIUM));
    EXPECT_EQ(0x0fu, select(phone, 0xff, CPU_CLUSTER_LITTLE));
    EXPECT_EQ(0xffu, select(phone, 0xff, 17));
}

TEST(Cpu, TwoClustersHaveNoMediumOne)
{
    const std::vector<uint64_t> board = {1416, 1416, 1416, 1416, 1800, 1800};
    EXPECT_EQ(0x30u, select(board, 0x3f, CPU_CLUSTER_BIG));
    EXPECT_EQ(0x3fu, select(board, 0x3f, CPU_CLUSTER_MEDIUM));
    EXPECT_EQ(0x0fu, select(board, 0x3f, CPU_CLUSTER_LITTLE));
}

TEST(Cpu, SmallDifferencesDoNotMakeAClusterOfTheirOwn)
{
    const std::vector<uint64_t> desktop = {5000, 5100, 5000, 5200};
    EXPECT_EQ(0xfu, select(desktop, 0xf, CPU_CLUSTER_BIG));
    EXPECT_EQ(0xfu, select(desktop, 0xf, CPU_CLUSTER_LITTLE));
}

TEST(Cpu, UnknownFrequenciesAndForbiddenCores)
{
    EXPECT_EQ(0xfu, select({0, 0, 0, 0}, 0xf, CPU_CLUSTER_BIG));
    EXPECT_EQ(0xfu, select({}, 0xf, CPU_CLUSTER_LITTLE));
    EXPECT_EQ(0x2u, select({1000, 2000, 2000, 0}, 0x3, CPU_CLUSTER_BIG));
    EXPECT_EQ(0x1u, select({1000, 2000, 2000, 0}, 0x1, CPU_CLUSTER_BIG));
}

TEST(Cpu, FeatureTextNamesTheFeatures)
{
    const uint64_t features = get_cpu_features();
    const std::string text = std::string(" ") + get_cpu_feature_text() + " ";
#define CHECK_FEATURE(name, bit, word) \
    EXPECT_EQ((features & name) != 0, text.find(" " word " ") != std::string::npos);
    CPU_FEATURE_LIST(CHECK_FEATURE)
#undef CHECK_FEATURE
}

TEST(Cpu, FeatureBitsAreDistinct)
{
    std::set<uint64_t> bits;
    size_t num = 0;
#define COUNT_FEATURE(name, bit, word) \
    bits.insert(name);                 \
    ++num;
    CPU_FEATURE_LIST(COUNT_FEATURE)
#undef COUNT_FEATURE
    EXPECT_EQ(num, bits.size());
}

#if defined(__x86_64__)
// The kernel's own list, which has '_' in place of '.' or no character.
TEST(Cpu, FeaturesAgreeWithTheKernel)
{
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line) && line.rfind("flags", 0) != 0)
        continue;
    if (line.rfind("flags", 0) != 0) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
    std::istringstream words(line.substr(line.find(':') + 1));
    const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
    const uint64_t features = get_cpu_features();
    const std::pair<uint64_t, const char*> names[] = {
        {CPU_FEATURE_SSE4_2, "sse4_2"},
        {CPU_FEATURE_AVX, "avx"},
        {CPU_FEATURE_AVX2, "avx2"},
        {CPU_FEATURE_FMA, "fma"},
        {CPU_FEATURE_F16C, "f16c"},
        {CPU_FEATURE_AVX512F, "avx512f"},
        {CPU_FEATURE_AVX512BW, "avx512bw"},
        {CPU_FEATURE_AVX512VL, "avx512vl"},
        {CPU_FEATURE_AVX512DQ, "avx512dq"},
        {CPU_FEATURE_AVX512_VNNI, "avx512_vnni"},
        {CPU_FEATURE_AVX512_VBMI, "avx512vbmi"},
        {CPU_FEATURE_AVX512_BF16, "avx512_bf16"},
        {CPU_FEATURE_AVX512_FP16, "avx512_fp16"},
        {CPU_FEATURE_AVX_VNNI, "avx_vnni"},
        {CPU_FEATURE_AMX_INT8, "amx_int8"},
        {CPU_FEATURE_AMX_BF16, "amx_bf16"},
        {CPU_FEATURE_SHA, "sha_ni"},
    };
    for (const auto& [feature, flag] : names) {
        EXPECT_EQ(flags.count(flag) != 0, (features & feature) != 0) << flag;
    }
}
#endif

TEST(Cpu, CacheSizesAreSane)
{
    const cpu_cache_size_t cache = get_cpu_cache_size();
    EXPECT_GE(cache.l1d, 4u << 10);
    EXPECT_LE(cache.l1d, 4u << 20);
    EXPECT_TRUE(cache.l2 == 0 || cache.l2 >= cache.l1d);
    EXPECT_TRUE(cache.l3 == 0 || cache.l3 >= cache.l2 / 4);
}

// Kernels size their scratch by it before the runs, and split their work by it in each.
TEST(Cpu, CacheSizesStayTheSame)
{
    const cpu_cache_size_t first = get_cpu_cache_size();
    rlimit files;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const rlimit none = {0, files.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const cpu_cache_size_t second = get_cpu_cache_size();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    EXPECT_EQ(first.l1d, second.l1d);
    EXPECT_EQ(first.l2, second.l2);
    EXPECT_EQ(first.l3, second.l3);
}

TEST(Clock, NeverStepsBack)
{
    uint64_t last = get_time_ns();
    for (int i = 0; i < 1000; ++i) {
        const uint64_t now = get_time_ns();
        ASSERT_GE(now, last);
        last = now;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_GE(get_time_ns() - last, 2000000u);
}

}  // namespace
}  // namespace tengine
