// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/resource.h>
#include <sys/wait.h>

namespace tengine {

Finished run_process(const std::vector<std::string>& words, const std::string& output)
{
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    Finished finished;
    rusage usage{};
    int status = 0;
    EXPECT_EQ(wait4(child, &status, 0, &usage), child);
    finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
        finished.seconds +=
            static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    std::ifstream file(output);
    finished.output.assign(std::istreambuf_iterator<char>(file), {});
    return finished;
}

}  // namespace tengine
