// SPDX-License-Identifier: Apache-2.0
// Constants that lie in the mapped file: which do, and what becomes of them and of the file.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "serializer/onnx_builder.h"
#include "serializer/serializer.h"

namespace tengine::test {
namespace {

namespace fs = std::filesystem;

using OnnxViewTest = SerializerTest;

const std::string kPayload = "0123456789abcdefghijklmnopqrstuv";  // 32 bytes

// The tensor's data is in a mapped file, and not its own.
bool is_view(const Loaded& loaded, const char* name)
{
    const struct tensor* tensor = loaded.tensor(name);
    const serializer_t* serializer = loaded.graph->serializer;
    const bool mapped =
        serializer->locate_data(serializer, loaded.graph, tensor->data) == IR_DATA_MAPPED;
    EXPECT_NE(mapped, tensor->free_host_mem != 0) << name;
    return mapped;
}

std::string values_of(const Loaded& loaded, const char* name)
{
    const struct tensor* tensor = loaded.tensor(name);
    return std::string(static_cast<const char*>(tensor->data), get_ir_tensor_bytes(tensor));
}

onnx::TensorProto* add_weight(OnnxBuilder* builder, const std::string& name, int type,
                              int64_t number)
{
    builder->add_output(name);
    auto* weight = builder->graph().add_initializer();
    weight->set_name(name);
    weight->set_data_type(type);
    weight->add_dims(number);
    return weight;
}

void refer(onnx::TensorProto* weight, const std::string& location, const std::string& offset)
{
    weight->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair{"location", location}, {"offset", offset}}) {
        auto* entry = weight->add_external_data();
        entry->set_key(key);
        entry->set_value(value);
    }
}

bool is_mapped(const fs::path& file)
{
    std::ifstream maps("/proc/self/maps");
    const std::string text(std::istreambuf_iterator<char>(maps), {});
    return text.find(fs::canonical(file).string()) != std::string::npos;
}

std::string read_file(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_F(OnnxViewTest, AlignedValuesStayInTheFile)
{
    const ScratchFolder folder;
    for (const auto& [type, size] : {std::pair<int, size_t>{onnx::TensorProto::FLOAT, 4},
                                     {onnx::TensorProto::INT64, 8},
                                     {onnx::TensorProto::FLOAT16, 2},
                                     {onnx::TensorProto::INT8, 1}}) {
        size_t views = 0;
        for (size_t length = 1; length <= 8; length++) {
            OnnxBuilder builder;
            const std::string name(length, 'w');
            add_weight(&builder, name, type, static_cast<int64_t>(kPayload.size() / size))
                ->set_raw_data(kPayload);
            const std::string bytes = builder.encode();
            const Loaded loaded(folder.write("model.onnx", bytes));
            ASSERT_EQ(loaded.status, 0) << loaded.message;
            EXPECT_EQ(values_of(loaded, name.c_str()), kPayload);
            const bool expected = bytes.find(kPayload) % size == 0;
            EXPECT_EQ(is_view(loaded, name.c_str()), expected) << "type " << type;
            EXPECT_EQ(is_mapped(folder.path / "model.onnx"), expected)
                << "a file without views is let go";
            views += expected;
        }
        EXPECT_GE(views, 8 / size / 2);
        EXPECT_EQ(views == 8, size == 1);
    }
    EXPECT_FALSE(is_mapped(folder.path / "model.onnx")) << "the graph is gone";
}

TEST_F(OnnxViewTest, WhatTheFileHasInAnotherFormIsCopied)
{
    const ScratchFolder folder;
    OnnxBuilder builder;
    add_weight(&builder, "truth", onnx::TensorProto::BOOL, 4)->set_raw_data("\x02\x01\x00\xff", 4);
    auto* floats = add_weight(&builder, "floats", onnx::TensorProto::FLOAT, 2);
    floats->add_float_data(1.5f);
    floats->add_float_data(-2.0f);
    add_weight(&builder, "nothing", onnx::TensorProto::FLOAT, 0)->set_raw_data("");
    const Loaded loaded(folder.write("model.onnx", builder.encode()));
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    for (const char* name : {"truth", "floats", "nothing"})
        EXPECT_FALSE(is_view(loaded, name)) << name;
    EXPECT_EQ(values_of(loaded, "truth"), std::string("\x01\x01\x00\x01", 4));
}

TEST_F(OnnxViewTest, NothingIsAViewOfTheProgramsBytes)
{
    OnnxBuilder builder;
    add_weight(&builder, "w", onnx::TensorProto::INT8, 32)->set_raw_data(kPayload);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_FALSE(is_view(loaded, "w"));
}

// A program that writes to one must not write to the other.
TEST_F(OnnxViewTest, ConstantsDoNotShareBytes)
{
    const ScratchFolder folder;
    folder.write("weights.bin", kPayload);
    OnnxBuilder builder;
    refer(add_weight(&builder, "late", onnx::TensorProto::FLOAT, 2), "weights.bin", "16");
    refer(add_weight(&builder, "tied", onnx::TensorProto::FLOAT, 2), "weights.bin", "16");
    refer(add_weight(&builder, "from before", onnx::TensorProto::FLOAT, 3), "weights.bin", "8");
    refer(add_weight(&builder, "into", onnx::TensorProto::FLOAT, 3), "weights.bin", "20");
    refer(add_weight(&builder, "before", onnx::TensorProto::FLOAT, 4), "weights.bin", "0");
    refer(add_weight(&builder, "behind", onnx::TensorProto::FLOAT, 2), "weights.bin", "24");
    const Loaded loaded(folder.write("model.onnx", builder.encode()));
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    for (const char* name : {"late", "before", "behind"})
        EXPECT_TRUE(is_view(loaded, name)) << name;
    for (const char* name : {"tied", "from before", "into"})
        EXPECT_FALSE(is_view(loaded, name)) << name;
    EXPECT_EQ(values_of(loaded, "tied"), kPayload.substr(16, 8));
}

TEST_F(OnnxViewTest, ExternalDataToo)
{
    const ScratchFolder folder;
    folder.write("weights.bin", kPayload);
    OnnxBuilder builder;
    refer(add_weight(&builder, "first", onnx::TensorProto::FLOAT, 2), "weights.bin", "0");
    refer(add_weight(&builder, "odd", onnx::TensorProto::FLOAT, 2), "weights.bin", "2");
    refer(add_weight(&builder, "other", onnx::TensorProto::FLOAT, 3), "./weights.bin", "20");
    const fs::path path = folder.write("model.onnx", builder.encode());
    {
        const Loaded loaded(path);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_TRUE(is_view(loaded, "first"));
        EXPECT_FALSE(is_view(loaded, "odd"));
        EXPECT_TRUE(is_view(loaded, "other"));
        EXPECT_EQ(values_of(loaded, "first"), kPayload.substr(0, 8));
        EXPECT_EQ(values_of(loaded, "odd"), kPayload.substr(2, 8));
        EXPECT_EQ(values_of(loaded, "other"), kPayload.substr(20, 12));
        EXPECT_EQ(loaded.tensor("other")->i8 - loaded.tensor("first")->i8, 20)
            << "one mapping, whatever the file is called";
        EXPECT_FALSE(is_mapped(path));
        EXPECT_TRUE(is_mapped(folder.path / "weights.bin"));
    }
    EXPECT_FALSE(is_mapped(folder.path / "weights.bin"));
}

TEST_F(OnnxViewTest, TheFileMayGoAndIsNotWritten)
{
    const ScratchFolder folder;
    OnnxBuilder builder;
    add_weight(&builder, "w", onnx::TensorProto::INT8, 32)->set_raw_data(kPayload);
    const fs::path path = folder.write("model.onnx", builder.encode());
    const std::string before = read_file(path);
    const Loaded loaded(path);
    ASSERT_TRUE(is_view(loaded, "w"));
    loaded.tensor("w")->i8[0] = 'X';
    EXPECT_EQ(read_file(path), before);
    fs::remove(path);
    EXPECT_EQ(values_of(loaded, "w"), "X" + kPayload.substr(1));
}

// What is left of a load that failed can be released.
TEST_F(OnnxViewTest, AFailureAfterAView)
{
    const ScratchFolder folder;
    OnnxBuilder builder;
    add_weight(&builder, "w", onnx::TensorProto::INT8, 32)->set_raw_data(kPayload);
    add_weight(&builder, "short", onnx::TensorProto::INT8, 33)->set_raw_data(kPayload);
    const fs::path path = folder.write("model.onnx", builder.encode());
    expect_failure(Loaded(path), TENGINE_EFORMAT, {"initializer 'short'"});
    EXPECT_FALSE(is_mapped(path));
}

}  // namespace
}  // namespace tengine::test
