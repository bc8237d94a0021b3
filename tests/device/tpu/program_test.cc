// SPDX-License-Identifier: Apache-2.0
// The container: both directions, its layout, and that no damaged file is accepted or causes
// faults, with the hash of the original or with its own.
#include "device/tpu/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "base/sha256.h"
#include "device/tpu/sample_program.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

constexpr size_t kHeaderBytes = 64;

int load(const Bytes& file)
{
    // A block of exactly this size, so that a sanitizer detects reads beyond it.
    const Bytes exact(file.begin(), file.end());
    Program program;
    return load_program(exact.data(), exact.size(), &program);
}

void put(Bytes* file, size_t position, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        (*file)[position + i] = static_cast<uint8_t>(number >> (8 * i));
}

TEST(Program, IsTheSameAfterwards)
{
    const Program written = sample_program();
    const Bytes file = save_program(written);
    Program read;
    ASSERT_EQ(load_program(file.data(), file.size(), &read), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(save_program(read), file);
    EXPECT_EQ(read.fingerprint, written.fingerprint);
    EXPECT_EQ(read.instructions.size(), written.instructions.size());
    EXPECT_TRUE(std::equal(read.weights.begin(), read.weights.end(), written.weights.begin(),
                           written.weights.end()));
    EXPECT_EQ(read.constants, written.constants);
    EXPECT_EQ(read.host_bytes, 2048u);
    EXPECT_EQ(read.nodes, (std::vector<std::string>{"conv", "pool"}));
    ASSERT_EQ(read.bindings.size(), 4u);
    EXPECT_EQ(read.bindings[0].dims, (std::vector<int>{1, 8, 4, 4}));
    EXPECT_TRUE(read.bindings[0].channels_last);
    EXPECT_EQ(read.bindings[3].name, "a \"name\" \\ \x01");
    EXPECT_EQ(read.bindings[3].address, 0x500u);
    EXPECT_TRUE(use_program(file, sample_config())) << tengine_error_message();
}

TEST(Program, AnEmptyOneIsAFileToo)
{
    const Bytes file = save_program(Program());
    EXPECT_EQ(file.size(), kHeaderBytes + 8 + SHA256_BYTES);
    EXPECT_EQ(load(file), TENGINE_OK) << tengine_error_message();
}

TEST(Program, TheLayoutOfAFile)
{
    const Bytes file = save_program(sample_program());
    const Bytes head(file.begin(), file.begin() + 16);
    EXPECT_EQ(head, (Bytes{'T', 'G', 'T', 'P', 'U', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(file[24], sample_program().instructions.size());
    EXPECT_EQ(file[kHeaderBytes], static_cast<uint8_t>(Opcode::kTag));
    EXPECT_EQ(file[kHeaderBytes + kInstructionBytes], static_cast<uint8_t>(Opcode::kReadHost));
}

TEST(Program, CutOffFilesAreRefused)
{
    const Bytes file = save_program(sample_program());
    for (size_t size = 0; size < file.size(); ++size) {
        Bytes cut(file.begin(), file.begin() + size);
        ASSERT_EQ(load(cut), TENGINE_EFORMAT) << size;
        sign_program(&cut);
        ASSERT_EQ(load(cut), TENGINE_EFORMAT) << size;
    }
    Bytes longer = file;
    longer.push_back(0);
    EXPECT_EQ(load(longer), TENGINE_EFORMAT);
    sign_program(&longer);
    EXPECT_EQ(load(longer), TENGINE_EFORMAT);
}

TEST(Program, AnAlteredByteIsNoticed)
{
    const Bytes file = save_program(sample_program());
    for (size_t i = 0; i < file.size(); ++i) {
        for (const int mask : {0x01, 0x80, 0xff}) {
            Bytes altered = file;
            altered[i] ^= mask;
            const int status = load(altered);
            ASSERT_TRUE(status == TENGINE_EFORMAT || status == TENGINE_ENOTSUP) << i;
        }
    }
    Bytes altered = file;
    altered[kHeaderBytes + 20] ^= 1;
    EXPECT_EQ(load(altered), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("SHA-256"));
}

// No byte of the header can be changed, signed or not: the file would be for another machine, sizes
// would not add up, or host memory would end before the part of it that is used. Only more host
// memory is harmless.
TEST(Program, AnAlteredHeaderIsNoProgramEvenSigned)
{
    const Bytes file = save_program(sample_program());
    for (size_t i = 0; i < kHeaderBytes; ++i) {
        const bool is_host_size = i >= 48 && i < 56;
        for (int value = 0; value < 256; ++value) {
            Bytes altered = file;
            altered[i] = static_cast<uint8_t>(value);
            if (altered == file) continue;
            sign_program(&altered);
            const bool is_valid = use_program(altered, sample_config());
            ASSERT_TRUE(!is_valid || is_host_size) << "byte " << i << " as " << value;
        }
    }
}

TEST(Program, SignedDamageDoesNoHarm)
{
    const Bytes file = save_program(sample_program());
    int valid = 0;
    for (size_t i = kHeaderBytes; i < file.size() - SHA256_BYTES; ++i) {
        for (const int mask : {0x01, 0x02, 0x10, 0x80, 0xff}) {
            Bytes altered = file;
            altered[i] ^= mask;
            sign_program(&altered);
            valid += use_program(altered, sample_config());
        }
    }
    // Data may be altered, and so may many numbers.
    EXPECT_GT(valid, 100);
}

TEST(Program, SizesThatWrapAroundAreRefused)
{
    const Bytes file = save_program(sample_program());
    const uint64_t all = std::numeric_limits<uint64_t>::max();
    for (const size_t field : {24, 32, 40, 56}) {
        for (const uint64_t size : {all, all / 2 + 1, all / kInstructionBytes + 1, all - 63}) {
            Bytes altered = file;
            put(&altered, field, size, 8);
            sign_program(&altered);
            EXPECT_EQ(load(altered), TENGINE_EFORMAT) << field << " " << size;
        }
    }
    // Two sizes whose sum is correct again modulo 2^64.
    Bytes altered = file;
    put(&altered, 32, all - 99, 8);
    put(&altered, 40, 512 + 192 + 100, 8);
    sign_program(&altered);
    EXPECT_EQ(load(altered), TENGINE_EFORMAT);
}

TEST(Program, OtherVersionsAreNotSupported)
{
    Bytes file = save_program(sample_program());
    put(&file, 8, kIsaVersion + 1, 4);
    sign_program(&file);
    EXPECT_EQ(load(file), TENGINE_ENOTSUP);
    EXPECT_THAT(tengine_error_message(), HasSubstr("version 2 of the instruction set"));
}

// The numbers of bindings, dimensions and letters claim more than the section has.
TEST(Program, NamesThatAreTooLongAreRefused)
{
    Program program;
    program.bindings.push_back({"x", false, 2, false, {1, 2}, 0});
    program.nodes.push_back("n");
    const Bytes file = save_program(program);
    for (size_t i = kHeaderBytes; i < file.size() - SHA256_BYTES; ++i) {
        for (const int value : {0, 1, 0x7f, 0xff}) {
            Bytes altered = file;
            altered[i] = static_cast<uint8_t>(value);
            sign_program(&altered);
            (void)load(altered);
        }
    }
    Bytes altered = file;
    put(&altered, kHeaderBytes, 0xffffffff, 4);
    sign_program(&altered);
    EXPECT_EQ(load(altered), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("longer than their section"));
    altered = file;
    altered[kHeaderBytes + 4] = 2;
    sign_program(&altered);
    EXPECT_EQ(load(altered), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("direction of a binding is 2"));
}

}  // namespace
}  // namespace tengine::tpu
