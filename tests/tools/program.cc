// SPDX-License-Identifier: Apache-2.0
// Starts a process. The contract is in program.h.
#include "tools/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::program {
namespace {

namespace fs = std::filesystem;

void redirect(const std::string& path, int flags, int descriptor)
{
    const int file = open(path.c_str(), flags, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
}

// Returns an empty folder that no other test has.
std::string test_folder(const std::string& ending)
{
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name() + ending;
    for (char& letter : name) {
        if (letter == '/') letter = '_';
    }
    const fs::path folder = fs::path(TENGINE_SCRATCH_DIR) / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder.string();
}

}  // namespace

Finished run(const std::vector<std::string>& arguments, const std::string& input)
{
    const std::string folder = test_folder(".streams");
    const std::string output = folder + "/output";
    const std::string errors = folder + "/errors";
    const std::string content = folder + "/input";
    tools::write_file(content, input);
    std::vector<char*> words = {const_cast<char*>("tengine")};
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);

    const pid_t child = fork();
    if (child < 0) throw tools::Failure("cannot start a process");
    if (child == 0) {
        redirect(content, O_RDONLY, STDIN_FILENO);
        redirect(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        redirect(errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
        execv(TENGINE_PROGRAM, words.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Finished finished{WIFEXITED(status) ? WEXITSTATUS(status) : -1, tools::read_file(output),
                      tools::read_file(errors)};
    fs::remove_all(folder);
    return finished;
}

std::string data_file(const std::string& name)
{
    return std::string(TENGINE_EXAMPLES_DATA_DIR) + "/" + name;
}

std::string scratch_folder()
{
    return test_folder("");
}

}  // namespace tengine::program
