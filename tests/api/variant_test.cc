// SPDX-License-Identifier: Apache-2.0
// placement.h: variants of a compiled file, which are judged by devices, chip, driver, precision
// and options of the process. The devices are scripted; their computation is the CPU's.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "fixture.h"
#include "support/test_device.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/placement.h"

namespace tengine {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

std::string chip, driver;  // of the devices

int identify(device* device, const graph* graph, ir_identity_t* out_identity)
{
    const char* mode = get_ir_device_option(graph, device, "mode");
    std::snprintf(out_identity->chip, sizeof out_identity->chip, "%s",
                  chip.empty() && mode ? mode : chip.c_str());
    std::snprintf(out_identity->driver, sizeof out_identity->driver, "%s", driver.c_str());
    std::snprintf(out_identity->model_options, sizeof out_identity->model_options, "mode size");
    return 0;
}

int check_option(device*, const char* key, const char* value)
{
    if (std::string(key) == "mode" && std::string(value) == "bad")
        return tengine_error_set(TENGINE_EINVAL, "mode: bad is not one");
    return 0;
}

class VariantTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        chip = "A1";
        driver = "2.1.7";
        for (const char* name : {"FAST", "SMALL"}) {
            devices_.push_back(
                std::make_unique<test::TestDevice>(name, std::vector<std::string>{"Relu"}));
            devices_.back()->get()->interface->identify = identify;
            devices_.back()->get()->interface->check_option = check_option;
            devices_.back()->on_pre_run = [this, name](subgraph* part) {
                const char* mode =
                    get_ir_device_option(part->graph, find_device_via_name(name), "mode");
                seen_ = mode ? mode : "";
            };
        }
        folder_ = testing::TempDir() + "variant_" + std::to_string(getpid());
        std::filesystem::create_directory(folder_);
        file_ = folder_ + "/net.tmfile";
        const graph_t graph = create_relu_graph();
        ASSERT_EQ(save_graph(graph, "tengine", file_.c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
    }
    void TearDown() override
    {
        devices_.clear();
        std::filesystem::remove_all(folder_);
        ApiTest::TearDown();
    }

    // The model of the file in a context of its own.
    graph_t load(const std::vector<const char*>& devices, const Options& options = {})
    {
        const context_t context = create_context("variants", devices.empty() ? 0 : 1);
        for (const char* device : devices)
            EXPECT_EQ(add_context_device(context, device), 0) << get_tengine_error();
        for (const auto& [key, value] : options)
            EXPECT_EQ(tengine_context_set_option(context, key.c_str(), value.c_str()), 0)
                << get_tengine_error();
        const graph_t graph = create_graph(context, "tengine", file_.c_str());
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        destroy_context(context);
        return graph;
    }

    static int prepare(graph_t graph, int precision = TENGINE_MODE_FP32)
    {
        EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
        return prerun_graph_multithread(graph, {1, TENGINE_CLUSTER_BIG, precision, 0});
    }

    // Adds a variant to the file.
    void keep(const std::string& description, const std::vector<const char*>& devices,
              Options options = {}, int precision = TENGINE_MODE_FP32)
    {
        options.emplace_back("model.keep_parts", "1");
        options.emplace_back("model.keep_variant", description);
        const graph_t graph = load(devices, options);
        ASSERT_EQ(prepare(graph, precision), 0) << get_tengine_error();
        ASSERT_EQ(save_graph(graph, "tengine", file_.c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
    }

    // Prepares and runs: returns "first +; second -: reason" for each variant, + for the taken one.
    std::string judge(const std::vector<const char*>& devices, const Options& options = {},
                      int precision = TENGINE_MODE_FP32)
    {
        const graph_t graph = load(devices, options);
        seen_ = "";
        EXPECT_EQ(prepare(graph, precision), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)),
                  (std::vector<float>{0, 2, 0, 4}));
        const std::string text = text_of(graph);
        destroy_graph(graph);
        return text;
    }

    static std::string text_of(graph_t graph)
    {
        std::string text;
        for (int i = 0; i < tengine_graph_get_variant_number(graph); ++i) {
            tengine_variant variant;
            EXPECT_EQ(tengine_graph_get_variant(graph, i, &variant, sizeof variant), 0)
                << get_tengine_error();
            text += (i > 0 ? "; " : "") + std::string(variant.name) +
                    (variant.is_taken ? " +" : " -: " + std::string(variant.reason));
        }
        return text;
    }

    std::vector<std::unique_ptr<test::TestDevice>> devices_;
    std::string folder_, file_;
    std::string seen_;  // the option "mode" of the last part that a device has compiled
};

TEST_F(VariantTest, TheOneThatFitsTheDevicesIsTaken)
{
    keep("name=fast", {"FAST"});
    keep("name=cpu", {});
    EXPECT_EQ(judge({"FAST"}), "fast +; cpu -: it fits, variant 'fast' comes first");
    EXPECT_EQ(judge({}), "fast -: device FAST is not in the context; cpu +");
    EXPECT_EQ(judge({"SMALL"}), "fast -: device FAST is not in the context; cpu +");
    EXPECT_EQ(judge({"CPU"}), "fast -: device FAST is not in the context; cpu +");
    devices_.erase(devices_.begin());
    EXPECT_EQ(judge({"SMALL"}), "fast -: there is no device FAST; cpu +");
}

TEST_F(VariantTest, TheContextsOrderDecidesThenTheMostSpecific)
{
    keep("name=cpu", {});
    keep("name=small", {"SMALL"});
    keep("name=fast", {"FAST"});
    keep("name=fast A1,chip=A1", {"FAST"});
    keep("name=again", {"FAST"});
    EXPECT_EQ(judge({"FAST", "SMALL"}).find("fast A1 +") != std::string::npos, true);
    EXPECT_EQ(judge({"SMALL", "FAST"}).find("small +") != std::string::npos, true);
    keep("name=both", {"FAST", "SMALL"});
    EXPECT_EQ(judge({"FAST", "SMALL"}).find("both +") != std::string::npos, true);
    EXPECT_EQ(judge({"SMALL", "FAST"}).find("small +") != std::string::npos, true);
    EXPECT_EQ(judge({"FAST"}).find("fast A1 +") != std::string::npos, true);
    chip = "A2";
    EXPECT_EQ(judge({"FAST"}),
              "cpu -: it fits, variant 'fast' comes first; small -: device SMALL is not in the "
              "context; fast +; fast A1 -: chip 'A1', FAST has 'A2'; again -: it fits, variant "
              "'fast' comes first; both -: device SMALL is not in the context");
}

TEST_F(VariantTest, ChipAndDriverAreThoseOfTheDevice)
{
    keep("name=v,chip=A1,driver=2.1", {"FAST"});
    EXPECT_EQ(judge({"FAST"}), "v +");
    driver = "2.10";
    EXPECT_EQ(judge({"FAST"}), "v -: driver '2.1', FAST has '2.10'");
    driver = "";
    EXPECT_EQ(judge({"FAST"}), "v -: driver '2.1', FAST has none that it names");
    driver = "2.1";
    EXPECT_EQ(judge({"FAST"}), "v +");
    chip = "";
    EXPECT_EQ(judge({"FAST"}), "v -: chip 'A1', FAST has none that it names");
    devices_[0]->get()->interface->identify = nullptr;
    EXPECT_EQ(judge({"FAST"}), "v -: chip 'A1', FAST has none that it names");
    devices_[0]->get()->interface->identify = [](device*, const graph*, ir_identity_t*) {
        return static_cast<int>(TENGINE_EDEVICE);
    };
    const graph_t graph = load({"FAST"});
    EXPECT_EQ(prepare(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
    destroy_graph(graph);
}

TEST_F(VariantTest, PrecisionIsThatOfTheRun)
{
    keep("name=half", {}, {}, TENGINE_MODE_FP16);
    keep("name=full", {});
    EXPECT_EQ(judge({}), "half -: precision fp16, the run has fp32; full +");
    EXPECT_EQ(judge({}, {}, TENGINE_MODE_FP16), "half +; full -: precision fp32, the run has fp16");
    EXPECT_EQ(judge({}, {}, TENGINE_MODE_BF16),
              "half -: precision fp16, the run has bf16; full -: precision fp32, the run has bf16");
}

TEST_F(VariantTest, ItsOptionsApplyWhereTheProgramSetsNone)
{
    chip = "";
    keep("name=v", {"FAST"}, {{"FAST.mode", "quick"}, {"split.prune", "0"}});
    EXPECT_EQ(judge({"FAST"}), "v +");
    EXPECT_EQ(seen_, "quick");
    EXPECT_EQ(judge({"FAST"}, {{"FAST.mode", "quick"}}), "v +");
    EXPECT_EQ(judge({"FAST"}, {{"FAST.mode", "slow"}}),
              "v -: option FAST.mode: quick, the program has slow");
    EXPECT_EQ(seen_, "slow");
    EXPECT_EQ(judge({"FAST"}, {{"split.prune", "1"}}),
              "v -: option split.prune: 0, the program has 1");
    EXPECT_EQ(judge({"FAST"}, {{"model.variant", "none"}}), "v -: ");
    EXPECT_EQ(seen_, "");
    // Options that would make another chip of the present one.
    chip = "slow";
    devices_[0]->get()->interface->identify = [](device* device, const graph* graph,
                                                 ir_identity_t* out_identity) {
        const char* mode = get_ir_device_option(graph, device, "mode");
        std::snprintf(out_identity->chip, sizeof out_identity->chip, "%s", mode ? mode : "slow");
        std::snprintf(out_identity->model_options, sizeof out_identity->model_options, "mode");
        return 0;
    };
    EXPECT_EQ(judge({"FAST"}), "v -: its options are for chip 'quick', FAST has 'slow'");
}

// Files may not name paths, nor set options that the device does not release for them.
TEST_F(VariantTest, AFileSetsHarmlessOptionsOnly)
{
    for (const char* value : {"/etc/passwd", "edge.json", "..", "a b", ""}) {
        keep("name=v", {"FAST"}, {{"FAST.mode", value}});
        EXPECT_EQ(judge({"FAST"}), "v -: option FAST.mode: a file may not set it to '" +
                                       std::string(value) + "', the program has to");
        EXPECT_EQ(judge({"FAST"}, {{"FAST.mode", value}}), "v +");
    }
    keep("name=v", {"FAST"}, {{"FAST.save", "word"}});
    EXPECT_EQ(judge({"FAST"}),
              "v -: option FAST.save: a file may not set it to 'word', the program has to");
    keep("name=v", {"FAST"}, {{"FAST.mode", "good"}});
    devices_[0]->get()->interface->check_option = [](device*, const char*, const char*) {
        return tengine_error_set(TENGINE_EINVAL, "mode: good is not one");
    };
    EXPECT_EQ(judge({"FAST"}), "v -: mode: good is not one");
    keep("name=v", {}, {{"cache.limit_mb", "7"}, {"run.trace", "100"}});
    const graph_t graph = load({});
    tengine_variant variant;
    ASSERT_EQ(tengine_graph_get_variant(graph, 0, &variant, sizeof variant), 0);
    EXPECT_STREQ(variant.options, "");
    destroy_graph(graph);
}

TEST_F(VariantTest, AnOptionForcesOne)
{
    keep("name=first", {});
    keep("name=second", {});
    keep("name=fast", {"FAST"});
    EXPECT_EQ(judge({}, {{"model.variant", "second"}}).substr(0, 59),
              "first -: it fits, variant 'second' comes first; second +; f");
    graph_t graph = load({}, {{"model.variant", "fast"}});
    EXPECT_EQ(prepare(graph), -1);
    EXPECT_STREQ(get_tengine_error(),
                 "option model.variant: variant 'fast' cannot be used: device "
                 "FAST is not in the context");
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    destroy_graph(graph);
    graph = load({}, {{"model.variant", "third"}});
    EXPECT_EQ(prepare(graph), -1);
    EXPECT_STREQ(get_tengine_error(),
                 "option model.variant: the model has no variant 'third': "
                 "expected first, second, fast");
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    destroy_graph(graph);
}

TEST_F(VariantTest, WrongDescriptions)
{
    for (const char* text : {"", "name=", "name=none", "chip=A1", "edge", "name=v,soc=A1"}) {
        if (!*text) continue;  // keeps no variant
        const graph_t graph = load({}, {{"model.keep_parts", "1"}, {"model.keep_variant", text}});
        EXPECT_EQ(prepare(graph), -1) << text;
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        destroy_graph(graph);
    }
}

TEST_F(VariantTest, TheSameNameReplaces)
{
    keep("name=a", {});
    keep("name=b", {});
    keep("name=a,chip=X", {"FAST"});
    EXPECT_EQ(judge({"FAST"}), "a -: chip 'X', FAST has 'A1'; b +");
    for (int i = 0; i < 254; ++i) {
        const graph_t graph = load(
            {}, {{"model.keep_parts", "1"}, {"model.keep_variant", "name=n" + std::to_string(i)}});
        ASSERT_EQ(prepare(graph), 0) << get_tengine_error();
        ASSERT_EQ(save_graph(graph, "tengine", file_.c_str()), 0);
        destroy_graph(graph);
    }
    const graph_t graph =
        load({}, {{"model.keep_parts", "1"}, {"model.keep_variant", "name=more"}});
    EXPECT_EQ(prepare(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
    EXPECT_EQ(tengine_graph_get_variant_number(graph), 256);
    destroy_graph(graph);
}

TEST_F(VariantTest, InstancesHaveThem)
{
    chip = "";
    keep("name=v", {"FAST"}, {{"FAST.mode", "quick"}});
    for (const char* scheduler : {"sync", "pipeline"}) {
        const graph_t graph = load({"FAST"}, {{"scheduler", scheduler}});
        ASSERT_EQ(prepare(graph), 0) << get_tengine_error();
        seen_ = "";
        const graph_t instance = tengine_graph_share(graph);
        ASSERT_NE(instance, nullptr) << get_tengine_error();
        destroy_graph(graph);
        ASSERT_EQ(prepare(instance), 0) << get_tengine_error();
        EXPECT_EQ(seen_, "quick");
        ASSERT_EQ(run_graph(instance, 1), 0) << get_tengine_error();
        EXPECT_EQ(text_of(instance), "v +");
        destroy_graph(instance);
    }
}

// The part that a watchdog gives up has options of its own.
TEST_F(VariantTest, WatchedPartsHaveTheOptions)
{
    chip = "";
    keep("name=v", {"FAST"}, {{"FAST.mode", "quick"}});
    EXPECT_EQ(judge({"FAST"}, {{"run.watchdog_ms", "60000"}, {"prerun.watchdog_ms", "60000"}}),
              "v +");
    EXPECT_EQ(seen_, "quick");
}

TEST_F(VariantTest, PreparationsFollowTheContext)
{
    chip = "";
    keep("name=v", {"FAST"}, {{"FAST.mode", "quick"}});
    const context_t context = create_context("changing", 0);
    const graph_t graph = create_graph(context, "tengine", file_.c_str());
    ASSERT_EQ(prepare(graph), 0) << get_tengine_error();
    EXPECT_EQ(text_of(graph), "v -: device FAST is not in the context");
    ASSERT_EQ(add_context_device(context, "FAST"), 0);
    ASSERT_EQ(prepare(graph), 0) << get_tengine_error();
    EXPECT_EQ(text_of(graph), "v +");
    ASSERT_EQ(remove_context_device(context, "FAST"), 0);
    ASSERT_EQ(prepare(graph), 0) << get_tengine_error();
    EXPECT_EQ(text_of(graph), "v -: device FAST is not in the context");
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(VariantTest, WrongArguments)
{
    keep("name=v", {});
    const graph_t graph = load({});
    tengine_variant variant;
    EXPECT_EQ(tengine_graph_get_variant_number(graph), 1);
    EXPECT_EQ(tengine_graph_get_variant(graph, 1, &variant, sizeof variant), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_get_variant(graph, 0, nullptr, sizeof variant), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_variant(graph, 0, &variant, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    ASSERT_EQ(tengine_graph_get_variant(graph, 0, &variant, sizeof variant), 0);
    EXPECT_STREQ(variant.devices, "CPU");
    EXPECT_EQ(variant.is_usable, 1);
    EXPECT_EQ(variant.is_taken, 0) << "nothing is prepared";
    destroy_graph(graph);
}

}  // namespace
}  // namespace tengine
