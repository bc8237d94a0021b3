// SPDX-License-Identifier: Apache-2.0
// The fast kernels of the CPU device and the reference that judges them share no arithmetic: a
// fault in it would be in both. Neither includes the other's headers, in either direction; the
// headers of the device that both include have no floating-point numbers except those listed here;
// and the functions that both use from the rooms below have a test of their definition.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

#include "rules/include_rules.h"
#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

const std::string kDevice = "device/cpu/";
const std::string kKernels = "source/device/cpu/kernel/";
const std::string kReference = "source/device/cpu/reference/";
const std::string kShared = "source/device/cpu/shared/";

using Files = std::set<std::string>;

// The device's headers that each file of the device includes, as paths.
const std::map<std::string, Files>& device_includes()
{
    static const std::map<std::string, Files> table = [] {
        std::map<std::string, Files> made;
        for (const SourceFile& file : code_below("source/device/cpu")) {
            Files& includes = made[file.path];
            for (const std::string& include : includes_of(join_lines(file.lines)))
                if (starts_with(include, kDevice)) includes.insert("source/" + include);
        }
        return made;
    }();
    return table;
}

// Adds a file, the device's headers that it includes, and those that they include.
void reach(const std::string& path, Files& reached)
{
    const auto found = device_includes().find(path);
    if (found == device_includes().end() || !reached.insert(path).second) return;
    for (const std::string& include : found->second)
        reach(include, reached);
}

Files reach_from(const std::string& folder)
{
    Files reached;
    for (const auto& [path, includes] : device_includes())
        if (starts_with(path, folder)) reach(path, reached);
    return reached;
}

void expect_none(const Files& files, const std::string& folder, const std::string& from)
{
    for (const std::string& path : files)
        EXPECT_FALSE(starts_with(path, folder)) << from << " includes " << path;
}

TEST(KernelRules, KernelsAndTheReferenceDoNotIncludeEachOther)
{
    const Files kernels = reach_from(kKernels), references = reach_from(kReference);
    ASSERT_GT(kernels.size(), 50u);
    ASSERT_GT(references.size(), 50u);
    expect_none(kernels, kReference, kKernels);
    expect_none(references, kKernels, kReference);
    expect_none(reach_from(kShared), kKernels, kShared);
    expect_none(reach_from(kShared), kReference, kShared);
}

// Families of kernels help newcomers to find a kernel.
TEST(KernelRules, FoldersHaveAtMostThirtyFiles)
{
    std::map<std::string, int> counts;
    for (const SourceFile& file : code_below("source/device/cpu"))
        ++counts[file.path.substr(0, file.path.rfind('/'))];
    ASSERT_GT(counts.size(), 15u);
    for (const auto& [folder, count] : counts)
        EXPECT_LE(count, 30) << folder;
}

// The header of the integers with which kernels and devices requantise: the reference implements
// the definition itself.
TEST(KernelRules, TheReferenceRequantisesByItself)
{
    for (const SourceFile& file : code_below("source/device/cpu/reference"))
        for (const std::string& include : includes_of(join_lines(file.lines)))
            EXPECT_NE(include, "tengine/fixed_point.h") << file.path;
}

// The lines of code with floating-point numbers that a header of both sides may have, with reasons.
struct Exception
{
    const char* path;
    const char* line;
};

const Exception kExceptions[] = {
    // Attributes as the node has them: each side interprets 0 itself.
    {"source/device/cpu/shared/attention_problem.h", "float scale, softcap;"},
    {"source/device/cpu/shared/group_query.h", "float scale, softcap;"},
    // Attributes of an activation.
    {"source/device/cpu/kernel_context.h", "float parameters[2] = {};"},
    // An index that may be a float, which is compared and not computed with.
    {"source/device/cpu/shared/roi_image.h",
     "inline int check_roi_image(const KernelContext& context, int64_t region, double image)"},
    // The list of types.
    {"source/device/cpu/shared/types.h", "using FloatTypes = TypeList<float>;"},
    {"source/device/cpu/shared/types.h", "using SignedTypes = TypeList<float, int32_t, int64_t>;"},
    {"source/device/cpu/shared/types.h", "using NumberTypes = TypeList<float, int32_t, int64_t>;"},
    {"source/device/cpu/shared/types.h",
     "using FloatTypes = TypeList<float, Half, BFloat16, double>;"},
    {"source/device/cpu/shared/types.h",
     "using SignedTypes = TypeList<float, Half, BFloat16, double, int8_t, int16_t, int32_t, "
     "int64_t>;"},
    {"source/device/cpu/shared/types.h",
     "using NumberTypes = TypeList<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, "
     "uint16_t,"},
    {"source/device/cpu/shared/types.h",
     "using AllTypes = TypeList<float, Half, BFloat16, double, bool, int8_t, uint8_t, int16_t, "
     "uint16_t,"},
    // The types that they convert to (base/half.h), and those of sums.
    {"source/device/cpu/shared/types.h", "Half(float value) : bits(fp32_to_fp16(value)) {}"},
    {"source/device/cpu/shared/types.h", "operator float() const { return fp16_to_fp32(bits); }"},
    {"source/device/cpu/shared/types.h", "BFloat16(float value) : bits(fp32_to_bf16(value)) {}"},
    {"source/device/cpu/shared/types.h", "operator float() const { return bf16_to_fp32(bits); }"},
    {"source/device/cpu/shared/types.h",
     "using compute_t = std::conditional_t<is_half<T>, float, T>;"},
    {"source/device/cpu/shared/types.h",
     "using sum_t = std::conditional_t<is_float<T>, double, int64_t>;"},
    {"source/device/cpu/shared/types.h",
     "if constexpr (std::is_same_v<T, float>) return TENGINE_DT_FP32;"},
    {"source/device/cpu/shared/types.h",
     "if constexpr (std::is_same_v<T, double>) return TENGINE_DT_FP64;"},
};

bool is_listed(const std::string& path, const std::string& line)
{
    for (const Exception& exception : kExceptions)
        if (path == exception.path && line == exception.line) return true;
    return false;
}

// Also includes of <cmath>, whose functions a template could call.
bool has_floating_point(const std::string& line)
{
    static const std::regex pattern(
        "\\b(float|double|exp|log|sqrt|pow|sin|cos|tanh|floor|ceil|round|lrint|nearbyint|fma|"
        "ldexp|compute_t|sum_t)\\b|[0-9]\\.[0-9]?|\\.[0-9]|<cmath>");
    return std::regex_search(line, pattern);
}

std::string trim(const std::string& line)
{
    const size_t first = line.find_first_not_of(' '), last = line.find_last_not_of(' ');
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
}

TEST(KernelRules, WhatBothSidesIncludeHasNoArithmeticOfFloats)
{
    const Files kernels = reach_from(kKernels), references = reach_from(kReference);
    Files both = reach_from(kShared);
    for (const std::string& path : kernels)
        if (references.count(path) > 0) both.insert(path);
    ASSERT_GT(both.count("source/device/cpu/shared/types.h"), 0u);
    ASSERT_GT(both.count(kShared + "grain.h"), 0u);
    size_t listed = 0;
    for (const std::string& path : both) {
        std::string text = strip_comments(join_lines(read_lines(path)));
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) {
            line = trim(line);
            if (!has_floating_point(line)) continue;
            listed += is_listed(path, line);
            EXPECT_TRUE(is_listed(path, line)) << path << ": " << line;
        }
    }
    EXPECT_EQ(listed, std::size(kExceptions)) << "some exceptions are no longer there";
}

// Headers of the rooms below from which both sides take numbers, and the test that compares each
// with its definition, which is written out there again.
const std::map<std::string, std::string> kHeldToDefinitions = {
    {"base/float_to_index.h", "tests/base/float_to_index_test.cc"},
    {"base/half.h", "tests/base/half_test.cc"},
    {"operator/onnx/resize_param.h", "tests/operator/onnx/resize_definition_test.cc"},
};

// In `operator/` attributes are floats, as in files; numbers computed from them are doubles.
bool computes_floats(const std::string& header)
{
    static const std::regex in_base("\\b(float|double)\\b"), in_operator("\\bdouble\\b");
    const std::string text = strip_comments(join_lines(read_lines("source/" + header)));
    return std::regex_search(text, starts_with(header, "base/") ? in_base : in_operator);
}

Files headers_below(const Files& files)
{
    Files headers;
    for (const std::string& path : files)
        for (const std::string& include : includes_of(join_lines(read_lines(path))))
            if ((starts_with(include, "base/") || starts_with(include, "operator/")) &&
                computes_floats(include))
                headers.insert(include);
    return headers;
}

TEST(KernelRules, NumbersFromBelowAreHeldToTheirDefinitions)
{
    const Files of_kernels = headers_below(reach_from(kKernels));
    const Files of_reference = headers_below(reach_from(kReference));
    Files both;
    for (const std::string& header : of_kernels)
        if (of_reference.count(header) > 0) both.insert(header);
    both.erase("operator/operator.h");  // defaults of attributes
    for (const auto& [header, test] : kHeldToDefinitions) {
        EXPECT_EQ(both.erase(header), 1u) << header << " is no longer of both sides";
        const std::vector<std::string> includes = includes_of(join_lines(read_lines(test)));
        EXPECT_NE(std::find(includes.begin(), includes.end(), header), includes.end()) << test;
    }
    for (const std::string& header : both)
        ADD_FAILURE() << header << " has numbers of both sides: expected a test of its definition";
}

TEST(KernelRules, KnowFloatsWhenTheySeeThem)
{
    for (const char* line : {"const float x = 1;", "return a / 2.5;", "y = std::exp(x);",
                             "using C = compute_t<T>;", "#include <cmath>"})
        EXPECT_TRUE(has_floating_point(line)) << line;
    for (const char* line :
         {"int64_t begin, end;", "const bool is_float = true;", "x.dims[2] + 1", "round_up(size)"})
        EXPECT_FALSE(has_floating_point(line)) << line;
}

}  // namespace
}  // namespace tengine::rules
