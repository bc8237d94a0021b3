// SPDX-License-Identifier: Apache-2.0
// Values of initializers: every type, raw and typed, and sizes that do not match.
#include <cstring>
#include <limits>
#include <type_traits>

#include "serializer/onnx_builder.h"
#include "tengine/defines.h"

namespace tengine::test {
namespace {

using onnx::TensorProto;

// A model whose only tensor is the initializer 'w'.
class OnnxTensorTest : public SerializerTest
{
  protected:
    OnnxTensorTest()
    {
        builder.add_output("w");
        weight = builder.graph().add_initializer();
        weight->set_name("w");
        weight->set_data_type(TensorProto::FLOAT);
    }

    void set_type_and_length(int type, int length)
    {
        weight->set_data_type(type);
        weight->add_dims(length);
    }

    OnnxBuilder builder;
    TensorProto* weight;
};

template <typename Value>
void expect_values(const Loaded& loaded, int data_type, const std::vector<Value>& values)
{
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct tensor* tensor = loaded.tensor("w");
    EXPECT_EQ(tensor->data_type, data_type);
    ASSERT_EQ(tensor->dim_num, 1);
    ASSERT_EQ(get_ir_tensor_bytes(tensor), values.size() * sizeof(Value));
    EXPECT_EQ(memcmp(tensor->data, values.data(), values.size() * sizeof(Value)), 0);
}

struct TypeCase
{
    int onnx_type;
    int data_type;
    int elem_size;
    const char* field;
};

const TypeCase kTypes[] = {
    {TensorProto::FLOAT, TENGINE_DT_FP32, 4, "float"},
    {TensorProto::DOUBLE, TENGINE_DT_FP64, 8, "double"},
    {TensorProto::FLOAT16, TENGINE_DT_FP16, 2, "int32"},
    {TensorProto::BFLOAT16, TENGINE_DT_BF16, 2, "int32"},
    {TensorProto::INT8, TENGINE_DT_INT8, 1, "int32"},
    {TensorProto::INT16, TENGINE_DT_INT16, 2, "int32"},
    {TensorProto::INT32, TENGINE_DT_INT32, 4, "int32"},
    {TensorProto::INT64, TENGINE_DT_INT64, 8, "int64"},
    {TensorProto::UINT8, TENGINE_DT_UINT8, 1, "int32"},
    {TensorProto::UINT16, TENGINE_DT_UINT16, 2, "int32"},
    {TensorProto::UINT32, TENGINE_DT_UINT32, 4, "uint64"},
    {TensorProto::UINT64, TENGINE_DT_UINT64, 8, "uint64"},
    {TensorProto::BOOL, TENGINE_DT_BOOL, 1, "int32"},
    {17, TENGINE_DT_FLOAT8E4M3FN, 1, "int32"},
    {18, TENGINE_DT_FLOAT8E4M3FNUZ, 1, "int32"},
    {19, TENGINE_DT_FLOAT8E5M2, 1, "int32"},
    {20, TENGINE_DT_FLOAT8E5M2FNUZ, 1, "int32"},
    {24, TENGINE_DT_FLOAT8E8M0, 1, "int32"},
};

// A type whose elements share bytes.
struct PackedCase
{
    int onnx_type;
    int data_type;
    int bits;
};

const PackedCase kPackedTypes[] = {{21, TENGINE_DT_UINT4, 4},
                                   {22, TENGINE_DT_INT4, 4},
                                   {23, TENGINE_DT_FLOAT4E2M1, 4},
                                   {25, TENGINE_DT_UINT2, 2},
                                   {26, TENGINE_DT_INT2, 2}};

// Adds 0, 1, 1, 0 to the typed field for this type.
void add_typed_values(TensorProto* tensor, const std::string& field)
{
    for (const int value : {0, 1, 1, 0}) {
        if (field == "float") tensor->add_float_data(static_cast<float>(value));
        if (field == "double") tensor->add_double_data(value);
        if (field == "int32") tensor->add_int32_data(value);
        if (field == "int64") tensor->add_int64_data(value);
        if (field == "uint64") tensor->add_uint64_data(static_cast<uint64_t>(value));
    }
}

TEST_F(OnnxTensorTest, RawValuesOfEveryType)
{
    weight->add_dims(3);
    for (const TypeCase& type : kTypes) {
        weight->set_data_type(type.onnx_type);
        std::vector<char> bytes(static_cast<size_t>(3 * type.elem_size), 1);
        bytes[0] = 0;
        weight->set_raw_data(bytes.data(), bytes.size());
        const Loaded loaded(builder);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_EQ(loaded.tensor("w")->data_type, type.data_type);
        EXPECT_EQ(loaded.tensor("w")->elem_size, type.elem_size);
        EXPECT_EQ(memcmp(loaded.tensor("w")->data, bytes.data(), bytes.size()), 0);
    }
}

TEST_F(OnnxTensorTest, TypedValuesOfEveryType)
{
    for (const TypeCase& type : kTypes) {
        weight->Clear();
        weight->set_name("w");
        set_type_and_length(type.onnx_type, 4);
        add_typed_values(weight, type.field);
        const Loaded loaded(builder);
        ASSERT_EQ(loaded.status, 0) << type.onnx_type << ": " << loaded.message;
        EXPECT_EQ(loaded.tensor("w")->data_type, type.data_type);
        EXPECT_EQ(loaded.tensor("w")->elem_size, type.elem_size);
        weight->add_int64_data(1);  // one more is too many only in the type's own field
        EXPECT_EQ(Loaded(builder).status, type.field == std::string("int64") ? TENGINE_EFORMAT : 0);
    }
}

TEST_F(OnnxTensorTest, NegativeAndExtremeTypedValues)
{
    set_type_and_length(TensorProto::INT8, 2);
    weight->add_int32_data(-128);
    weight->add_int32_data(127);
    expect_values<int8_t>(Loaded(builder), TENGINE_DT_INT8, {-128, 127});

    weight->set_data_type(TensorProto::INT64);
    weight->add_int64_data(std::numeric_limits<int64_t>::min());
    weight->add_int64_data(-1);
    expect_values<int64_t>(Loaded(builder), TENGINE_DT_INT64,
                           {std::numeric_limits<int64_t>::min(), -1});

    weight->set_data_type(TensorProto::UINT64);
    weight->add_uint64_data(std::numeric_limits<uint64_t>::max());
    weight->add_uint64_data(1);
    expect_values<uint64_t>(Loaded(builder), TENGINE_DT_UINT64,
                            {std::numeric_limits<uint64_t>::max(), 1});

    weight->set_data_type(TensorProto::DOUBLE);
    weight->add_double_data(1e300);
    weight->add_double_data(-0.0);
    expect_values<double>(Loaded(builder), TENGINE_DT_FP64, {1e300, -0.0});
}

TEST_F(OnnxTensorTest, HalfPrecisionBitsFromTypedField)
{
    set_type_and_length(TensorProto::FLOAT16, 2);
    weight->add_int32_data(0x3c00);
    weight->add_int32_data(0xfbff);
    expect_values<uint16_t>(Loaded(builder), TENGINE_DT_FP16, {0x3c00, 0xfbff});
    weight->set_data_type(TensorProto::BFLOAT16);
    expect_values<uint16_t>(Loaded(builder), TENGINE_DT_BF16, {0x3c00, 0xfbff});
}

TEST_F(OnnxTensorTest, TypedValueOutOfRangeIsRefused)
{
    set_type_and_length(TensorProto::INT8, 2);
    weight->add_int32_data(1);
    weight->add_int32_data(128);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"initializer 'w'", "value 1", "int8"});
    weight->set_data_type(TensorProto::UINT16);
    weight->set_int32_data(0, -1);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"value 0", "uint16"});
}

TEST_F(OnnxTensorTest, BoolBecomesZeroOrOne)
{
    set_type_and_length(TensorProto::BOOL, 3);
    weight->set_raw_data(std::string("\x00\x02\xff", 3));
    expect_values<uint8_t>(Loaded(builder), TENGINE_DT_BOOL, {0, 1, 1});
}

TEST_F(OnnxTensorTest, ScalarsAndEmptyTensors)
{
    weight->add_float_data(3.0f);
    {
        const Loaded scalar(builder);
        ASSERT_EQ(scalar.status, 0) << scalar.message;
        EXPECT_EQ(scalar.tensor("w")->dim_num, 0);
        EXPECT_EQ(scalar.tensor("w")->shape_set, 1);
        EXPECT_EQ(scalar.tensor("w")->f32[0], 3.0f);
    }
    weight->clear_float_data();
    // Without the 0 they may make 2^48 bytes; with a size_t of 32 bits, 2^31.
    for (const int dim : {4, 0, sizeof(size_t) > 4 ? 1 << 30 : 1 << 26})
        weight->add_dims(dim);
    const Loaded empty(builder);
    ASSERT_EQ(empty.status, 0) << empty.message;
    EXPECT_EQ(empty.tensor("w")->elem_num, 0);
}

TEST_F(OnnxTensorTest, StringsAreTheGraphs)
{
    set_type_and_length(TensorProto::STRING, 2);
    weight->add_string_data("text");
    weight->add_string_data("");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.tensor("w")->data_type, TENGINE_DT_STRING);
    const auto* texts = static_cast<const char* const*>(loaded.tensor("w")->data);
    EXPECT_STREQ(texts[0], "text");
    EXPECT_STREQ(texts[1], "");

    weight->add_string_data("third");
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"3 values of type string, expected 2"});
    weight->clear_string_data();
    weight->set_raw_data(std::string(2 * sizeof(char*), '\0'));
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"expected string_data"});
}

// A real and an imaginary value for each element, in the field of their type.
TEST_F(OnnxTensorTest, ComplexNumbersAreTwoValues)
{
    set_type_and_length(TensorProto::COMPLEX64, 2);
    for (const float part : {1.0f, -2.0f, 3.0f, 4.5f})
        weight->add_float_data(part);
    const Loaded single(builder);
    ASSERT_EQ(single.status, 0) << single.message;
    EXPECT_EQ(single.tensor("w")->data_type, TENGINE_DT_COMPLEX64);
    EXPECT_EQ(get_ir_tensor_bytes(single.tensor("w")), 16u);
    EXPECT_EQ(single.tensor("w")->f32[3], 4.5f);

    weight->add_float_data(5);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"5 values of type complex64, expected 4"});
    weight->clear_float_data();
    weight->set_raw_data(std::string(12, '\0'));
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"12 bytes", "expected 16"});

    weight->set_data_type(TensorProto::COMPLEX128);
    weight->set_raw_data(std::string(32, '\1'));
    const Loaded raw(builder);
    ASSERT_EQ(raw.status, 0) << raw.message;
    EXPECT_EQ(get_ir_tensor_bytes(raw.tensor("w")), 32u);
    weight->clear_raw_data();
    weight->add_float_data(1);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"0 values of type complex128, expected 4"});
    for (const double part : {1.0, -2.0, 3.0, 4.5})
        weight->add_double_data(part);
    const Loaded wide(builder);
    ASSERT_EQ(wide.status, 0) << wide.message;
    EXPECT_EQ(static_cast<const double*>(wide.tensor("w")->data)[3], 4.5);
}

TEST_F(OnnxTensorTest, TypesWithoutPlaceAreRefused)
{
    weight->add_dims(1);
    // The type is newer than the enumeration from which the messages are generated.
    weight->set_data_type(27);
    expect_failure(Loaded(builder), TENGINE_EDTYPE,
                   {"initializer 'w'", "element type 27 (unknown)", "complex64 or complex128"});
    weight->set_data_type(4711);
    expect_failure(Loaded(builder), TENGINE_EDTYPE, {"element type 4711 (unknown)"});
    weight->clear_data_type();
    expect_failure(Loaded(builder), TENGINE_EDTYPE, {"undefined"});
}

TEST_F(OnnxTensorTest, SizesThatDoNotFitAreRefused)
{
    weight->add_dims(3);
    weight->set_raw_data(std::string(11, '\0'));
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"'w'", "11 bytes", "expected 12"});
    weight->clear_raw_data();
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"'w'", "0 values", "expected 3"});
    weight->add_float_data(1.0f);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"1 values of type float32"});
}

TEST_F(OnnxTensorTest, HostileDimensionsAllocateNothing)
{
    weight->set_raw_data(std::string(4, '\0'));
    weight->add_dims(-1);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"dimension 0 is -1"});
    weight->set_dims(0, std::numeric_limits<int64_t>::max());
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"dimension 0 is 9223372036854775807"});
    weight->set_dims(0, 0x7fffffff);
    expect_failure(Loaded(builder), TENGINE_EFORMAT,
                   sizeof(size_t) > 4 ? Names{"4 bytes", "8589934588"} : Names{"overflows"});
    weight->add_dims(0x7fffffff);
    weight->add_dims(0x7fffffff);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"overflows"});
    // The elements fit into 64 bits, their bytes do not; and a product that wraps to 4 bytes.
    weight->set_dims(2, 4);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"overflows"});
    weight->clear_dims();
    for (const int dim : {1 << 16, 1 << 16, 1 << 16, 1 << 16})
        weight->add_dims(dim);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"overflows"});
    weight->clear_dims();
    for (int i = 0; i < 9; ++i)
        weight->add_dims(1);
    expect_failure(Loaded(builder), TENGINE_ELIMIT, {"9 dimensions"});
}

// A typed value is a byte, and bits that no element has are 0.
TEST_F(OnnxTensorTest, ElementsOfFewBitsArePacked)
{
    for (const PackedCase& type : kPackedTypes) {
        weight->Clear();
        weight->set_name("w");
        set_type_and_length(type.onnx_type, 5);
        const size_t size = type.bits == 4 ? 3 : 2;
        const std::string raw = size == 3 ? "\x87\x21\xff" : "\xe4\xff";
        const std::string read = size == 3 ? "\x87\x21\x0f" : "\xe4\x03";
        for (const bool is_raw : {false, true}) {
            weight->clear_int32_data();
            for (size_t i = 0; !is_raw && i < size; ++i)
                weight->add_int32_data(static_cast<uint8_t>(raw[i]));
            if (is_raw) weight->set_raw_data(raw);
            const Loaded loaded(builder);
            ASSERT_EQ(loaded.status, 0) << loaded.message;
            const struct tensor* tensor = loaded.tensor("w");
            EXPECT_EQ(tensor->data_type, type.data_type);
            EXPECT_EQ(tensor->elem_num, 5);
            ASSERT_EQ(get_ir_tensor_bytes(tensor), size);
            EXPECT_EQ(std::string(static_cast<const char*>(tensor->data), size), read);
        }
    }
}

TEST_F(OnnxTensorTest, PackedSizesThatDoNotFitAreRefused)
{
    set_type_and_length(22, 5);
    weight->set_raw_data(std::string(5, '\0'));
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"'w'", "5 bytes", "expected 3"});
    weight->set_raw_data(std::string(2, '\0'));
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"'w'", "2 bytes", "expected 3"});
    weight->clear_raw_data();
    for (int i = 0; i < 5; ++i)
        weight->add_int32_data(1);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"5 values of type int4, expected 3"});
    weight->mutable_int32_data()->Truncate(3);
    weight->set_int32_data(1, 256);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"value 1 is out of range for int4"});
    weight->set_int32_data(1, -1);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"value 1 is out of range for int4"});
    weight->set_data_type(25);
    for (const int dim : {0x7fffffff, 0x7fffffff})
        weight->add_dims(dim);
    expect_failure(Loaded(builder), TENGINE_EFORMAT,
                   sizeof(size_t) > 4 ? Names{"'w'"} : Names{"overflows"});
    weight->add_dims(0x7fffffff);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"overflows"});
}

TEST_F(OnnxTensorTest, SegmentsAreRefused)
{
    weight->add_float_data(1.0f);
    weight->mutable_segment()->set_begin(0);
    expect_failure(Loaded(builder), TENGINE_ENOTSUP, {"initializer 'w'", "segments"});
}

}  // namespace
}  // namespace tengine::test
