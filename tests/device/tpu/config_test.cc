// SPDX-License-Identifier: Apache-2.0
// Presets, JSON files, and refused ones.
#include "device/tpu/machine/config.h"

#include <unistd.h>

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <sys/stat.h>

#include "device/tpu/machine/config_fields.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

Config preset(const std::string& name)
{
    Config config;
    EXPECT_EQ(load_config(name, &config), TENGINE_OK) << tengine_error_message();
    return config;
}

TEST(Config, PresetsAreValid)
{
    for (const char* name : {"tpu-v1", "edge", "scale32"}) {
        const Config config = preset(name);
        EXPECT_EQ(config.name, name);
        EXPECT_EQ(check_config(config, "test"), TENGINE_OK);
    }
    EXPECT_EQ(preset("").name, "edge");
    EXPECT_EQ(preset("tpu-v1").rows, 256);
    EXPECT_EQ(preset("edge").unified_buffer_bytes, 512 * 1024);
}

TEST(Config, FingerprintIsOfWhatProgramsSee)
{
    const Config edge = preset("edge");
    std::set<uint64_t> prints = {fingerprint_of(edge)};
    const auto differs = [&](auto change) {
        Config other = edge;
        change(&other);
        return prints.insert(fingerprint_of(other)).second;
    };
    EXPECT_TRUE(differs([](Config* c) { c->rows = 33; }));
    EXPECT_TRUE(differs([](Config* c) { c->columns = 33; }));
    EXPECT_TRUE(differs([](Config* c) { c->unified_buffer_bytes *= 2; }));
    EXPECT_TRUE(differs([](Config* c) { c->accumulator_rows = 33; }));
    EXPECT_TRUE(differs([](Config* c) { c->weight_fifo_tiles = 33; }));
    EXPECT_FALSE(differs([](Config* c) { c->clock_mhz = 33; }));
    EXPECT_FALSE(differs([](Config* c) { c->name = "other"; }));
    EXPECT_FALSE(differs([](Config* c) { c->double_buffer = false; }));
}

TEST(Config, EveryMemberHasARange)
{
    for (const ConfigField& field : config_fields()) {
        if (std::holds_alternative<bool Config::*>(field.member)) continue;
        for (const double bad : {field.low - 1, field.high + 1}) {
            Config config = preset("edge");
            std::visit(
                [&](auto member) {
                    config.*member = static_cast<std::decay_t<decltype(config.*member)>>(bad);
                },
                field.member);
            EXPECT_EQ(check_config(config, "here"), TENGINE_ERANGE) << field.name << " " << bad;
            EXPECT_THAT(tengine_error_message(), HasSubstr(std::string("here: '") + field.name));
        }
    }
    Config config = preset("edge");
    config.clock_mhz = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(check_config(config, "here"), TENGINE_ERANGE);
    for (const char* name : {"", "a\"b", "a\nb", "\xc3\xa4"}) {
        config = preset("edge");
        config.name = name;
        EXPECT_EQ(check_config(config, "here"), TENGINE_EINVAL) << name;
    }
}

TEST(Config, WhatIsNeitherPresetNorFile)
{
    Config config;
    EXPECT_EQ(load_config("edgy", &config), TENGINE_ENOENT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("tpu-v1, edge, scale32"));
    EXPECT_EQ(load_config("/", &config), TENGINE_EIO);
    const std::string pipe = testing::TempDir() + "config_test_pipe";
    unlink(pipe.c_str());
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(load_config(pipe, &config), TENGINE_EIO) << "which has no writer";
    unlink(pipe.c_str());
}

// Tests that need a build that can read JSON.
class ConfigJson : public testing::Test
{
  protected:
    void SetUp() override
    {
        Config config;
        if (parse_config("{}", "test", &config) == TENGINE_ENOTSUP)
            GTEST_SKIP() << "built without nlohmann-json";
    }
    static std::string refusal(const std::string& json)
    {
        Config config;
        const int status = parse_config(json, "here", &config);
        EXPECT_TRUE(status == TENGINE_EINVAL || status == TENGINE_ERANGE ||
                    status == TENGINE_ENOENT)
            << json;
        return tengine_error_message();
    }
};

TEST_F(ConfigJson, WhatIsPrintedIsRead)
{
    Config odd = preset("tpu-v1");
    odd.name = "odd one (2)";
    odd.clock_mhz = 1.0 / 3 + 100;
    odd.weight_gbps = 0.1;
    odd.host_gbps = 1e6;
    odd.unified_buffer_bytes = 1024 * 1024 * 1024;
    for (const Config& config : {preset("tpu-v1"), preset("edge"), preset("scale32"), odd}) {
        Config read;
        ASSERT_EQ(parse_config(print_config(config), "test", &read), TENGINE_OK)
            << tengine_error_message();
        EXPECT_EQ(print_config(read), print_config(config));
        EXPECT_EQ(read.name, config.name);
        EXPECT_EQ(read.clock_mhz, config.clock_mhz);
        EXPECT_EQ(read.shared_memory, config.shared_memory);
    }
}

TEST_F(ConfigJson, AFileSaysWhatDiffersFromItsBase)
{
    const std::string path = testing::TempDir() + "config_test.json";
    std::ofstream(path) << R"({"base": "tpu-v1", "rows": 128, "double_buffer": false})";
    const Config config = preset(path);
    EXPECT_EQ(config.name, "custom");
    EXPECT_EQ(config.rows, 128);
    EXPECT_FALSE(config.double_buffer);
    EXPECT_EQ(config.columns, 256);
    EXPECT_EQ(config.clock_mhz, 700);
    std::ofstream(path) << R"({"base": "tpu-v1", "rows": 0})";
    Config refused;
    EXPECT_EQ(load_config(path, &refused), TENGINE_ERANGE);
    EXPECT_THAT(tengine_error_message(), HasSubstr(path));
}

TEST_F(ConfigJson, RefusalsNameTheMember)
{
    EXPECT_THAT(refusal(R"({"rows": 8})"), HasSubstr("here: 'columns' is missing"));
    EXPECT_THAT(refusal(R"({"base": "edge", "row": 8})"), HasSubstr("unknown member 'row'"));
    EXPECT_THAT(refusal(R"({"base": "edge", "rows": "8"})"),
                HasSubstr("'rows' is \"8\", expected an integer"));
    EXPECT_THAT(refusal(R"({"base": "edge", "rows": 8.5})"), HasSubstr("expected an integer"));
    EXPECT_THAT(refusal(R"({"base": "edge", "rows": true})"), HasSubstr("expected an integer"));
    EXPECT_THAT(refusal(R"({"base": "edge", "clock_mhz": null})"),
                HasSubstr("'clock_mhz' is null, expected a number"));
    EXPECT_THAT(refusal(R"({"base": "edge", "shared_memory": 1})"),
                HasSubstr("expected true or false"));
    EXPECT_THAT(refusal(R"({"base": "edge", "rows": 1025})"),
                HasSubstr("'rows' is 1025, expected 1 to 1024"));
    EXPECT_THAT(refusal(R"({"base": "edge", "rows": 18446744073709551615})"),
                HasSubstr("expected 1 to 1024"));
    EXPECT_THAT(refusal(R"({"base": "edgy"})"), HasSubstr("unknown base 'edgy'"));
    EXPECT_THAT(refusal(R"({"base": 1})"), HasSubstr("'base' is 1, expected a string"));
    EXPECT_THAT(refusal(R"({"base": "edge", "name": 1})"), HasSubstr("'name' is 1"));
    EXPECT_THAT(refusal(R"({"base": "edge", "rows": 8, "rows": 9})"),
                HasSubstr("'rows' is given twice"));
}

TEST_F(ConfigJson, WhatIsNoJson)
{
    for (const char* text : {"", "[]", "1", "{", "{\"base\": \"edge\",}", "{\"base\": \"\xff\"}"})
        EXPECT_THAT(refusal(text), HasSubstr("here: ")) << text;
    EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("here: "));
}

// Values in messages would be written out by recursion.
TEST_F(ConfigJson, ValuesNestedTooDeeplyForTheStack)
{
    const auto nested = [](const std::string& open, const std::string& close) {
        std::string text = R"({"base": "edge", "rows": )";
        for (int i = 0; i < 100000; ++i)
            text += open;
        text += "1";
        for (int i = 0; i < 100000; ++i)
            text += close;
        return text + "}";
    };
    EXPECT_THAT(refusal(nested("[", "]")), HasSubstr("'rows' is an array, expected an integer"));
    EXPECT_THAT(refusal(nested("{\"a\":", "}")), HasSubstr("'rows' is an object"));
}

}  // namespace
}  // namespace tengine::tpu
