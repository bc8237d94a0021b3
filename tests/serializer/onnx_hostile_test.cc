// SPDX-License-Identifier: Apache-2.0
// Bytes that are not a model: loading ends with a status and a message. This file is most useful
// with the address sanitizer preset.
#include <random>

#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

using OnnxHostileTest = SerializerTest;

// A message nested `depth` times: field 6 (AttributeProto.g) holding field 1 (GraphProto.node)
// holding field 5 (NodeProto.attribute), encoded from the inside out.
std::string nested_attribute(int depth)
{
    std::string bytes;
    const auto wrap = [&bytes](char tag) {
        std::string length;
        for (size_t rest = bytes.size(); length.empty() || rest > 0; rest >>= 7)
            length += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
        bytes = tag + length + bytes;
    };
    for (int i = 0; i < depth; ++i) {
        wrap('\x32');
        wrap('\x2a');
        wrap('\x0a');
    }
    wrap('\x3a');               // ModelProto.graph
    return "\x08\x07" + bytes;  // with an IR version
}

void expect_status_and_sentence(const Loaded& loaded)
{
    if (loaded.status == 0) return;
    EXPECT_LT(loaded.status, 0);
    EXPECT_NE(loaded.status, TENGINE_EINTERNAL);
    EXPECT_FALSE(loaded.message.empty());
}

TEST_F(OnnxHostileTest, NotAModel)
{
    expect_failure(Loaded(std::string()), TENGINE_EFORMAT, {"no IR version"});
    expect_failure(Loaded(std::string("\x89PNG\r\n\x1a\n", 8)), TENGINE_EFORMAT,
                   {"not an ONNX model, or damaged"});
    expect_failure(Loaded(std::string(64, '\0')), TENGINE_EFORMAT, {"byte 0"});
    expect_failure(Loaded(std::string(64, '\xff')), TENGINE_EFORMAT, {"byte 0"});
    // A tensor file is a well-formed protobuf message of another kind.
    onnx::TensorProto tensor;
    tensor.add_dims(3);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    EXPECT_LT(Loaded(tensor.SerializeAsString()).status, 0);
}

TEST_F(OnnxHostileTest, NoGraph)
{
    OnnxBuilder builder = small_model();
    builder.model.clear_graph();
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"no graph"});
}

TEST_F(OnnxHostileTest, FilesThatCannotBeRead)
{
    const ScratchFolder folder;
    expect_failure(Loaded(folder.path / "absent.onnx"), TENGINE_EIO,
                   {"absent.onnx", "No such file"});
    expect_failure(Loaded(folder.path), TENGINE_EIO, {"not a regular file"});
    expect_failure(Loaded(folder.write("empty.onnx", "")), TENGINE_EFORMAT, {"is empty"});
    expect_failure(Loaded(std::filesystem::path("")), TENGINE_EINVAL, {"file name"});
    std::error_code error;
    // A documentation, field 6, of 2 GiB.
    const auto large = folder.write("large.onnx", std::string("\x32\x80\x80\x80\x80\x08", 6));
    std::filesystem::resize_file(large, (uintmax_t{1} << 31) + 6, error);  // sparse
    if (!error) expect_failure(Loaded(large), TENGINE_ELIMIT, {"2147483654", "external data"});
}

TEST_F(OnnxHostileTest, LengthsThatReachBeyondTheEnd)
{
    // Field 7 with a length of 2^64 - 1, of 2^31, of one byte too many, and a truncated length.
    for (const std::string& bytes :
         {std::string("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
          std::string("\x3a\x80\x80\x80\x80\x08", 6), std::string("\x3a\x02\x08", 3),
          std::string("\x3a\x80", 2)})
        expect_failure(Loaded(bytes), TENGINE_EFORMAT, {"byte 0", "reaches beyond"});
    // The same inside the graph, where protobuf detects it.
    expect_failure(Loaded(std::string("\x08\x07\x3a\x03\x0a\x01\x0a", 7)), TENGINE_EFORMAT,
                   {"between bytes 4 and 7"});
    // An endless number, a group, field number 0.
    for (const std::string& bytes :
         {std::string(20, '\x80'), std::string("\x0b\x0c", 2), std::string("\x02\x00", 2)})
        expect_failure(Loaded(bytes), TENGINE_EFORMAT, {"byte 0"});
}

TEST_F(OnnxHostileTest, RecursiveMessages)
{
    expect_failure(Loaded(nested_attribute(1000)), TENGINE_EFORMAT, {"nested deeper than 100"});
    expect_failure(Loaded(nested_attribute(3000)), TENGINE_EFORMAT, {"nested deeper than 100"});
}

TEST_F(OnnxHostileTest, NamesAreMadeHarmless)
{
    OnnxBuilder builder = small_model();
    builder.graph().mutable_node(0)->set_input(0, "\x1b[31m\n" + std::string(100000, 'x'));
    const Loaded loaded(builder);
    expect_failure(loaded, TENGINE_EGRAPH, {"'?[31m?xxx", "...'"});
    EXPECT_LT(loaded.message.size(), 400u);
}

TEST_F(OnnxHostileTest, ManyInputsTakeLinearTime)
{
    OnnxBuilder builder = small_model();
    auto* node = builder.add_node("Sum", {}, {"z"}, "sum");
    for (int i = 0; i < 300000; ++i)
        node->add_input("x");
    expect_status_and_sentence(Loaded(builder));
}

TEST_F(OnnxHostileTest, FieldsInAnyOrderAndRepeated)
{
    // Protobuf defines the concatenation of messages as their merge.
    OnnxBuilder first = conv_model();
    OnnxBuilder second = conv_model();
    first.graph().clear_node();
    first.graph().clear_output();
    second.graph().clear_input();
    second.graph().clear_initializer();
    second.model.clear_opset_import();
    const Loaded loaded(first.encode() + second.encode());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(), (std::vector<std::string>{"x", "conv", "relu"}));
}

TEST_F(OnnxHostileTest, UnknownFieldsAreIgnored)
{
    EXPECT_EQ(Loaded(small_model().encode() + std::string("\xfa\x3e\x01z", 4)).status, 0);
}

// A library reports errors; it does not write to the terminal, and neither may protobuf.
TEST_F(OnnxHostileTest, NothingIsPrinted)
{
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const std::string bytes = conv_model().encode();
    for (size_t length = 1; length < bytes.size(); length += 7)
        const Loaded cut(bytes.substr(0, length));
    const Loaded nested(nested_attribute(1000));
    const Loaded garbage(std::string(64, '\xff'));
    OnnxBuilder names = small_model();
    names.graph().mutable_node(0)->set_input(0, "\xff not UTF-8");
    const Loaded unreadable{names};
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(OnnxHostileTest, EveryTruncation)
{
    const std::string bytes = conv_model().encode();
    for (size_t length = 1; length < bytes.size(); ++length) {
        const std::string part = bytes.substr(0, length);
        const Loaded loaded(part);
        // Truncated after a complete top-level field the rest is well formed, but never complete.
        EXPECT_LT(loaded.status, 0) << "cut at " << length;
        EXPECT_FALSE(loaded.message.empty());
    }
}

TEST_F(OnnxHostileTest, EveryByteChanged)
{
    const std::string bytes = conv_model().encode();
    for (size_t position = 0; position < bytes.size(); ++position) {
        for (const int mask : {0x01, 0x08, 0x80, 0xff}) {
            std::string changed = bytes;
            changed[position] = static_cast<char>(changed[position] ^ mask);
            expect_status_and_sentence(Loaded(changed));
        }
    }
}

TEST_F(OnnxHostileTest, RandomDamage)
{
    const std::string bytes = conv_model().encode();
    std::mt19937 random(20240607);
    for (int round = 0; round < 3000; ++round) {
        std::string changed = bytes;
        for (int i = random() % 8; i >= 0; --i)
            changed[random() % changed.size()] = static_cast<char>(random());
        if (random() % 4 == 0) changed.erase(random() % changed.size(), random() % 16);
        if (random() % 4 == 0) changed.insert(random() % changed.size(), random() % 16, '\x7f');
        expect_status_and_sentence(Loaded(changed));
    }
}

}  // namespace
}  // namespace tengine::test
