// SPDX-License-Identifier: Apache-2.0
// Byte code in a .tflite, as LiteRT's compilers store it: which dispatch runs it, and files that
// are damaged.
#include <filesystem>
#include <flatbuffers/flexbuffers.h>
#include <fstream>
#include <gmock/gmock.h>

#include "integration/tflite_plugin/vendor.h"
#include "tengine/entry.h"
#include "tengine/state.h"

namespace tengine::test {
namespace {

using testing::HasSubstr;

constexpr int kRelu = 19, kTanh = 28, kCustom = 32;
constexpr char kCode[] = "code of two";

std::string make_options(const std::string& name, int64_t offset, int64_t size)
{
    flexbuffers::Builder builder;
    builder.ForceMinimumBitWidth(flexbuffers::BIT_WIDTH_64);
    builder.Map([&] {
        builder.Int("bytecode_offset", offset);
        builder.Int("bytecode_size", size);
        builder.String("name", name);
    });
    builder.Finish();
    const auto& bytes = builder.GetBuffer();
    return {bytes.begin(), bytes.end()};
}

// Two strings of 125 bytes.
std::string make_pair(std::string first, std::string second)
{
    first.resize(125);
    second.resize(125);
    return first + second;
}

// y = tanh(2 x), z = 2 y; the two factors are byte code.
TfliteModel make_model(const std::string& first, const std::string& second)
{
    TfliteModel model;
    model.tensors = {{"x", {3}}, {"t", {3}}, {"y", {3}}, {"z", {3}}};
    model.operators = {{kCustom, {0}, {1}, {}, "DISPATCH_OP", first},
                       {kTanh, {1}, {2}},
                       {kCustom, {2}, {3}, {}, "DISPATCH_OP", second}};
    model.inputs = {0};
    model.outputs = {2, 3};
    model.metadata = {{"LiteRtStamp", make_pair("ACME", "A1")}};
    return model;
}

// A file with the byte code behind the flatbuffer, which both nodes share.
std::string make_file(const TfliteModel& model)
{
    return encode_tflite(model) + kCode;
}

std::string make_file()
{
    const auto make = [](int64_t offset) {
        const int64_t size = sizeof kCode - 1;
        return make_model(make_options("first", offset, size),
                          make_options("second", offset, size));
    };
    return make_file(make(static_cast<int64_t>(encode_tflite(make(0)).size())));
}

class DispatchOpTest : public VendorTest
{
  protected:
    // Loading or preparing fails with this part of the message.
    void expect_refusal(const std::string& file, const char* text, const char* device = "VENDOR",
                        const std::vector<std::pair<const char*, const char*>>& options = {})
    {
        EXPECT_FALSE(load(file, device, options) && prerun_graph(graph_) == 0) << text;
        EXPECT_THAT(get_tengine_error(), HasSubstr(text));
        take_logged_failures();
    }

    // The bytes of the file that the graph becomes.
    std::string save()
    {
        const std::string path = testing::TempDir() + "/dispatch.tflite";
        EXPECT_EQ(save_graph(graph_, "tflite", path.c_str()), 0) << get_tengine_error();
        std::ifstream file(path, std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        std::filesystem::remove(path);
        return bytes;
    }

    void expect_results()
    {
        const std::vector<std::string> results = run({bytes_of<float>({0, 100, -100})});
        EXPECT_EQ(results, (std::vector<std::string>{bytes_of<float>({0, 1, -1}),
                                                     bytes_of<float>({0, 2, -2})}));
    }
};

TEST_F(DispatchOpTest, TheDispatchOfTheMakerRunsIt)
{
    add_dispatch();
    vendor.chip = "a1";
    ASSERT_TRUE(load(make_file(), "VENDOR")) << get_tengine_error();
    expect_results();
    EXPECT_EQ(list_nodes(), "VENDOR DISPATCH_OP, CPU Tanh, VENDOR DISPATCH_OP");
    EXPECT_THAT(vendor.loaded, testing::ElementsAre(kCode)) << "the module is shared";
    EXPECT_THAT(vendor.entries, testing::ElementsAre("first", "second"));
}

TEST_F(DispatchOpTest, ACompilersNodesDoNotShareItsParts)
{
    add_compiler();
    add_dispatch();
    ASSERT_TRUE(load(make_file(), "VENDOR")) << get_tengine_error();
    EXPECT_EQ(run({bytes_of<float>({0, 1, 2})}).size(), 2u);
    EXPECT_THAT(vendor.loaded, testing::UnorderedElementsAre(kCode, "TANH "));
}

TEST_F(DispatchOpTest, OptionsAndSchedulersKnowIt)
{
    add_dispatch();
    ASSERT_TRUE(
        load(make_file(), "VENDOR",
             {{"run.profile", "1"}, {"scheduler", "pipeline"}, {"prerun.watchdog_ms", "9000"}}))
        << get_tengine_error();
    expect_results();
    EXPECT_THAT(vendor.entries, testing::ElementsAre("first", "second"));
}

TEST_F(DispatchOpTest, OtherMakersAndChipsAreRefused)
{
    expect_refusal(make_file(),
                   "it is byte code for ACME A1: load the plug-in with the dispatch of its maker, "
                   "and add that device",
                   nullptr);
    vendor.manufacturer = "Other";
    add_dispatch();
    expect_refusal(make_file(), "DISPATCH_OP 't': it is byte code for ACME A1");
    EXPECT_TRUE(load(make_file(), "VENDOR"));
    unload();
    ASSERT_EQ(tengine_unregister_dispatch(dispatch_), 0);
    vendor.manufacturer = "Acme";
    vendor.chip = "A2";
    add_dispatch();
    expect_refusal(make_file(), "it is byte code for ACME A1");
}

TEST_F(DispatchOpTest, ADispatchMayTakeFilesWithoutMaker)
{
    TfliteModel model = make_model("", "");
    const std::string options = make_pair("old", "NPU_BYTE_CODE");
    model.operators[0].custom_options = model.operators[2].custom_options = options;
    model.metadata = {{"NPU_BYTE_CODE", kCode}};
    add_dispatch();
    ASSERT_TRUE(load(encode_tflite(model), "VENDOR")) << get_tengine_error();
    expect_results();
    EXPECT_THAT(vendor.loaded, testing::ElementsAre(kCode));
    EXPECT_THAT(vendor.entries, testing::ElementsAre("old", "old"));

    // The buffer may state where the byte code lies.
    const auto make = [&](size_t offset) {
        std::string text = std::to_string(offset), size = std::to_string(sizeof kCode - 1);
        text.resize(11);
        size.resize(11);
        model.metadata = {{"NPU_BYTE_CODE", "<npu_byte_code>" + text + size}};
        return encode_tflite(model);
    };
    vendor.loaded.clear();
    ASSERT_TRUE(load(make(make(0).size()) + kCode, "VENDOR")) << get_tengine_error();
    expect_results();
    EXPECT_THAT(vendor.loaded, testing::ElementsAre(kCode));
}

// The byte code, which both nodes share, is written once, aligned, and the maker with it.
TEST_F(DispatchOpTest, AWrittenFileHasTheByteCode)
{
    add_dispatch();
    ASSERT_TRUE(load(make_file(), "VENDOR")) << get_tengine_error();
    const std::string bytes = save();
    const size_t place = bytes.find(kCode);
    EXPECT_EQ(place % 64, 0);
    EXPECT_EQ(place, bytes.rfind(kCode));
    EXPECT_NE(bytes.find(make_pair("ACME", "A1")), std::string::npos);
    vendor.loaded.clear();
    ASSERT_TRUE(load(bytes, "VENDOR")) << get_tengine_error();
    expect_results();
    EXPECT_THAT(vendor.loaded, testing::ElementsAre(kCode));
    expect_refusal(bytes, "it is byte code for ACME A1", nullptr);
}

// x → RELU → TANH → RELU → z, whose RELUs the vendor computes, as twice their inputs.
TfliteModel make_compiled()
{
    TfliteModel model;
    model.tensors = {{"x", {3}}, {"r", {3}}, {"t", {3}}, {"z", {3}}};
    model.operators = {{kRelu, {0}, {1}}, {kTanh, {1}, {2}}, {kRelu, {2}, {3}}};
    model.inputs = {0};
    model.outputs = {3};
    model.metadata = {{"of the model", "kept"}};
    return model;
}

TEST_F(DispatchOpTest, KeptPartsAreWrittenAsByteCode)
{
    vendor.chosen = {"RELU"};
    add_compiler();
    add_dispatch();
    const std::vector<std::string> x = {bytes_of<float>({0, 100, -100})};
    const std::vector<std::string> expected = {bytes_of<float>({0, 2, -2})};
    ASSERT_TRUE(load(encode_tflite(make_compiled()), "VENDOR", {{"model.keep_parts", "1"}}));
    EXPECT_EQ(run(x), expected);
    const std::string file = save();
    const std::string code = vendor.compiled.at(0);
    ASSERT_GE(file.size(), code.size());
    EXPECT_EQ(file.find(code), file.size() - code.size()) << "equal byte code is written once";
    EXPECT_NE(file.find(make_pair("Acme", "")), std::string::npos);
    EXPECT_NE(file.find("of the model"), std::string::npos);
    vendor.loaded.clear();
    vendor.compiled.clear();
    ASSERT_TRUE(load(file, "VENDOR")) << get_tengine_error();
    EXPECT_EQ(run(x), expected);
    EXPECT_EQ(list_nodes(), "VENDOR DISPATCH_OP, CPU Tanh, VENDOR DISPATCH_OP");
    EXPECT_THAT(vendor.loaded, testing::ElementsAre(code));
    // Without the option, and in another format, the operators stay.
    ASSERT_TRUE(load(encode_tflite(make_compiled()), "VENDOR"));
    EXPECT_EQ(run(x), expected);
    EXPECT_EQ(save().find("DISPATCH_OP"), std::string::npos);
}

// x → RELU → TANH → z and x → TANH → RELU → z, which add the state v to their results.
TfliteModel make_signatures()
{
    constexpr int kAdd = 0, kHandle = 142, kRead = 143, kAssign = 144;
    const auto make = [](int first, int second) {
        TfliteModel model;
        model.tensors = {{"x", {3}}, {"a", {3}},   {"b", {3}},
                         {"z", {3}}, {"old", {3}}, {"handle", {}, kTfliteResource}};
        model.operators = {{kHandle, {}, {5}, {{0, 0, 0, {}, "box"}, {1, 0, 0, {}, "v"}}},
                           {kRead, {5}, {4}},
                           {first, {0}, {1}},
                           {second, {1}, {2}},
                           {kAdd, {2, 4}, {3}},
                           {kAssign, {5, 3}, {}}};
        model.inputs = {0};
        model.outputs = {3};
        return model;
    };
    TfliteModel model = make(kRelu, kTanh);
    model.called = {make(kTanh, kRelu)};
    model.signatures = {{"one", 0, {{0, "x"}}, {{3, "z"}}}, {"two", 1, {{0, "x"}}, {{3, "z"}}}};
    return model;
}

TEST_F(DispatchOpTest, PartsOfAllSignaturesAreWritten)
{
    vendor.chosen = {"RELU"};
    add_compiler();
    add_dispatch();
    const std::vector<std::string> x = {bytes_of<float>({0, 100, -100})};
    ASSERT_TRUE(load(encode_tflite(make_signatures()), "VENDOR", {{"model.keep_parts", "1"}}));
    const graph_t opened = tengine_graph_open_entry(graph_, "two");
    ASSERT_NE(opened, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(prerun_graph(opened), 0) << get_tengine_error();
    const std::string file = save();
    EXPECT_EQ(destroy_graph(opened), 0);
    vendor.loaded.clear();
    vendor.compiled.clear();
    ASSERT_TRUE(load(file, "VENDOR")) << get_tengine_error();
    ASSERT_EQ(tengine_graph_get_state_number(graph_), 1);
    EXPECT_EQ(run(x), (std::vector<std::string>{bytes_of<float>({0, 1, -1})}));
    EXPECT_THAT(list_nodes(), HasSubstr("VENDOR DISPATCH_OP, CPU Tanh"));
    const graph_t first = graph_;
    graph_ = tengine_graph_open_entry(first, "two");
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(run(x), (std::vector<std::string>{bytes_of<float>({0, 3, -3})}));
    EXPECT_THAT(list_nodes(), HasSubstr("CPU Tanh, VENDOR DISPATCH_OP"));
    EXPECT_TRUE(vendor.compiled.empty());
    EXPECT_EQ(destroy_graph(first), 0);
}

TEST_F(DispatchOpTest, ItIsForTheShapesOfTheFile)
{
    add_dispatch();
    ASSERT_TRUE(load(make_file(), "VENDOR"));
    const int dims[] = {4};
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), dims, 1), 0);
    EXPECT_LT(prerun_graph(graph_), 0);
    EXPECT_THAT(get_tengine_error(), HasSubstr("its byte code is for the shapes of the file"));
    take_logged_failures();
}

TEST_F(DispatchOpTest, PlacesOutsideTheFileAreRefused)
{
    add_dispatch();
    const auto size = static_cast<int64_t>(make_file().size());
    struct Case
    {
        int64_t offset, size;
        const char* text;
    };
    for (const Case& place : {Case{0, size + 1, "byte code has"}, Case{size, 1, "byte code has"},
                              Case{size + 1, 0, "byte code has"}, Case{-1, 4, "lack"},
                              Case{4, -4, "lack"}, Case{INT64_MAX, INT64_MAX, "byte code has"},
                              Case{8, INT64_MAX, "byte code has"}, Case{8, 0, "expected 1 to"}})
        expect_refusal(make_file(make_model(make_options("first", 0, 4),
                                            make_options("second", place.offset, place.size))),
                       place.text);
    TfliteModel model = make_model(make_pair("a", "NONE"), make_options("second", 0, 4));
    expect_refusal(make_file(model), "the model has no metadata 'NONE'");
    model.operators[0].custom_options = "";
    expect_refusal(make_file(model), "the model has no metadata ''");
}

TEST_F(DispatchOpTest, DamagedFilesAreGraphsOrStatuses)
{
    add_dispatch();
    const std::string file = make_file();
    for (size_t i = 0; i < file.size(); ++i) {
        std::string damaged = file;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x81);
        load(damaged, "VENDOR");
        load(file.substr(0, i), "VENDOR");
    }
    take_logged_failures();
}

// Byte code for other runtimes.
TEST_F(DispatchOpTest, CompilersOfOtherRuntimesAreNamed)
{
    for (const auto& [op, text] :
         {std::pair("edgetpu-custom-op", "byte code of Coral's compiler for the Edge TPU"),
          std::pair("ethos-u", "byte code of Arm's compiler for the Ethos-U"),
          std::pair("NeutronGraph", "byte code of NXP's compiler for the eIQ Neutron")}) {
        TfliteModel model = make_model("", "");
        model.operators = {{kCustom, {0}, {2}, {}, op, "bytes"}};
        model.outputs = {2};
        expect_refusal(encode_tflite(model), text, nullptr);
    }
}

}  // namespace
}  // namespace tengine::test
