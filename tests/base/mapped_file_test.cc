// SPDX-License-Identifier: Apache-2.0
// Files that are mapped, copied and read, and changes of the file behind them.
#include "base/mapped_file.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include "support/fault_address.h"

namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test
{
  protected:
    ~MappedFileTest() override
    {
        unmap_file(&file_);
        fs::remove(path_);
    }

    void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
    int read(const std::string& bytes)
    {
        write(bytes);
        return read_whole_file(path_.c_str(), &file_);
    }
    int map()
    {
        int descriptor;
        TENGINE_RETURN_IF_ERROR(open_to_read(path_.c_str(), &descriptor));
        const int status = map_open_file(descriptor, path_.c_str(), true, &file_);
        close(descriptor);
        return status;
    }
    int copy()
    {
        int descriptor;
        TENGINE_RETURN_IF_ERROR(open_to_read(path_.c_str(), &descriptor));
        const int status = copy_open_file(descriptor, path_.c_str(), &file_);
        close(descriptor);
        return status;
    }
    std::string bytes() const { return std::string(file_.bytes, file_.size); }

    fs::path path_ = fs::temp_directory_path() / ("mapped_file_" + std::to_string(getpid()));
    mapped_file_t file_ = {nullptr, 0};
};

TEST_F(MappedFileTest, ACopyDoesNotFollowTheFile)
{
    const std::string bytes(10000, 'x');
    ASSERT_EQ(read(bytes), TENGINE_OK) << tengine_error_message();
    fs::resize_file(path_, 0);
    EXPECT_EQ(std::string(file_.bytes, file_.size), bytes);
    file_.bytes[0] = 'y';  // the copy is writable
}

TEST_F(MappedFileTest, WhatCannotBeReadIsSaid)
{
    EXPECT_EQ(read_whole_file("/no/such/file", &file_), TENGINE_EIO);
    EXPECT_EQ(read_whole_file("/", &file_), TENGINE_EIO);
    EXPECT_EQ(read(""), TENGINE_EFORMAT);
    EXPECT_EQ(file_.bytes, nullptr);
}

// This file system reports that the files have a page.
TEST_F(MappedFileTest, AFileThatEndsEarlyIsAnError)
{
    const char* path = "/sys/kernel/mm/transparent_hugepage/enabled";
    std::error_code ignored;
    if (fs::file_size(path, ignored) != 4096) GTEST_SKIP() << "no such file here";
    EXPECT_EQ(read_whole_file(path, &file_), TENGINE_EIO);
    EXPECT_NE(std::string(tengine_error_message()).find("truncated: "), std::string::npos)
        << tengine_error_message();
    EXPECT_EQ(file_.bytes, nullptr);
}

TEST_F(MappedFileTest, DroppedPagesOfACopyComeBack)
{
    const std::string text(100000, 'x');
    write(text);
    ASSERT_EQ(copy(), TENGINE_OK) << tengine_error_message();
    fs::resize_file(path_, 0);
    EXPECT_EQ(bytes(), text);
    drop_mapped_bytes(file_.bytes, file_.size);
    EXPECT_EQ(bytes(), text);
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_OK);
    file_.bytes[0] = 'y';  // the copy is writable
}

TEST_F(MappedFileTest, ALimitOfFilesDoesNotEndTheProcess)
{
    write("xyz");
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit least = {1, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &least), 0);
    EXPECT_EQ(copy(), TENGINE_ENOTSUP);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(copy(), TENGINE_OK);
}

TEST_F(MappedFileTest, PagesThatAreGoneAreZeroesAndAnError)
{
    if (!tengine::test::faults_have_addresses())
        GTEST_SKIP() << "the emulator gives the address of a fault wrong";
    write(std::string(100000, 'x'));
    ASSERT_EQ(map(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_OK);
    fs::resize_file(path_, 4096);
    EXPECT_EQ(file_.bytes[4095], 'x');
    EXPECT_EQ(file_.bytes[99999], '\0');
    EXPECT_EQ(file_.bytes[50000], '\0');
    write(std::string(100000, 'x'));  // the same size, but zeros were read
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_EIO);
    EXPECT_NE(std::string(tengine_error_message()).find("was changed in place"), std::string::npos);
}

TEST_F(MappedFileTest, ATimeOrALengthTellsAChange)
{
    write(std::string(10000, 'x'));
    const auto time = fs::last_write_time(path_);
    ASSERT_EQ(map(), TENGINE_OK) << tengine_error_message();
    fs::last_write_time(path_, time - std::chrono::seconds(1));
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_EIO);
    fs::last_write_time(path_, time);
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_OK);
    fs::resize_file(path_, 20000);
    fs::last_write_time(path_, time);
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_EIO);
    fs::remove(path_);
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_OK);
    write("another file");
    EXPECT_EQ(check_mapped_file(&file_), TENGINE_OK);
}

// Maps more files than a block of the list has, and again.
TEST_F(MappedFileTest, ManyFilesAreGuarded)
{
    if (!tengine::test::faults_have_addresses())
        GTEST_SKIP() << "the emulator gives the address of a fault wrong";
    write(std::string(10000, 'x'));
    for (int round = 0; round < 2; ++round) {
        std::vector<mapped_file_t> files(100);
        for (mapped_file_t& file : files) {
            ASSERT_EQ(map(), TENGINE_OK);
            file = std::exchange(file_, {nullptr, 0});
        }
        fs::resize_file(path_, 0);
        for (mapped_file_t& file : files) {
            EXPECT_EQ(file.bytes[9999], '\0');
            EXPECT_EQ(check_mapped_file(&file), TENGINE_EIO);
            unmap_file(&file);
        }
        write(std::string(10000, 'x'));
    }
}

volatile sig_atomic_t seen = 0;

void see(int)
{
    ++seen;
}

TEST_F(MappedFileTest, AnotherHandlerGetsItsSignals)
{
    const auto before = std::signal(SIGBUS, see);
    write("xyz");
    ASSERT_EQ(map(), TENGINE_OK);
    std::raise(SIGBUS);
    EXPECT_EQ(seen, 1);
    unmap_file(&file_);
    EXPECT_EQ(std::signal(SIGBUS, before), see) << "it is the program's again";
    write("xyz");
    ASSERT_EQ(map(), TENGINE_OK);
    std::signal(SIGBUS, see);  // the program's own handler is kept
    unmap_file(&file_);
    EXPECT_EQ(std::signal(SIGBUS, before), see);
}

// This is not a fault of a guarded file: the process ends as without the library.
TEST_F(MappedFileTest, OtherSignalsEndTheProcess)
{
    const auto before = std::signal(SIGBUS, SIG_DFL);  // a sanitizer has its own handler
    write("xyz");
    ASSERT_EQ(map(), TENGINE_OK);
    EXPECT_EXIT(std::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
    unmap_file(&file_);
    std::signal(SIGBUS, before);
}

}  // namespace
