// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the fast kernels use are those the processor has.
#include "device/cpu/kernel/vector/instruction_set.h"

#include <fnmatch.h>

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/runnable.h"

namespace tengine::cpu {
namespace {

// A ctest entry for an emulated processor names the sets, as a shell pattern.
TEST(InstructionSet, IsTheExpectedOne)
{
    const char* expected = std::getenv("TENGINE_EXPECTED_INSTRUCTION_SET");
    if (!expected) GTEST_SKIP() << "TENGINE_EXPECTED_INSTRUCTION_SET is not set";
    EXPECT_EQ(fnmatch(expected, get_instruction_set_text(), 0), 0)
        << get_instruction_set_text() << ", expected " << expected;
}

TEST(InstructionSet, BeginsWithTheBestVectors)
{
    const char* vectors = get_vector_target_name(0);
    const std::string expected = vectors ? vectors : "plain C++";
    EXPECT_EQ(std::string(get_instruction_set_text()).substr(0, expected.size()), expected);
}

TEST(InstructionSet, NamesWhatTheProcessorSaysToHave)
{
    const std::string text = std::string(get_instruction_set_text()) + " ";
    for (const SpecialInstructions& special : list_special_instructions()) {
        const bool is_there =
            special.is_compiled && (get_cpu_features() & special.feature) == special.feature;
        EXPECT_EQ(text.find(" " + std::string(special.word) + " ") != std::string::npos, is_there)
            << special.word;
        EXPECT_TRUE(special.runs || !is_there) << special.word;
    }
}

// A ctest entry for an emulated processor names the special instructions for which kernels must
// have been compared: those that run, even if the processor does not report them.
TEST(InstructionSet, RunsWhatIsExpected)
{
    const char* expected = std::getenv("TENGINE_EXPECTED_COMPARED");
    if (!expected) GTEST_SKIP() << "TENGINE_EXPECTED_COMPARED is not set";
    std::string compared;
    for (const SpecialInstructions& special : list_special_instructions())
        if (special.runs) compared += (compared.empty() ? "" : " ") + std::string(special.word);
    EXPECT_EQ(compared, expected);
}

// A build with Highway for a processor family with mandatory vectors never falls back to scalar
// code.
TEST(InstructionSet, HasVectors)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "this build has no vectors";
#if defined(__x86_64__) || defined(__aarch64__) || defined(__ARM_NEON)
    EXPECT_STRNE(get_vector_target_name(0), "SCALAR");
    EXPECT_STRNE(get_vector_target_name(0), "EMU128");
#else
    GTEST_SKIP() << "this processor family may have no vectors";
#endif
}

}  // namespace
}  // namespace tengine::cpu
