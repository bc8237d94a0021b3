// SPDX-License-Identifier: Apache-2.0
// Tensors in .npy and .pb files: every type, written and read, and damaged files.
#include "tensor_file/tensor_file.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <sys/resource.h>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/npy.h"
#include "tensor_file/small_element.h"
#include "tensor_file/tensor_proto.h"
#include "tools/program.h"

namespace tengine::tools {
namespace {

using testing::HasSubstr;

constexpr int kDataTypes[] = {TENGINE_DT_FP32,   TENGINE_DT_FP16,      TENGINE_DT_INT8,
                              TENGINE_DT_UINT8,  TENGINE_DT_INT32,     TENGINE_DT_INT16,
                              TENGINE_DT_INT64,  TENGINE_DT_BOOL,      TENGINE_DT_FP64,
                              TENGINE_DT_BF16,   TENGINE_DT_UINT16,    TENGINE_DT_UINT32,
                              TENGINE_DT_UINT64, TENGINE_DT_COMPLEX64, TENGINE_DT_COMPLEX128};

constexpr int kSmallTypes[] = {TENGINE_DT_UINT4,          TENGINE_DT_INT4,
                               TENGINE_DT_UINT2,          TENGINE_DT_INT2,
                               TENGINE_DT_FLOAT4E2M1,     TENGINE_DT_FLOAT8E4M3FN,
                               TENGINE_DT_FLOAT8E4M3FNUZ, TENGINE_DT_FLOAT8E5M2,
                               TENGINE_DT_FLOAT8E5M2FNUZ, TENGINE_DT_FLOAT8E8M0};

// Returns every code, one byte after the other.
Tensor all_codes(int data_type)
{
    const int number = 1 << tengine_data_type_get_bits(data_type);
    Tensor tensor = make_tensor(data_type, {number});
    for (int i = 0; i < number; ++i)
        set_code(&tensor, static_cast<size_t>(i), static_cast<uint8_t>(i));
    return tensor;
}

std::string failure_of(Tensor (*decode)(const std::string&), const std::string& content)
{
    try {
        decode(content);
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "";
}

// Returns a file of version 1 with this header and `bytes` bytes of elements.
std::string make_npy(const std::string& header, size_t bytes)
{
    std::string content("\x93NUMPY\x01\x00", 8);
    content += static_cast<char>(header.size());
    content += '\0';
    return content + header + std::string(bytes, '\1');
}

// Writes a TensorProto of two complex64 with this many values in float_data.
std::string write_complex_pb(int values)
{
    std::string content("\x08\x02\x10\x0e", 4);  // dims, data_type
    for (int i = 0; i < values; ++i)
        content += std::string("\x25\x00\x00\x80\x3f", 5);  // 1.0
    const std::string path = program::scratch_folder() + "/complex.pb";
    write_file(path, content);
    return path;
}

TEST(TensorFile, EveryTypeAndShapeComesBack)
{
    const std::string folder = program::scratch_folder();
    const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {1}, {3}, {2, 3}, {1, 2, 3, 1, 2}};
    for (const int data_type : kDataTypes) {
        for (const std::vector<int64_t>& shape : shapes) {
            Tensor tensor = make_tensor(data_type, shape);
            for (size_t i = 0; i < tensor.element_number(); ++i)
                set_element(&tensor, i, static_cast<double>(i % 2));
            for (const char* ending : {".npy", ".pb"}) {
                const std::string path = folder + "/tensor" + ending;
                write_tensor(path, tensor);
                const Tensor back = read_tensor(path);
                EXPECT_EQ(back.data_type, data_type) << ending;
                EXPECT_EQ(back.shape, tensor.shape) << ending;
                EXPECT_EQ(back.bytes, tensor.bytes) << ending;
            }
        }
    }
}

TEST(TensorFile, StringsComeBack)
{
    Tensor tensor = make_tensor(TENGINE_DT_STRING, {2, 2});
    tensor.texts = {"plain", "", "h\xc3\xa4", "\xf0\x9f\x98\x80 x"};
    for (Tensor (*decode)(const std::string&) : {decode_npy, decode_tensor_proto}) {
        const bool is_npy = decode == decode_npy;
        const Tensor read = decode(is_npy ? encode_npy(tensor) : encode_tensor_proto(tensor));
        EXPECT_EQ(read.data_type, TENGINE_DT_STRING);
        EXPECT_EQ(read.shape, tensor.shape);
        EXPECT_EQ(read.texts, tensor.texts);
    }
    const std::string header = "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}";
    std::string bytes = make_npy(header, 0) + std::string("ab\0c\0\0", 6);
    EXPECT_EQ(decode_npy(bytes).texts, (std::vector<std::string>{"ab", "c"}));
    EXPECT_THAT(failure_of(decode_npy, make_npy(header, 5)), HasSubstr("2 of S3 need 6"));
    const std::string wide = "{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}";
    EXPECT_THAT(failure_of(decode_npy, make_npy(wide, 4)), HasSubstr("is not in Unicode"));
}

TEST(TensorFile, ComplexNumbersAreTwoParts)
{
    const float parts[] = {1, -2, 0.5f, 4};
    const std::string bytes(reinterpret_cast<const char*>(parts), sizeof parts);
    const std::string header = "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}";
    const Tensor single = decode_npy(make_npy(header, 0) + bytes);
    EXPECT_EQ(single.data_type, TENGINE_DT_COMPLEX64);
    EXPECT_EQ(get_complex(single, 1), std::complex<double>(0.5, 4));
    EXPECT_THAT(failure_of(decode_npy, make_npy(header, 12)), HasSubstr("12 bytes"));
    Tensor random = make_tensor(TENGINE_DT_COMPLEX128, {2});
    std::mt19937_64 engine(1);
    fill_random(&engine, &random);
    const std::complex<double> first = get_complex(random, 0);
    EXPECT_NE(first.real(), first.imag());
    EXPECT_EQ(read_tensor(write_complex_pb(4)).data_type, TENGINE_DT_COMPLEX64);
    EXPECT_THROW(read_tensor(write_complex_pb(3)), Failure);
}

TEST(TensorFile, SmallTypesArePackedInPbAndBytesInNpy)
{
    const std::string folder = program::scratch_folder();
    for (const int data_type : kSmallTypes) {
        const Tensor tensor = all_codes(data_type);
        write_tensor(folder + "/tensor.pb", tensor);
        const Tensor back = read_tensor(folder + "/tensor.pb");
        EXPECT_EQ(back.data_type, data_type);
        EXPECT_EQ(back.bytes, tensor.bytes);
        write_tensor(folder + "/tensor.npy", tensor);
        const Tensor bytes = read_tensor(folder + "/tensor.npy");
        ASSERT_TRUE(has_small_form(bytes, data_type));
        EXPECT_EQ(bytes.bytes.size(), tensor.element_number());
        EXPECT_EQ(narrow_to_small(bytes, data_type).bytes, tensor.bytes);
    }
}

TEST(TensorFile, NumbersOfSmallTypesComeBack)
{
    for (const int data_type : kSmallTypes) {
        Tensor tensor = all_codes(data_type);
        for (size_t i = 0; i < tensor.element_number(); ++i) {
            const double value = get_element(tensor, i);
            if (!std::isfinite(value)) continue;
            const uint8_t code = get_code(tensor, i);
            set_element(&tensor, i, value);
            EXPECT_EQ(get_code(tensor, i), code) << data_type;
        }
    }
}

TEST(TensorFile, BytesBeyondASmallTypeAreRefused)
{
    Tensor bytes = make_tensor(TENGINE_DT_INT8, {2});
    set_element(&bytes, 1, -9);
    EXPECT_FALSE(has_small_form(bytes, TENGINE_DT_UINT4));
    try {
        narrow_to_small(bytes, TENGINE_DT_INT4);
        ADD_FAILURE();
    } catch (const Failure& failure) {
        EXPECT_STREQ(failure.what(), "element 1 is -9, which int4 does not have");
    }
    EXPECT_EQ(decode_npy(make_npy("{'descr': '|V1', 'fortran_order': False, 'shape': (3,), }", 3))
                  .data_type,
              TENGINE_DT_UINT8);
}

TEST(TensorFile, NpyIsAsNumpyWritesIt)
{
    Tensor tensor = make_tensor(TENGINE_DT_INT16, {3});
    const std::string content = encode_npy(tensor);
    EXPECT_EQ(content.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_THAT(content, HasSubstr("{'descr': '<i2', 'fortran_order': False, 'shape': (3, ), }"));
    EXPECT_EQ(content.size(), 128u + 6u);
    EXPECT_EQ(content[127], '\n');
}

TEST(TensorFile, NpyHeadersOfOtherWritersAreRead)
{
    const Tensor tensor =
        decode_npy(make_npy("{\"shape\":(2,1) , \"fortran_order\" :False,\"descr\":\"|u1\"}", 2));
    EXPECT_EQ(tensor.shape, (std::vector<int>{2, 1}));
    EXPECT_EQ(tensor.data_type, TENGINE_DT_UINT8);
    const Tensor column =
        decode_npy(make_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }", 12));
    EXPECT_EQ(column.shape, std::vector<int>{3});
}

TEST(TensorFile, DamagedNpyIsRefused)
{
    const std::string good =
        make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8);
    ASSERT_EQ(failure_of(decode_npy, good), "");
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(failure_of(decode_npy, good.substr(0, size)), "") << size;
    EXPECT_THAT(failure_of(decode_npy, good + "x"), HasSubstr("9 bytes of elements"));

    const std::pair<const char*, const char*> headers[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "not little-endian"},
        {"{'descr': '<m8', 'fortran_order': False, 'shape': (1,), }", "'<m8' is not supported"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,1), }", "column-major"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "dimension"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (65536,65536,65536,), }", "bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }", "dimensions"},
        {"{'fortran_order': False, 'shape': (2,), }", "not little-endian"},
        {"{'descr': '<f4', 'colour': 1}", "'colour'"},
    };
    for (const auto& [header, words] : headers)
        EXPECT_THAT(failure_of(decode_npy, make_npy(header, 8)), HasSubstr(words)) << header;
}

TEST(TensorFile, DamagedTensorProtoIsRefused)
{
    const std::string good = encode_tensor_proto(make_tensor(TENGINE_DT_FP32, {2, 2}));
    ASSERT_EQ(failure_of(decode_tensor_proto, good), "");
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(failure_of(decode_tensor_proto, good.substr(0, size)), "") << size;
}

// Returns the peak memory of this process.
long peak_kibibytes()
{
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

TEST(TensorFile, ASmallFileOfALargeShapeIsRefusedBeforeMemoryIsTaken)
{
    const std::string npy =
        make_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2147483647,), }", 1);
    const std::string proto = "\x08\xff\xff\xff\xff\x07\x10\x02\x4a\x01x";  // dims, type, raw_data
    const long before = peak_kibibytes();
    for (const std::string& failure :
         {failure_of(decode_npy, npy), failure_of(decode_tensor_proto, proto)})
        EXPECT_EQ(failure, "there are 1 bytes of elements, the shape 2147483647 needs 2147483647");
    EXPECT_LT(peak_kibibytes() - before, 64 << 10);
}

TEST(TensorFile, TheEndingChoosesTheFormat)
{
    EXPECT_THROW(read_tensor("tensor.txt"), Failure);
    EXPECT_THROW(read_tensor(".npy"), Failure);
    EXPECT_THROW(write_tensor("/nowhere/tensor.npy", make_tensor(TENGINE_DT_FP32, {})), Failure);
}

TEST(TensorElements, HalvesAreRoundedToNearestEven)
{
    Tensor half = make_tensor(TENGINE_DT_FP16, {1});
    const std::pair<double, double> cases[] = {
        {1.0, 1.0},
        {-0.0, -0.0},
        {65504.0, 65504.0},
        {65519.9, 65504.0},
        {65520.0, HUGE_VAL},
        {2049.0, 2048.0},
        {2051.0, 2052.0},
        {std::ldexp(1.0, -24), std::ldexp(1.0, -24)},
        {std::ldexp(1.0, -25), 0.0},
        {std::ldexp(3.0, -25), std::ldexp(1.0, -23)},
        {std::ldexp(1023.6, -24), std::ldexp(1.0, -14)},
        {-HUGE_VAL, -HUGE_VAL},
    };
    for (const auto& [value, expected] : cases) {
        set_element(&half, 0, value);
        EXPECT_EQ(get_element(half, 0), expected) << value;
        EXPECT_EQ(std::signbit(get_element(half, 0)), std::signbit(expected)) << value;
    }
    set_element(&half, 0, std::nan(""));
    EXPECT_TRUE(std::isnan(get_element(half, 0)));
}

TEST(TensorElements, BfloatsAreRoundedToNearestEven)
{
    Tensor bfloat = make_tensor(TENGINE_DT_BF16, {1});
    const std::pair<double, double> cases[] = {
        {1.0, 1.0}, {257.0, 256.0}, {259.0, 260.0}, {-HUGE_VAL, -HUGE_VAL}, {3.4e38, HUGE_VAL}};
    for (const auto& [value, expected] : cases) {
        set_element(&bfloat, 0, value);
        EXPECT_EQ(get_element(bfloat, 0), expected) << value;
    }
    set_element(&bfloat, 0, std::nan(""));
    EXPECT_TRUE(std::isnan(get_element(bfloat, 0)));
}

}  // namespace
}  // namespace tengine::tools
