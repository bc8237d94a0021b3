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
    expect_refused(with(directory + 10, "\x08"), "'a.npy': it is compressed");
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

TEST(NpzFile, NoByteCrashesTheReader)
{
    Tensor tensor = make_tensor(TENGINE_DT_FP32, {3});
    tensor.name = "a";
    const std::string good = program::encode_npz({tensor});
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

}  // namespace
}  // namespace tengine::tools
