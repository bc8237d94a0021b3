// SPDX-License-Identifier: Apache-2.0
// Values in external files, and paths that try to leave the model's folder.
#include <fstream>
#include <memory>
#include <sys/stat.h>

#include "graph/option.h"
#include "module/module.h"
#include "serializer/onnx_builder.h"
#include "serializer/serializer.h"

namespace tengine::test {
namespace {

namespace fs = std::filesystem;

// A folder with a model whose initializer 'w' (int8, 4 values) is external.
class OnnxExternalDataTest : public SerializerTest
{
  protected:
    OnnxExternalDataTest()
    {
        builder.add_output("w");
        weight = builder.graph().add_initializer();
        weight->set_name("w");
        weight->set_data_type(onnx::TensorProto::INT8);
        weight->add_dims(4);
        weight->set_data_location(onnx::TensorProto::EXTERNAL);
        fs::create_directory(root.path / "model");
        root.write("model/weights.bin", "abcdefgh");
        root.write("secret.bin", "secret!!");
    }

    void refer(const std::string& location, const std::string& offset = "",
               const std::string& length = "")
    {
        weight->clear_external_data();
        for (const auto& [key, value] : {std::pair<const char*, std::string>{"location", location},
                                         {"offset", offset},
                                         {"length", length},
                                         {"checksum", "0"}}) {
            if (value.empty()) continue;
            weight->add_external_data()->set_key(key);
            weight->mutable_external_data()->rbegin()->set_value(value);
        }
    }

    fs::path write_model() { return root.write("model/model.onnx", builder.encode()); }

    void expect_refused(const std::string& location, int code, Names parts)
    {
        refer(location);
        expect_failure(Loaded(write_model()), code, parts);
    }

    ScratchFolder root;
    OnnxBuilder builder;
    onnx::TensorProto* weight;
};

// A file of the model's folder can be a hard link to a secret file. With deduplication all files
// have several links, so that the check is optional.
TEST_F(OnnxExternalDataTest, HardLinksAreRefusedWhenAskedFor)
{
    const std::unique_ptr<context, void (*)(context*)> strict(create_ir_context(nullptr),
                                                              destroy_ir_context);
    ASSERT_EQ(set_ir_context_option(strict.get(), "model.refuse_hard_links", "1"), 0);
    refer("weights.bin");
    const Loaded single(write_model(), strict.get());
    EXPECT_EQ(single.status, 0) << single.message;
    fs::create_hard_link(root.path / "secret.bin", root.path / "model/linked.bin");
    refer("linked.bin");
    const Loaded by_default(write_model());
    EXPECT_EQ(by_default.status, 0) << by_default.message;
    expect_failure(
        Loaded(write_model(), strict.get()), TENGINE_EFORMAT,
        {"initializer 'w'", "'linked.bin' is refused", "2 names", "model.refuse_hard_links"});
}

TEST_F(OnnxExternalDataTest, ValuesComeFromTheFile)
{
    refer("weights.bin");
    const Loaded plain(write_model());
    ASSERT_EQ(plain.status, 0) << plain.message;
    EXPECT_EQ(std::string(static_cast<char*>(plain.tensor("w")->data), 4), "abcd");

    refer("weights.bin", "3", "4");
    const Loaded placed(write_model());
    ASSERT_EQ(placed.status, 0) << placed.message;
    EXPECT_EQ(std::string(static_cast<char*>(placed.tensor("w")->data), 4), "defg");
}

// The file uses no space on the disk: everything except its end is a hole.
TEST_F(OnnxExternalDataTest, OffsetsMayBeBeyond32Bits)
{
    constexpr uint64_t kOffset = uint64_t{5} << 30;
    const fs::path path = root.write("model/large.bin", "");
    std::error_code error;
    fs::resize_file(path, kOffset, error);
    if (error) GTEST_SKIP() << "the file system has no files of 5 GiB: " << error.message();
    std::ofstream(path, std::ios::binary | std::ios::app) << "wxyz";
    refer("large.bin", std::to_string(kOffset), "4");
    const Loaded loaded(write_model());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(std::string(static_cast<char*>(loaded.tensor("w")->data), 4), "wxyz");
}

TEST_F(OnnxExternalDataTest, SeveralTensorsAndFiles)
{
    fs::create_directory(root.path / "model/more");
    root.write("model/more/other.bin", "0123");
    refer("weights.bin", "4");
    auto* second = builder.graph().add_initializer();
    *second = *weight;
    second->set_name("v");
    second->mutable_external_data(0)->set_value("more/other.bin");
    second->mutable_external_data(1)->set_value("0");
    const Loaded loaded(write_model());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(std::string(static_cast<char*>(loaded.tensor("w")->data), 4), "efgh");
    EXPECT_EQ(std::string(static_cast<char*>(loaded.tensor("v")->data), 4), "0123");
}

TEST_F(OnnxExternalDataTest, ModelInTheWorkingFolder)
{
    refer("./weights.bin");
    write_model();
    const fs::path before = fs::current_path();
    fs::current_path(root.path / "model");
    const Loaded loaded(fs::path("model.onnx"));
    fs::current_path(before);
    EXPECT_EQ(loaded.status, 0) << loaded.message;
}

TEST_F(OnnxExternalDataTest, PathsOutOfTheFolderAreRefused)
{
    expect_refused("../secret.bin", TENGINE_EFORMAT, {"initializer 'w'", "'../secret.bin'", ".."});
    expect_refused("more/../../secret.bin", TENGINE_EFORMAT, {"refused"});
    expect_refused((root.path / "model/weights.bin").string(), TENGINE_EFORMAT, {"refused"});
    expect_refused("/etc/passwd", TENGINE_EFORMAT, {"'/etc/passwd' is refused"});
    expect_refused("", TENGINE_EFORMAT, {"'' is refused"});
    expect_refused(std::string("weights.bin\0/x", 14), TENGINE_EFORMAT, {"refused"});
}

TEST_F(OnnxExternalDataTest, SymbolicLinksOutOfTheFolderAreRefused)
{
    fs::create_symlink(root.path / "secret.bin", root.path / "model/link.bin");
    expect_refused("link.bin", TENGINE_EFORMAT, {"symbolic link", "'link.bin'"});
    fs::create_directory_symlink(root.path, root.path / "model/up");
    expect_refused("up/secret.bin", TENGINE_EFORMAT, {"symbolic link"});
    // A sibling folder whose name begins like the model's is outside as well.
    fs::create_directory(root.path / "model2");
    root.write("model2/w.bin", "abcd");
    fs::create_symlink(root.path / "model2/w.bin", root.path / "model/sibling.bin");
    expect_refused("sibling.bin", TENGINE_EFORMAT, {"symbolic link"});

    fs::create_symlink("weights.bin", root.path / "model/inside.bin");
    refer("inside.bin");
    EXPECT_EQ(Loaded(write_model()).status, 0);
}

TEST_F(OnnxExternalDataTest, WhatIsNoRegularFileIsRefused)
{
    expect_refused("absent.bin", TENGINE_EIO, {"initializer 'w'", "'absent.bin'", "No such file"});
    fs::create_directory(root.path / "model/folder");
    expect_refused("folder", TENGINE_EIO, {"not a regular file"});
    ASSERT_EQ(mkfifo((root.path / "model/pipe").c_str(), 0600), 0);
    expect_refused("pipe", TENGINE_EIO, {"not a regular file"});
}

TEST_F(OnnxExternalDataTest, SizesAreChecked)
{
    refer("weights.bin", "5");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT, {"4 bytes at offset 5", "has 8"});
    refer("weights.bin", "18446744073709551615");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT, {"offset 18446744073709551615"});
    refer("weights.bin", "18446744073709551616");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT, {"offset", "whole number"});
    refer("weights.bin", "-1");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT, {"'-1'", "whole number"});
    refer("weights.bin", "0", "8");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT, {"8 bytes", "expected 4"});
    // Claims of more than the file has fail before memory is allocated for them.
    weight->set_dims(0, 0x7fffffff);
    refer("weights.bin");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT,
                   {"2147483647 bytes at offset 0", "has 8"});
    weight->add_dims(0x7fffffff);
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT,
                   sizeof(size_t) > 4 ? Names{"bytes at offset 0", "has 8"} : Names{"overflows"});
}

TEST_F(OnnxExternalDataTest, ModelInMemoryHasNone)
{
    refer("weights.bin");
    expect_failure(Loaded(builder), TENGINE_ENOTSUP, {"initializer 'w'", "in memory"});
}

TEST_F(OnnxExternalDataTest, AttributesToo)
{
    refer("weights.bin", "4");
    auto* value = builder.add_node("Constant", {}, {"c"}, "constant")->add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    *value->mutable_t() = *weight;
    EXPECT_EQ(Loaded(write_model()).status, 0);
    value->mutable_t()->mutable_external_data(0)->set_value("../secret.bin");
    expect_failure(Loaded(write_model()), TENGINE_EFORMAT,
                   {"Constant 'constant': attribute 'value'", "'../secret.bin'"});
}

// ---- written ----

// A model of two large initialisers, one of them in a branch, and a small one, as it is saved.
class OnnxWrittenDataTest : public OnnxExternalDataTest
{
  protected:
    void save(const char* megabytes)
    {
        const std::unique_ptr<context, void (*)(context*)> context(create_ir_context(nullptr),
                                                                   destroy_ir_context);
        ASSERT_EQ(set_ir_context_option(context.get(), "model.external_mb", megabytes), 0);
        OnnxBuilder model;
        model.add_input("c", {1}, onnx::TensorProto::BOOL);
        model.add_initializer("large", {300});
        model.add_initializer("small", {3});
        for (const char* name : {"large", "small"})
            model.add_output(name);
        model.add_output("y");
        onnx::NodeProto* choice = model.add_node("If", {"c"}, {"y"}, "if");
        for (const char* name : {"then_branch", "else_branch"}) {
            OnnxBuilder branch;
            branch.graph().set_name(name);
            branch.add_initializer("inner", {260});
            branch.add_node("Neg", {"inner"}, {"z"});
            branch.add_output("z");
            onnx::AttributeProto* attribute = choice->add_attribute();
            attribute->set_name(name);
            attribute->set_type(onnx::AttributeProto::GRAPH);
            *attribute->mutable_g() = branch.graph();
        }
        const Loaded loaded(root.write("given.onnx", model.encode()), context.get());
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        struct serializer* onnx = find_serializer_via_name("onnx");
        const std::string path = (root.path / "written.onnx").string();
        status = onnx->save_model(onnx, loaded.graph, path.c_str());
        if (status != 0) return;
        std::ifstream file(path, std::ios::binary);
        ASSERT_TRUE(written.ParseFromIstream(&file));
    }
    static void expect_external(const onnx::TensorProto& tensor, int64_t offset, int64_t length)
    {
        EXPECT_EQ(tensor.data_location(), onnx::TensorProto::EXTERNAL) << tensor.name();
        EXPECT_TRUE(tensor.raw_data().empty());
        ASSERT_EQ(tensor.external_data_size(), 3);
        EXPECT_EQ(tensor.external_data(0).value(), "written.onnx.data");
        EXPECT_EQ(tensor.external_data(1).value(), std::to_string(offset));
        EXPECT_EQ(tensor.external_data(2).value(), std::to_string(length));
    }
    void expect_the_values()
    {
        const Loaded loaded(root.path / "written.onnx");
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        for (const auto& [name, number] : {std::pair{"large", 300}, {"small", 3}})
            for (int i = 0; i < number; ++i)
                ASSERT_EQ(loaded.tensor(name)->f32[i], static_cast<float>(i)) << name;
    }

    onnx::ModelProto written;
    int status = 0;
};

// The user did not choose the name, so that a link may point anywhere.
TEST_F(OnnxWrittenDataTest, FollowsNoLink)
{
    fs::create_symlink(root.path / "secret.bin", root.path / "written.onnx.data");
    save("0");
    EXPECT_EQ(status, TENGINE_EIO);
    EXPECT_EQ(fs::file_size(root.path / "secret.bin"), 8u);
    EXPECT_FALSE(fs::exists(root.path / "written.onnx"));
}

TEST_F(OnnxWrittenDataTest, LiesBesideAModelThatIsTooLarge)
{
    save("0");
    ASSERT_EQ(status, 0) << tengine_error_message();
    ASSERT_EQ(written.graph().initializer_size(), 2);
    expect_external(written.graph().initializer(0), 0, 1200);
    EXPECT_EQ(written.graph().initializer(1).raw_data().size(), 12u);
    const auto& branches = written.graph().node(0).attribute();
    expect_external(branches.Get(0).g().initializer(0), 4096, 1040);
    expect_external(branches.Get(1).g().initializer(0), 8192, 1040);
    EXPECT_EQ(fs::file_size(root.path / "written.onnx.data"), 8192u + 1040);
    expect_the_values();
}

TEST_F(OnnxWrittenDataTest, IsInAModelThatIsNot)
{
    save("1");
    ASSERT_EQ(status, 0) << tengine_error_message();
    EXPECT_EQ(written.graph().initializer(0).raw_data().size(), 1200u);
    EXPECT_FALSE(fs::exists(root.path / "written.onnx.data"));
    expect_the_values();
}

}  // namespace
}  // namespace tengine::test
