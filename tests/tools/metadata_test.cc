// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself through the commands: `inspect` prints them, and the files
// of `convert`, `compile` and `quantize` have them. Protobuf reads the ONNX files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A Relu after a convolution, with hostile strings among its statements.
std::string write_documented_model(const std::string& folder)
{
    ModelMaker maker({1, 2, 8, 8});
    maker.constant("w", {2, 2, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f});
    maker.node("Conv", {"x", "w"}, "c")->set_doc_string("the only layer");
    maker.node("Relu", {"c"}, "y");
    ::onnx::ModelProto& model = maker.model;
    model.set_producer_name("exporter");
    model.set_producer_version("1.5");
    model.set_domain("org.example");
    model.set_model_version(7);
    model.set_doc_string("first line\nsecond line");
    model.mutable_graph()->set_doc_string("\xff\x1b[31mred");
    auto* property = model.add_metadata_props();
    property->set_key("labels");
    property->set_value("cat,dog");
    return maker.write(folder);
}

void expect_statements(const std::string& model)
{
    const Finished finished = run({"inspect", model, "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json metadata = json::parse(finished.output)["metadata"];
    EXPECT_EQ(metadata["producer_name"], "exporter");
    EXPECT_EQ(metadata["producer_version"], "1.5");
    EXPECT_EQ(metadata["domain"], "org.example");
    EXPECT_EQ(metadata["model_version"], 7);
    EXPECT_EQ(metadata["doc_string"], "first line\nsecond line");
    EXPECT_EQ(metadata["graph_doc_string"], "\xEF\xBF\xBD\x1b[31mred");
    EXPECT_EQ(metadata["properties"], json::parse(R"([{"key": "labels", "value": "cat,dog"}])"));
}

TEST(MetadataCommand, InspectPrintsLines)
{
    const std::string folder = scratch_folder();
    const Finished finished = run({"inspect", write_documented_model(folder)});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(
        finished.output,
        AllOf(HasSubstr("\nproducer    exporter 1.5\n"), HasSubstr("\nversion     7\n"),
              HasSubstr("\ndomain      org.example\n"), HasSubstr("\nabout       first line\n"),
              HasSubstr("\nproperty    labels: cat,dog\n"),
              HasSubstr("\nopsets      ai.onnx 13\n")));
    EXPECT_THAT(finished.output, AllOf(Not(HasSubstr("second line")), Not(HasSubstr("\x1b"))));
}

TEST(MetadataCommand, EveryCommandKeepsThem)
{
    const std::string folder = scratch_folder();
    const std::string model = write_documented_model(folder);
    const std::vector<std::vector<std::string>> commands = {
        {"convert", model, folder + "/a.tmfile"},
        {"convert", folder + "/a.tmfile", folder + "/b.onnx"},
        {"convert", model, folder + "/c.onnx", "--opset", "17"},
        {"quantize", model, "--random", "4", "-o", folder + "/d.onnx"},
        {"compile", model, "-o", folder + "/e.tmfile"},
    };
    for (const auto& command : commands) {
        SCOPED_TRACE(command[0] + " " + command.back());
        const Finished finished = run(command);
        ASSERT_EQ(finished.status, 0) << finished.errors;
    }
    for (const char* name : {"", "/a.tmfile", "/b.onnx", "/c.onnx", "/d.onnx", "/e.tmfile"}) {
        SCOPED_TRACE(name);
        expect_statements(*name ? folder + name : model);
    }
    for (const char* name : {"/b.onnx", "/c.onnx", "/d.onnx"}) {
        const ::onnx::ModelProto written = load_model(folder + name);
        EXPECT_EQ(written.producer_name(), "exporter") << name;
        EXPECT_EQ(written.doc_string(), "first line\nsecond line") << name;
        bool has_documentation = false;
        for (const auto& node : written.graph().node())
            has_documentation |= node.doc_string() == "the only layer";
        EXPECT_TRUE(has_documentation) << name;
    }
}

}  // namespace
}  // namespace tengine::program
