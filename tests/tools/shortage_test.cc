// SPDX-License-Identifier: Apache-2.0
// Memory that runs out in a command, for one allocation or for good: the command reports it and
// ends, with a status of its own, and no signal ends it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using Words = std::vector<std::string>;

constexpr long kPlaces = 24;

class Shortage : public testing::TestWithParam<Words>
{
  protected:
    static Finished run_with(const std::map<std::string, std::string>& environment,
                             const Words& words)
    {
        setenv("LD_PRELOAD", FAILING_HEAP, 1);
        for (const auto& [name, value] : environment)
            setenv(name.c_str(), value.c_str(), 1);
        Finished finished = run(words);
        for (const auto& [name, value] : environment)
            unsetenv(name.c_str());
        unsetenv("LD_PRELOAD");
        return finished;
    }

    // Returns the number of allocations of the program without a failure.
    long count_allocations(const Words& words) const
    {
        const std::string file = folder_ + "/count";
        EXPECT_EQ(run_with({{"FAIL_COUNT", file}}, words).status, 0);
        return std::filesystem::exists(file) ? std::stol(tools::read_file(file)) : 0;
    }

    Words words() const
    {
        Words words = GetParam();
        for (std::string& word : words) {
            if (word == "MODEL") word = data_file("digits.onnx");
            if (word == "PICTURE") word = data_file("digit_7_007.png");
            if (word.compare(0, 4, "OUT.") == 0) word = folder_ + "/" + word;
            if (word == "FOLDER") word = folder_;
            if (word == "TPU.config=FILE") word = "TPU.config=" + write_config();
        }
        return words;
    }

    std::string write_config() const
    {
        const std::string path = folder_ + "/config.json";
        tools::write_file(path, "{\"base\": \"edge\", \"name\": \"one\", \"rows\": 16}");
        return path;
    }

    static bool has_tpu()
    {
        return run({"devices"}).output.find("\ndevice TPU") != std::string::npos;
    }

    const std::string folder_ = scratch_folder();
};

TEST_P(Shortage, EndsWithASentence)
{
    const Words command = words();
    const bool wants_tpu = std::find(command.begin(), command.end(), "TPU") != command.end();
    if (wants_tpu && !has_tpu()) GTEST_SKIP() << "this build has no TPU";
    const long number = count_allocations(command);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer has its own heap";
#endif
    ASSERT_GT(number, kPlaces);
    int failures = 0;
    for (long at = 1; at <= number; at += number / kPlaces) {
        for (const bool goes_on : {false, true}) {
            std::map<std::string, std::string> environment = {{"FAIL_AT", std::to_string(at)}};
            if (goes_on) environment["FAIL_ON"] = "1";
            const Finished finished = run_with(environment, command);
            EXPECT_TRUE(finished.status >= 0 && finished.status <= 2)
                << "allocation " << at << (goes_on ? " and all after it" : "") << ": status "
                << finished.status << ", " << finished.errors;
            failures += finished.status != 0;
            EXPECT_TRUE(finished.status == 0 ||
                        finished.errors.find("tengine: ") != std::string::npos)
                << at << ": " << finished.errors;
        }
    }
    EXPECT_GT(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Shortage,
    testing::Values(Words{"run", "MODEL", "--input", "PICTURE"},
                    Words{"bench", "MODEL", "--runs", "2", "--quiet", "--shape", "1x1x8x8"},
                    Words{"inspect", "MODEL", "--shape", "1x1x8x8", "--json", "-"},
                    Words{"inspect", "MODEL", "--shape", "1x1x8x8", "--device", "TPU", "--option",
                          "TPU.config=FILE"},
                    Words{"devices", "--json", "-"}, Words{"convert", "MODEL", "OUT.tmfile"},
                    Words{"quantize", "MODEL", "--random", "2", "--quiet", "-o", "OUT.onnx"},
                    Words{"compile", "MODEL", "--device", "TPU", "--precision", "bf16", "--option",
                          "split.prune=0", "--quiet", "-o", "OUT.tmfile"},
                    Words{"verify", "--device", "CPU", "--quiet", "--model", "MODEL", "--shape",
                          "1x1x8x8", "--layer-folder", "FOLDER"}),
    [](const testing::TestParamInfo<Words>& each) {
        return each.param[0] + std::to_string(each.index);
    });

}  // namespace
}  // namespace tengine::program
