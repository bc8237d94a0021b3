// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself, from a file to another file in each format. Protobuf's
// own classes read the ONNX files.
#include "graph/metadata.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "graph/core.h"
#include "module/module.h"
#include "onnx_builder.h"
#include "onnx_text.h"
#include "optimizer/optimizer.h"
#include "serializer/serializer.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile/tmfile.h"
#include "tmfile_model.h"

namespace tengine::test {
namespace {

using MetadataTest = SerializerTest;

// x → Relu 'relu' → y with every statement; the dimensions of x and y have names.
OnnxBuilder documented_model()
{
    OnnxBuilder builder = small_model();
    onnx::ModelProto& model = builder.model;
    model.set_producer_name("pytorch");
    model.set_producer_version("2.4.0");
    model.set_domain("org.example");
    model.set_model_version(INT64_C(7000000000));
    model.set_doc_string("under a licence\nof two lines");
    builder.graph().set_doc_string("a graph");
    const std::pair<const char*, const char*> properties[] = {
        {"labels", "cat,dog"}, {"", "without a key"}, {"empty", ""}, {"labels", "again"}};
    for (const auto& [key, value] : properties) {
        auto* property = model.add_metadata_props();
        property->set_key(key);
        property->set_value(value);
    }
    auto* opset = model.add_opset_import();
    opset->set_domain("com.microsoft");
    opset->set_version(1);
    for (int i = 0; i < builder.graph().node_size(); ++i)
        builder.graph().mutable_node(i)->set_doc_string("layer " + std::to_string(i));
    return builder;
}

std::string write(const struct graph* graph, const char* format, const ScratchFolder& folder)
{
    const std::string path = folder.path / "written";
    serializer* writer = find_serializer_via_name(format);
    struct graph* translated = nullptr;
    EXPECT_EQ(create_saved_graph(graph, writer->dialect, &translated), 0)
        << tengine_error_message();
    EXPECT_EQ(writer->save_model(writer, translated ? translated : graph, path.c_str()), 0)
        << tengine_error_message();
    destroy_ir_graph(translated);
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

onnx::ModelProto parse(const std::string& bytes)
{
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(bytes));
    return model;
}

void expect_same_statements(const onnx::ModelProto& made, const onnx::ModelProto& model)
{
    EXPECT_EQ(made.producer_name(), model.producer_name());
    EXPECT_EQ(made.producer_version(), model.producer_version());
    EXPECT_EQ(made.domain(), model.domain());
    EXPECT_EQ(made.model_version(), model.model_version());
    EXPECT_EQ(made.doc_string(), model.doc_string());
    EXPECT_EQ(made.graph().doc_string(), model.graph().doc_string());
    ASSERT_EQ(made.metadata_props_size(), model.metadata_props_size());
    for (int i = 0; i < made.metadata_props_size(); ++i) {
        EXPECT_EQ(made.metadata_props(i).key(), model.metadata_props(i).key());
        EXPECT_EQ(made.metadata_props(i).value(), model.metadata_props(i).value());
    }
    ASSERT_EQ(made.graph().node_size(), model.graph().node_size());
    for (int i = 0; i < made.graph().node_size(); ++i)
        EXPECT_EQ(made.graph().node(i).doc_string(), model.graph().node(i).doc_string());
}

TEST_F(MetadataTest, OnnxFilesKeepThem)
{
    const OnnxBuilder builder = documented_model();
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const ScratchFolder folder;
    expect_same_statements(parse(write(loaded.graph, "onnx", folder)), builder.model);
}

TEST_F(MetadataTest, TmfilesKeepThem)
{
    const OnnxBuilder builder = documented_model();
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const ScratchFolder folder;
    const std::string tmfile = write(loaded.graph, "tengine", folder);
    const LoadedTmfile read(tmfile);
    ASSERT_EQ(read.status, 0) << read.message;
    expect_same_statements(parse(write(read.graph, "onnx", folder)), builder.model);
    EXPECT_EQ(write(read.graph, "tengine", folder), tmfile) << "equal graphs give equal files";
}

TEST_F(MetadataTest, NodesOfBodiesHaveDocumentation)
{
    OnnxBuilder builder;
    builder.model = parse_onnx_text(
        "in x float 2\n"
        "in c bool 1\n"
        "out y\n"
        "If c -> y\n"
        "body then_branch\n"
        "out t\n"
        "Relu x -> t\n"
        "end\n"
        "body else_branch\n"
        "out e\n"
        "Neg x -> e\n"
        "end\n");
    auto* choice = builder.graph().mutable_node(0);
    choice->set_doc_string("a choice");
    for (auto& branch : *choice->mutable_attribute())
        branch.mutable_g()->mutable_node(0)->set_doc_string("in " + branch.name());
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const ScratchFolder folder;
    const LoadedTmfile read(write(loaded.graph, "tengine", folder));
    ASSERT_EQ(read.status, 0) << read.message;
    for (const struct graph* graph : {loaded.graph, read.graph}) {
        const onnx::ModelProto made = parse(write(graph, "onnx", folder));
        const onnx::NodeProto& node = made.graph().node(0);
        EXPECT_EQ(node.doc_string(), "a choice");
        ASSERT_EQ(node.attribute_size(), 2);
        for (const auto& branch : node.attribute())
            EXPECT_EQ(branch.g().node(0).doc_string(), "in " + branch.name());
    }
}

TEST_F(MetadataTest, AModelThatSaysNothingStaysSilent)
{
    OnnxBuilder builder = small_model();
    const Loaded loaded(builder);
    const ScratchFolder folder;
    const onnx::ModelProto made = parse(write(loaded.graph, "onnx", folder));
    EXPECT_FALSE(made.has_producer_name());
    EXPECT_EQ(made.metadata_props_size(), 0);
    const std::string tmfile = write(loaded.graph, "tengine", folder);
    EXPECT_EQ(tmfile.find(tmfile::kMetadataMark), std::string::npos);
}

// Bytes that are not UTF-8, a string of a megabyte, and thousands of entries.
TEST_F(MetadataTest, HostileStatements)
{
    OnnxBuilder builder = small_model();
    builder.model.set_producer_name("\xff\xfe\x80");
    builder.model.set_domain(std::string("before\0after", 12));
    builder.model.set_doc_string(std::string(1 << 20, 'd'));
    builder.model.set_model_version(INT64_MIN);
    for (int i = 0; i < 5000; ++i)
        builder.model.add_metadata_props()->set_key("key " + std::to_string(i));
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const ScratchFolder folder;
    const LoadedTmfile read(write(loaded.graph, "tengine", folder));
    ASSERT_EQ(read.status, 0) << read.message;
    builder.model.set_domain("before");  // the core has strings of C
    for (const struct graph* graph : {loaded.graph, read.graph})
        expect_same_statements(parse(write(graph, "onnx", folder)), builder.model);
}

// Some byte of the records is changed, many times: the file still loads, or is refused.
TEST_F(MetadataTest, DamagedRecordsOfTmfiles)
{
    const Loaded loaded(documented_model());
    const ScratchFolder folder;
    const std::string intact = write(loaded.graph, "tengine", folder);
    const size_t mark = intact.find(tmfile::kMetadataMark);
    ASSERT_NE(mark, std::string::npos);
    uint32_t entries;
    std::memcpy(&entries, &intact[mark + sizeof tmfile::kMetadataMark], sizeof entries);
    std::minstd_rand random(1);
    int kept_num = 0;
    for (size_t place = entries; place < mark + sizeof(tmfile::MetadataRecord); ++place) {
        std::string bytes = intact;
        bytes[place] = static_cast<char>(random());
        const LoadedTmfile read(bytes);
        ASSERT_EQ(read.status, 0) << place << ": " << read.message;
        kept_num += read.graph->core->metadata != nullptr;
    }
    EXPECT_GT(kept_num, 0);
    EXPECT_LT(kept_num, static_cast<int>(mark - entries));
}

// Entries that all have one long text do not take memory for it again and again.
TEST_F(MetadataTest, TextsUsedAgainAndAgainAreBounded)
{
    OnnxBuilder builder = small_model();
    builder.model.set_doc_string(std::string(100000, 'd'));
    for (int i = 0; i < 2000; ++i)
        builder.model.add_metadata_props()->set_value("v");
    const Loaded loaded(builder);
    const ScratchFolder folder;
    std::string bytes = write(loaded.graph, "tengine", folder);
    const size_t mark = bytes.find(tmfile::kMetadataMark);
    uint32_t place, number;
    std::memcpy(&place, &bytes[mark + sizeof tmfile::kMetadataMark], sizeof place);
    std::memcpy(&number, &bytes[place], sizeof number);
    ASSERT_EQ(number, 2001u);
    auto* records = reinterpret_cast<tmfile::MetadataEntryRecord*>(&bytes[place + sizeof number]);
    const auto* longest = std::find_if(records, records + number, [](const auto& record) {
        return record.kind == IR_METADATA_DOC_STRING;
    });
    for (uint32_t i = 0; i < number; ++i)
        records[i].text = longest->text;
    const LoadedTmfile read(bytes);
    EXPECT_EQ(read.status, 0) << read.message;
    EXPECT_EQ(read.graph->core->metadata, nullptr) << "200 MB are too much for a small file";
}

TEST_F(MetadataTest, DeclaredNamesOfOutputs)
{
    OnnxBuilder builder = small_model();
    const auto name_dim = [](onnx::ValueInfoProto* value, const char* name) {
        auto* tensor = value->mutable_type()->mutable_tensor_type();
        tensor->set_elem_type(onnx::TensorProto::FLOAT);
        tensor->mutable_shape()->clear_dim();
        tensor->mutable_shape()->add_dim()->set_dim_param(name);
        tensor->mutable_shape()->add_dim()->set_dim_value(3);
    };
    name_dim(builder.graph().mutable_input(0), "batch");
    name_dim(builder.graph().mutable_output(0), "rows");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const ScratchFolder folder;
    const onnx::ModelProto made = parse(write(loaded.graph, "onnx", folder));
    const auto& shape = made.graph().output(0).type().tensor_type().shape();
    ASSERT_EQ(shape.dim_size(), 2);
    EXPECT_EQ(shape.dim(0).dim_param(), "rows");
    EXPECT_EQ(shape.dim(1).dim_value(), 3);
    EXPECT_EQ(made.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
}

}  // namespace
}  // namespace tengine::test
