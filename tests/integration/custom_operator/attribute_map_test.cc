// SPDX-License-Identifier: Apache-2.0
// The attributes of a node as a FlexBuffer: bytes written by hand from the description of the
// format, and, if it is installed, the results of FlatBuffers' own reader.
#include "op_model.h"

#if __has_include(<flatbuffers/flexbuffers.h>)
#define FLATBUFFERS_LOCALE_INDEPENDENT 0  // which would need its library
#include <flatbuffers/flexbuffers.h>
#define HAS_READER 1
#else
#define HAS_READER 0
#endif

namespace tengine {
namespace {

using Bytes = std::vector<uint8_t>;

class AttributeMapTest : public CustomOpTest
{
  protected:
    // Returns the bytes that init gets for an operator that replaces the model's.
    Bytes get_map(const char* domain, const char* name, const OpModel& model)
    {
        static Bytes map;
        tengine_op_t* op = tengine_op_create(domain, name, 1, 28);
        tengine_op_set_outputs_like(op, 0);
        tengine_op_set_init(op, [](void*, tengine_op_context_t* context, void**) {
            size_t size = 0;
            const void* bytes = tengine_op_attributes(context, &size);
            TENGINE_OP_ENSURE(context, bytes);
            map.assign(static_cast<const uint8_t*>(bytes),
                       static_cast<const uint8_t*>(bytes) + size);
            TENGINE_OP_ENSURE(context, tengine_op_attributes(context, &size) == bytes);
            return 0;
        });
        tengine_op_set_invoke(op, [](void*, tengine_op_context_t*) { return 0; });
        EXPECT_EQ(tengine_op_register(nullptr, op), 0) << get_tengine_error();
        tengine_op_destroy(op);
        map.clear();
        const graph_t graph = load(model);
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        destroy_graph(graph);
        return map;
    }
};

// Appends a number of 64 bits.
void put(Bytes* bytes, uint64_t number)
{
    for (int i = 0; i < 64; i += 8)
        bytes->push_back(static_cast<uint8_t>(number >> i));
}

TEST_F(AttributeMapTest, AMapOfNothing)
{
    Bytes expected;
    put(&expected, 0);  // no names
    put(&expected, 0);  // the names are here
    put(&expected, 8);  // the bytes of their offsets
    put(&expected, 0);  // no values
    put(&expected, 0);  // the map is here
    expected.insert(expected.end(), {9 << 2 | 3, 8});
    OpModel model;
    model.has_attributes = false;
    EXPECT_EQ(get_map("com.example", "Shift", model), expected);
}

// An operator of the library, including the attributes that the model does not state.
TEST_F(AttributeMapTest, AMapOfOne)
{
    Bytes expected = {'a', 'l', 'p', 'h', 'a', 0, 0, 0};
    put(&expected, 1);   // names
    put(&expected, 16);  // the first is 16 bytes before this
    put(&expected, 8);   // the names are 8 bytes before this
    put(&expected, 8);   // bytes of their offsets
    put(&expected, 1);   // values
    const float alpha = 0.01f;
    const double value = alpha;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(&expected, bits);
    expected.insert(expected.end(), {3 << 2 | 3, 0, 0, 0, 0, 0, 0, 0});
    put(&expected, 16);  // the map is 16 bytes before this
    expected.insert(expected.end(), {9 << 2 | 3, 8});
    OpModel model;
    model.domain = "";
    model.op = "LeakyRelu";
    model.has_attributes = false;
    EXPECT_EQ(get_map("", "LeakyRelu", model), expected);
}

TEST_F(AttributeMapTest, ErrorsAreSaid)
{
    size_t size = 7;
    EXPECT_EQ(tengine_op_attributes(nullptr, &size), nullptr);
    EXPECT_EQ(last_error(), "tengine_op_attributes: context is NULL");
    EXPECT_EQ(size, 0U);
}

TEST_F(AttributeMapTest, TheReaderOfFlatBuffersFindsAll)
{
    const Bytes map = get_map("com.example", "Shift", {});
    ASSERT_FALSE(map.empty());
#if HAS_READER
    ASSERT_TRUE(flexbuffers::VerifyBuffer(map.data(), map.size()));
    const flexbuffers::Map attributes = flexbuffers::GetRoot(map.data(), map.size()).AsMap();
    ASSERT_EQ(attributes.size(), 7U);
    EXPECT_EQ(attributes["offset"].AsFloat(), 0.5f);
    EXPECT_TRUE(attributes["offset"].IsFloat());
    EXPECT_TRUE(attributes["level"].IsInt());
    EXPECT_EQ(attributes["level"].AsInt32(), 7);
    EXPECT_EQ(attributes["zero"].AsInt64(), 0);
    EXPECT_TRUE(attributes["nothing"].IsNull());
    EXPECT_EQ(attributes["mode"].AsString().str(), "soft");
    ASSERT_TRUE(attributes["steps"].IsTypedVector());
    EXPECT_EQ(attributes["steps"].AsTypedVector().size(), 2U);
    EXPECT_EQ(attributes["steps"].AsTypedVector()[1].AsInt64(), 9);
    EXPECT_EQ(attributes["weights"].AsTypedVector()[0].AsDouble(), 1.5);
    EXPECT_EQ(attributes["words"].AsVector().size(), 2U);
    EXPECT_STREQ(attributes["words"].AsVector()[1].AsString().c_str(), "two");
    EXPECT_STREQ(attributes.Keys()[0].AsKey(), "level");
#else
    GTEST_SKIP() << "flatbuffers/flexbuffers.h is not installed (Debian: libflatbuffers-dev)";
#endif
}

}  // namespace
}  // namespace tengine
