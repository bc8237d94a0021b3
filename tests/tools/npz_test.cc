// SPDX-License-Identifier: Apache-2.0
// .npz files, byte by byte.
#include "tensor_file/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/failure.h"
#include "tools/npz_file.h"

namespace tengine::tools {
namespace {

using testing::HasSubstr;

TEST(NpzFile, ArraysComeBack)
{
    Tensor tensor = make_tensor(TENGINE_DT_FP32, {2, 3});
    set_element(&tensor, 4, 7.5);
    tensor.name = "image";
    const std::vector<Tensor> arrays = decode_npz(program::encode_npz({tensor, tensor}));
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays[1].name, "image");
    EXPECT_EQ(arrays[1].shape, tensor.shape);
    EXPECT_EQ(get_element(arrays[1], 4), 7.5);
}

// numpy.savez_compressed(file, image=(numpy.arange(600) % 7).astype('float32').reshape(2, 300))
const char kCompressed[] =
    "\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\xd3\x4e\xbe\xc1\x6e\x00"
    "\x00\x00\xe0\x09\x00\x00\x09\x00\x14\x00\x69\x6d\x61\x67\x65\x2e\x6e\x70\x79\x01"
    "\x00\x10\x00\xe0\x09\x00\x00\x00\x00\x00\x00\x6e\x00\x00\x00\x00\x00\x00\x00\x9b"
    "\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0"
    "\x6e\x93\x66\xa2\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98\x17\x9f\x5f\x94\x92\x0a"
    "\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x46\x3a\x0a\xc6"
    "\x06\x06\x9a\x3a\x0a\xb5\x0a\x64\x02\x2e\x06\x30\x68\xb0\x07\x12\x0e\x40\x04\xc4"
    "\x0d\x40\xbc\x00\x88\x0f\x38\x8c\xca\x8d\xca\x8d\xca\x8d\xca\x8d\xca\x8d\xca\x8d"
    "\xca\x8d\xca\x8d\xca\x91\x2e\x07\x00\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x08"
    "\x00\x00\x00\x21\x00\xd3\x4e\xbe\xc1\x6e\x00\x00\x00\xe0\x09\x00\x00\x09\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x69\x6d\x61\x67\x65"
    "\x2e\x6e\x70\x79\x50\x4b\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x37\x00\x00\x00"
    "\xa9\x00\x00\x00\x00\x00";

std::string compressed_file()
{
    return std::string(kCompressed, sizeof kCompressed - 1);
}

TEST(NpzFile, DeflatedArraysAsNumpyWritesThem)
{
    const std::vector<Tensor> arrays = decode_npz(compressed_file());
    ASSERT_EQ(arrays.size(), 1u);
    EXPECT_EQ(arrays[0].name, "image");
    EXPECT_EQ(arrays[0].shape, (std::vector<int>{2, 300}));
    for (size_t i = 0; i < 600; ++i)
        ASSERT_EQ(get_element(arrays[0], i), static_cast<double>(i % 7)) << i;
}

void expect_refused(const std::string& content, const std::string& words)
{
    try {
        decode_npz(content);
        ADD_FAILURE() << "taken, expected: " << words;
    } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr(words));
    }
}

TEST(NpzFile, DamagedFilesAreRefused)
{
    Tensor tensor = make_tensor(TENGINE_DT_FP32, {2, 3});
    tensor.name = "a";
    const std::string good = program::encode_npz({tensor});
    const size_t directory = good.find("PK\x01\x02");
    const auto with = [&](size_t at, const std::string& bytes) {
        std::string content = good;
        return content.replace(at, bytes.size(), bytes);
    };
    expect_refused("", "not an .npz file");
    expect_refused("PK", "not an .npz file");
    expect_refused(with(directory + 10, "\x08"), "'a.npy': its compressed bytes are damaged");
    expect_refused(with(directory + 10, "\x09"), "'a.npy': its compression method 9");
    expect_refused(with(directory + 8, "\x01"), "encrypted");
    expect_refused(with(directory + 16, "xxxx"), "checksum");
    expect_refused(with(directory + 20, "\xff\xff\xff\x7f"), "sizes contradict");
    expect_refused(with(directory + 20, std::string(8, '\xff')), "list is damaged");
    expect_refused(with(directory + 42, "\xff\xff\xff\xfe"), "truncated");
    expect_refused(with(directory, "PQ"), "list is damaged");
    expect_refused(with(good.size() - 6, "\xff\xff\xff\x7f"), "truncated");
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_THROW(decode_npz(good.substr(0, size)), Failure) << size;
}

// The size of a member is the one in the directory.
TEST(NpzFile, AFewBytesCannotClaimMuchMemory)
{
    std::string content = compressed_file();
    const size_t directory = content.find("PK\x01\x02");
    content.replace(directory + 24, 4, "\xff\xff\xff\x7f");
    expect_refused(content, "cannot hold 2147483647 bytes");
}

void expect_no_crash(const std::string& good)
{
    for (size_t at = 0; at < good.size(); ++at) {
        for (const char byte : {'\x00', '\x7f', '\xff'}) {
            std::string content = good;
            content[at] = byte;
            try {
                decode_npz(content);
            } catch (const Failure&) {
                continue;
            }
        }
    }
}

TEST(NpzFile, NoByteCrashesTheReader)
{
    Tensor tensor = make_tensor(TENGINE_DT_FP32, {3});
    tensor.name = "a";
    expect_no_crash(program::encode_npz({tensor}));
    expect_no_crash(compressed_file());
}

}  // namespace
}  // namespace tengine::tools
