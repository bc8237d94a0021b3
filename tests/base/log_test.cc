// SPDX-License-Identifier: Apache-2.0
// base/log.h and tengine/log.h: levels, sinks, line lengths, threads.
#include "base/log.h"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace tengine {
namespace {

std::vector<std::string> g_lines;
std::atomic<int> g_line_num{0};

void keep_line(const char* line)
{
    g_lines.emplace_back(line);
}
void count_line(const char*)
{
    ++g_line_num;
}

class Log : public ::testing::Test
{
  protected:
    void SetUp() override { g_lines.clear(); }
    void TearDown() override
    {
        set_log_sink(nullptr);
        set_log_sink_level(TENGINE_LOG_NOTICE);
    }
};

TEST_F(Log, DefaultLevelIsNotice)
{
    EXPECT_EQ(TENGINE_LOG_NOTICE, get_log_sink_level());
    set_log_sink(keep_line);
    TLOG_INFO("not seen");
    TLOG_NOTICE("seen %d", 7);
    ASSERT_EQ(1u, g_lines.size());
    EXPECT_EQ("seen 7", g_lines[0]);
}

TEST_F(Log, LevelSelectsAndIsClamped)
{
    set_log_sink(keep_line);
    set_log_sink_level(99);
    EXPECT_EQ(TENGINE_LOG_DEBUG, get_log_sink_level());
    TLOG_ERR("e");
    TLOG_WARNING("w");
    TLOG_NOTICE("n");
    TLOG_INFO("i");
    TLOG_DEBUG("d");
    EXPECT_EQ((std::vector<std::string>{"e", "w", "n", "i", "d"}), g_lines);
    set_log_sink_level(-1);
    EXPECT_EQ(TENGINE_LOG_EMERG, get_log_sink_level());
    TLOG_ERR("e");
    EXPECT_EQ(5u, g_lines.size());
}

TEST_F(Log, SinkGetsAtMost255Characters)
{
    set_log_sink(keep_line);
    TLOG_ERR("%s", std::string(255, 'a').c_str());
    TLOG_ERR("%s", std::string(256, 'a').c_str());
    EXPECT_EQ(std::string(255, 'a'), g_lines[0]);
    EXPECT_EQ(std::string(252, 'a') + "...", g_lines[1]);
}

int g_level = -1;

void keep_level(int level, const char* line)
{
    g_level = level;
    g_lines.emplace_back(line);
}

TEST_F(Log, LevelSinkGetsTheLevelAndAtMost1023Characters)
{
    set_log_level_sink(keep_level);
    TLOG_WARNING("%s", std::string(1023, 'a').c_str());
    EXPECT_EQ(TENGINE_LOG_WARNING, g_level);
    TLOG_ERR("%s", std::string(1024, 'a').c_str());
    EXPECT_EQ(TENGINE_LOG_ERR, g_level);
    TLOG_INFO("below the level");
    EXPECT_EQ((std::vector<std::string>{std::string(1023, 'a'), std::string(1020, 'a') + "..."}),
              g_lines);
}

TEST_F(Log, TheSinkSetLastHasTheLines)
{
    set_log_level_sink(keep_level);
    set_log_sink(count_line);
    g_line_num = 0;
    TLOG_ERR("counted");
    set_log_level_sink(keep_level);
    TLOG_ERR("kept");
    EXPECT_EQ(1, g_line_num);
    EXPECT_EQ(std::vector<std::string>{"kept"}, g_lines);
    set_log_level_sink(nullptr);
    ::testing::internal::CaptureStderr();
    TLOG_ERR("on stderr");
    EXPECT_EQ("on stderr\n", ::testing::internal::GetCapturedStderr());
}

TEST_F(Log, StderrLineEndsWithOneNewline)
{
    ::testing::internal::CaptureStderr();
    TLOG_ERR("without");
    TLOG_ERR("with\n");
    TLOG_ERR("%s", "");
    EXPECT_EQ("without\nwith\n\n", ::testing::internal::GetCapturedStderr());
}

TEST_F(Log, StderrTakes1023CharactersAndMarksACut)
{
    ::testing::internal::CaptureStderr();
    TLOG_ERR("%s", std::string(1023, 'b').c_str());
    TLOG_ERR("%s", std::string(1024, 'b').c_str());
    EXPECT_EQ(std::string(1023, 'b') + "\n" + std::string(1020, 'b') + "...\n",
              ::testing::internal::GetCapturedStderr());
}

TEST_F(Log, KeepsErrno)
{
    set_log_sink([](const char*) { errno = EIO; });
    errno = ENOENT;
    TLOG_ERR("x");
    EXPECT_EQ(ENOENT, errno);
}

TEST_F(Log, NamesControlNoTerminal)
{
    set_log_sink(keep_line);
    TLOG_ERR("%s", "a\033]0;title\007");
    EXPECT_EQ(std::vector<std::string>{"a?]0;title?"}, g_lines);
}

TEST_F(Log, SinkMayLog)
{
    set_log_sink([](const char* line) {
        keep_line(line);
        if (std::string(line) == "outer") TLOG_ERR("inner");
    });
    TLOG_ERR("outer");
    EXPECT_EQ((std::vector<std::string>{"outer", "inner"}), g_lines);
}

TEST_F(Log, ManyThreads)
{
    g_line_num = 0;
    set_log_sink(count_line);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) {
                TLOG_ERR("line %d", i);
                set_log_sink_level(TENGINE_LOG_ERR + i % 2);
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(4000, g_line_num);
}

}  // namespace
}  // namespace tengine
