// SPDX-License-Identifier: Apache-2.0
// Constants in the mapped file: which ones, how they are read, and the lifetime of the file.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "graph/core.h"
#include "graph/option.h"
#include "serializer/onnx_builder.h"
#include "serializer/serializer.h"

namespace tengine::test {
namespace {

namespace fs = std::filesystem;

class OnnxViewTest : public SerializerTest
{
  protected:
    OnnxViewTest() { EXPECT_EQ(set_ir_context_option(mapping(), "model.map", "1"), 0); }

    // A context in which small files are mapped, too.
    ir_context_t* mapping() const { return context_.get(); }

  private:
    const std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{
        create_ir_context(nullptr), destroy_ir_context};
};

// More elements than the lists that are copied because they may decide sizes, in every type.
constexpr int kPayloadSize = 320;
const std::string kPayload = [] {
    std::string text;
    for (int i = 0; text.size() < kPayloadSize; ++i)
        text += std::to_string(i);
    return text.substr(0, kPayloadSize);
}();

// Whether the tensor's data is in a mapped file.
bool is_view(const Loaded& loaded, const char* name)
{
    const struct tensor* tensor = loaded.tensor(name);
    const serializer_t* serializer = loaded.graph->core->serializer;
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
                                     {onnx::TensorProto::DOUBLE, 8},
                                     {onnx::TensorProto::FLOAT16, 2},
                                     {onnx::TensorProto::INT8, 1}}) {
        size_t views = 0;
        for (size_t length = 1; length <= 8; ++length) {
            OnnxBuilder builder;
            const std::string name(length, 'w');
            add_weight(&builder, name, type, static_cast<int64_t>(kPayload.size() / size))
                ->set_raw_data(kPayload);
            const std::string bytes = builder.encode();
            const Loaded loaded(folder.write("model.onnx", bytes), mapping());
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
    const Loaded loaded(folder.write("model.onnx", builder.encode()), mapping());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    for (const char* name : {"truth", "floats", "nothing"})
        EXPECT_FALSE(is_view(loaded, name)) << name;
    EXPECT_EQ(values_of(loaded, "truth"), std::string("\x01\x01\x00\x01", 4));
}

// Kernels and shape inference use such values more than once, and check them only before the first
// use.
TEST_F(OnnxViewTest, WhatMayDecideASizeOrAPositionIsCopied)
{
    const ScratchFolder folder;
    OnnxBuilder builder;
    using Proto = onnx::TensorProto;
    folder.write("values.bin", std::string(4096, 'x'));
    const auto add = [&](const char* name, int type, int number) {
        const int earlier = builder.graph().initializer_size();
        refer(add_weight(&builder, name, type, number), "values.bin",
              std::to_string(512 * earlier));
    };
    add("positions", Proto::INT64, 50);
    add("words", Proto::INT32, 100);
    add("unsigned", Proto::UINT32, 100);
    add("scales", Proto::FLOAT, 16);
    add("one byte", Proto::INT8, 16);
    add("weights", Proto::FLOAT, 17);
    add("bytes", Proto::UINT8, 17);
    const Loaded loaded(folder.write("model.onnx", builder.encode()), mapping());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    for (const char* name : {"positions", "words", "unsigned", "scales", "one byte"})
        EXPECT_FALSE(is_view(loaded, name)) << name;
    for (const char* name : {"weights", "bytes"})
        EXPECT_TRUE(is_view(loaded, name)) << name;
}

TEST_F(OnnxViewTest, NothingIsAViewOfTheProgramsBytes)
{
    OnnxBuilder builder;
    add_weight(&builder, "w", onnx::TensorProto::INT8, kPayloadSize)->set_raw_data(kPayload);
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
    refer(add_weight(&builder, "late", onnx::TensorProto::FLOAT, 20), "weights.bin", "160");
    refer(add_weight(&builder, "tied", onnx::TensorProto::FLOAT, 20), "weights.bin", "160");
    refer(add_weight(&builder, "from before", onnx::TensorProto::FLOAT, 30), "weights.bin", "80");
    refer(add_weight(&builder, "into", onnx::TensorProto::FLOAT, 30), "weights.bin", "200");
    refer(add_weight(&builder, "before", onnx::TensorProto::FLOAT, 40), "weights.bin", "0");
    refer(add_weight(&builder, "after", onnx::TensorProto::FLOAT, 20), "weights.bin", "240");
    const Loaded loaded(folder.write("model.onnx", builder.encode()), mapping());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    for (const char* name : {"late", "before", "after"})
        EXPECT_TRUE(is_view(loaded, name)) << name;
    for (const char* name : {"tied", "from before", "into"})
        EXPECT_FALSE(is_view(loaded, name)) << name;
    EXPECT_EQ(values_of(loaded, "tied"), kPayload.substr(160, 80));
}

TEST_F(OnnxViewTest, ExternalDataToo)
{
    const ScratchFolder folder;
    folder.write("weights.bin", kPayload);
    OnnxBuilder builder;
    refer(add_weight(&builder, "first", onnx::TensorProto::FLOAT, 20), "weights.bin", "0");
    refer(add_weight(&builder, "odd", onnx::TensorProto::FLOAT, 20), "weights.bin", "2");
    refer(add_weight(&builder, "other", onnx::TensorProto::FLOAT, 30), "./weights.bin", "200");
    const fs::path path = folder.write("model.onnx", builder.encode());
    {
        const Loaded loaded(path, mapping());
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_TRUE(is_view(loaded, "first"));
        EXPECT_FALSE(is_view(loaded, "odd"));
        EXPECT_TRUE(is_view(loaded, "other"));
        EXPECT_EQ(values_of(loaded, "first"), kPayload.substr(0, 80));
        EXPECT_EQ(values_of(loaded, "odd"), kPayload.substr(2, 80));
        EXPECT_EQ(values_of(loaded, "other"), kPayload.substr(200, 120));
        EXPECT_EQ(loaded.tensor("other")->i8 - loaded.tensor("first")->i8, 200)
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
    add_weight(&builder, "w", onnx::TensorProto::INT8, kPayloadSize)->set_raw_data(kPayload);
    const fs::path path = folder.write("model.onnx", builder.encode());
    const std::string before = read_file(path);
    const Loaded loaded(path, mapping());
    ASSERT_TRUE(is_view(loaded, "w"));
    loaded.tensor("w")->i8[0] = 'X';
    EXPECT_EQ(read_file(path), before);
    fs::remove(path);
    EXPECT_EQ(values_of(loaded, "w"), "X" + kPayload.substr(1));
}

TEST_F(OnnxViewTest, AnOptionReadsInsteadOfMapping)
{
    const ScratchFolder folder;
    folder.write("weights.bin", kPayload);
    OnnxBuilder builder;
    add_weight(&builder, "w", onnx::TensorProto::INT8, kPayloadSize)->set_raw_data(kPayload);
    refer(add_weight(&builder, "v", onnx::TensorProto::FLOAT, 80), "weights.bin", "0");
    const fs::path path = folder.write("model.onnx", builder.encode());
    const std::unique_ptr<context, void (*)(context*)> context(create_ir_context(nullptr),
                                                               destroy_ir_context);
    ASSERT_EQ(set_ir_context_option(context.get(), "model.map", "0"), 0);
    const Loaded loaded(path, context.get());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    for (const char* name : {"w", "v"}) {
        EXPECT_FALSE(is_view(loaded, name));
        EXPECT_EQ(values_of(loaded, name), kPayload);
    }
    EXPECT_FALSE(is_mapped(path) || is_mapped(folder.path / "weights.bin"));
}

// The remains of a load that failed can be released.
TEST_F(OnnxViewTest, AFailureAfterAView)
{
    const ScratchFolder folder;
    OnnxBuilder builder;
    add_weight(&builder, "w", onnx::TensorProto::INT8, kPayloadSize)->set_raw_data(kPayload);
    add_weight(&builder, "short", onnx::TensorProto::INT8, kPayloadSize + 1)
        ->set_raw_data(kPayload);
    const fs::path path = folder.write("model.onnx", builder.encode());
    expect_failure(Loaded(path, mapping()), TENGINE_EFORMAT, {"initializer 'short'"});
    EXPECT_FALSE(is_mapped(path));
}

}  // namespace
}  // namespace tengine::test
