// SPDX-License-Identifier: Apache-2.0
// The program tengine-tpu: its output, its exit status, and its errors.
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>

#include "device/tpu/sample_program.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Finished
{
    int status = 0;
    std::string output;
    std::string errors;
};

std::string read(const std::string& path)
{
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
}

class Tool : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!std::ifstream(kProgram)) GTEST_SKIP() << "built without " << kProgram;
        const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        folder_ = testing::TempDir() + "tengine_tpu_tool." + test + ".";
    }
    std::string path(const std::string& name) const { return folder_ + name; }
    std::string write(const std::string& name, const std::string& content) const
    {
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
    }
    Finished run(const std::string& arguments) const
    {
        const int status = std::system(
            (std::string(kProgram) + " " + arguments + " >" + path("out") + " 2>" + path("err"))
                .c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(path("out")), read(path("err"))};
    }
    // Expects one line that names the error.
    void expect_failure(const std::string& arguments, int status, const std::string& words) const
    {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, status) << arguments;
        EXPECT_EQ(finished.output, "") << arguments;
        EXPECT_THAT(finished.errors, StartsWith("tengine-tpu: "));
        EXPECT_THAT(finished.errors, HasSubstr(words));
        EXPECT_EQ(finished.errors.find('\n') + 1, finished.errors.size()) << finished.errors;
    }
    static bool reads_json()
    {
        Config config;
        return parse_config("{}", "test", &config) != TENGINE_ENOTSUP;
    }
    std::string write_program(const std::string& name, const Program& program) const
    {
        const std::vector<uint8_t> file = save_program(program);
        return write(name, std::string(file.begin(), file.end()));
    }

    static constexpr char kProgram[] = TENGINE_PROGRAM_DIR "/tengine-tpu";

  private:
    std::string folder_;
};

TEST_F(Tool, ConfigPrintsAFileAndWhatFollows)
{
    const Finished preset = run("config tpu-v1");
    EXPECT_EQ(preset.status, 0);
    Config config;
    ASSERT_EQ(load_config("tpu-v1", &config), TENGINE_OK);
    EXPECT_EQ(preset.output, print_config(config));
    EXPECT_THAT(preset.errors, HasSubstr("91.75 TOPS"));
    EXPECT_THAT(preset.errors, HasSubstr("1349.27 cycles"));
    EXPECT_THAT(run("config").output, HasSubstr("\"name\": \"edge\""));
    if (!reads_json()) GTEST_SKIP() << "built without nlohmann-json";
    const Finished again = run("config " + write("config.json", preset.output));
    EXPECT_EQ(again.output, preset.output);
}

TEST_F(Tool, AProgramToTextAndBack)
{
    const Program program = sample_program();
    const std::string file = write_program("sample.tpu", program);
    const Finished text = run("disasm " + file);
    EXPECT_EQ(text.status, 0) << text.errors;
    EXPECT_EQ(text.output, disassemble(program));
    const Finished made = run("asm " + write("sample.s", text.output) + " -o " + path("again.tpu"));
    EXPECT_EQ(made.status, 0) << made.errors;
    EXPECT_EQ(read(path("again.tpu")), read(file));
    const Finished code = run("disasm --code " + file);
    EXPECT_THAT(code.output, StartsWith("tag value=0  # \"conv\"\nread_host "));
}

TEST_F(Tool, ValidateSaysWhatAProgramCosts)
{
    const std::string file = write_program("sample.tpu", sample_program());
    expect_failure("validate " + file, 1,
                   "for another configuration than tpu-v1, edge, scale32; set --config");
    expect_failure("validate " + file + " --config edge", 1, "another configuration than 'edge'");
    Program edge = sample_program();
    Config config;
    ASSERT_EQ(load_config("edge", &config), TENGINE_OK);
    edge.fingerprint = fingerprint_of(config);
    edge.weights = std::vector<uint8_t>(4096);
    const Finished finished = run("validate " + write_program("edge.tpu", edge));
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("is valid for 'edge': "));
    EXPECT_THAT(finished.output, HasSubstr("weight stall"));
    edge.instructions.pop_back();
    expect_failure("validate " + write_program("edge.tpu", edge), 1, "does not end with halt");
    if (!reads_json()) GTEST_SKIP() << "built without nlohmann-json";
    const std::string json = write("sample.json", print_config(sample_config()));
    EXPECT_EQ(run("validate " + file + " --config " + json).status, 0);
}

TEST_F(Tool, ValidateComparesTheSimulator)
{
    const Finished finished = run("validate");
    EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("SCALE-Sim"));
}

TEST_F(Tool, ValidateComparesATopology)
{
    const std::string heading = "Layer name, IFMAP Height, and so on,\n";
    const std::string good = write("net.csv", heading + "Conv1, 224, 224, 11, 11, 3, 96, 4,\n");
    const Finished finished = run("validate --topology " + good + " --config tpu-v1");
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("reference  ratio  accepted"));
    EXPECT_THAT(finished.output, HasSubstr("Conv1  "));
    EXPECT_THAT(finished.output, HasSubstr("7581 to 7581 cycles"));
    EXPECT_THAT(finished.output, HasSubstr("all on 256x256  "));
    EXPECT_THAT(run("validate --topology " + good).output, HasSubstr("all on 32x32  "));
    expect_failure("validate --topology " + write("bad.csv", heading + "Conv1, 224,\n"), 1,
                   "bad.csv', line 2: 2 values before the last comma");
    expect_failure("validate --topology " + path("absent.csv"), 1, "absent.csv': No such file");
    expect_failure("validate sample.tpu --topology " + good, 2, "excludes");
    expect_failure("validate --topology " + good + " --config edgy", 1,
                   "unknown configuration 'edgy'");
}

TEST_F(Tool, WhatIsWrongIsSaid)
{
    expect_failure("", 2, "missing command: expected config, disasm, asm or validate");
    expect_failure("frobnicate", 2, "frobnicate");
    expect_failure("disasm", 2, "program");
    expect_failure("asm x", 2, "--output");
    expect_failure("validate --config edge", 2, "program");
    expect_failure(
        "config edgy", 1,
        "unknown configuration 'edgy': expected one of tpu-v1, edge, scale32, or a file");
    expect_failure("disasm " + path("absent"), 1, "No such file");
    expect_failure("disasm " + write("text", "hello"), 1, "not a TPU program");
    expect_failure("asm " + write("text", ".version 1\nnop fast\n") + " -o " + path("o"), 1,
                   "text', line 2: unknown flag 'fast'");
    expect_failure("asm " + write("text", ".version 1\n") + " -o /absent/o", 1,
                   "cannot write '/absent/o': ");
}

}  // namespace
}  // namespace tengine::tpu
