// SPDX-License-Identifier: Apache-2.0
// The progress line and the statistics of many times, tested alone.
#include "progress.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "statistics.h"

namespace tengine::tools {
namespace {

// A stream and a clock of the test's own.
class ProgressTest : public testing::Test
{
  protected:
    ProgressOutput output(bool is_terminal)
    {
        return {file_.get(), is_terminal, [this] { return now_; }};
    }
    // Returns the output since the last call.
    std::string written()
    {
        std::fflush(file_.get());
        const long end = std::ftell(file_.get());
        std::string text(static_cast<size_t>(end - read_), '\0');
        std::fseek(file_.get(), read_, SEEK_SET);
        EXPECT_EQ(std::fread(&text[0], 1, text.size(), file_.get()), text.size());
        std::fseek(file_.get(), end, SEEK_SET);
        read_ = end;
        return text;
    }
    double now_ = 100;

  private:
    struct Close
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_{std::tmpfile()};
    long read_ = 0;
};

TEST_F(ProgressTest, ATerminalHasALineThatChanges)
{
    {
        Progress progress("net", output(true));
        EXPECT_EQ(written(), "\rnet\033[K");
        now_ = 110;
        progress.show(20, 100);
        EXPECT_EQ(written(), "\rnet: 20 of 100, 20 %, 40 s left\033[K");
        now_ = 110.1;
        progress.show(21, 100);
        EXPECT_EQ(written(), "") << "too soon";
        now_ = 500;
        progress.show(22, 100);
        EXPECT_EQ(written(), "\rnet: 22 of 100, 22 %, 24 min left\033[K");
        now_ = 600;
        progress.show(5, 10);
        EXPECT_EQ(written(), "\rnet: 5 of 10, 50 %, 9 min left\033[K");
        now_ = 610;
        progress.show(1, 10);
        now_ = 620;
        progress.show(2, 10);
        EXPECT_EQ(written(),
                  "\rnet: 1 of 10, 10 %, 0 s left\033[K\rnet: 2 of 10, 20 %, 40 s left\033[K")
            << "another stage";
    }
    EXPECT_EQ(written(), "\r\033[K");
}

TEST_F(ProgressTest, ALogHasALineEveryTenSeconds)
{
    {
        Progress progress("net", output(false));
        for (int i = 0; i < 100; ++i) {
            progress.show_share(7 * i, i / 100.0);
            now_ += 0.25;
        }
    }
    EXPECT_EQ(written(), "net: 280, 40 %, 15 s left\nnet: 560, 80 %, 5 s left\n");
}

TEST_F(ProgressTest, QuietIsNothing)
{
    {
        ProgressOutput quiet = output(true);
        quiet.file = nullptr;
        Progress progress("net", quiet);
        now_ += 100;
        progress.show(1, 2);
    }
    EXPECT_EQ(written(), "");
    EXPECT_EQ(progress_output(true).file, nullptr);
    EXPECT_EQ(progress_output(false).file, stderr);
}

TEST(Statistics, OfManyValues)
{
    const Summary summary = summarise({4, 1, 3, 2, 10});
    EXPECT_EQ(summary.min, 1);
    EXPECT_EQ(summary.median, 3);
    EXPECT_EQ(summary.mean, 4);
    EXPECT_NEAR(summary.deviation, 3.5355339059, 1e-9);
    EXPECT_EQ(summary.p90, 10);
    EXPECT_EQ(summarise({1, 2, 3, 4}).median, 2.5);
}

TEST(Statistics, OfOneAndOfNone)
{
    EXPECT_EQ(summarise({7}).median, 7);
    EXPECT_EQ(summarise({7}).p99, 7);
    EXPECT_EQ(summarise({7}).deviation, 0);
    EXPECT_EQ(summarise({}).mean, 0);
}

}  // namespace
}  // namespace tengine::tools
