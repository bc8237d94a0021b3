// SPDX-License-Identifier: Apache-2.0
// Runs many folders and counts. The contract is in summary.h.
#include "conformance/summary.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <onnx/onnx.pb.h>
#include <set>
#include <sys/wait.h>

#include "tengine/c_api.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::conformance {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerTest = 60;

struct Count
{
    int passed = 0;
    int total = 0;
};

void collect_operators(const ::onnx::GraphProto& graph, std::set<std::string>* operators)
{
    for (const ::onnx::NodeProto& node : graph.node()) {
        operators->insert((node.domain().empty() ? "" : node.domain() + ".") + node.op_type());
        for (const ::onnx::AttributeProto& attribute : node.attribute()) {
            if (attribute.has_g()) collect_operators(attribute.g(), operators);
        }
    }
}

// The models are read here and not through the library, which refuses some of them.
std::set<std::string> operators_of(const fs::path& folder)
{
    ::onnx::ModelProto model;
    std::set<std::string> operators;
    if (model.ParseFromString(tools::read_file((folder / "model.onnx").string())))
        collect_operators(model.graph(), &operators);
    return operators;
}

[[noreturn]] void run_child(const std::string& folder, const std::string& through, int channel)
{
    alarm(kSecondsPerTest);
    const Outcome outcome = init_tengine() < 0 ? Outcome{Verdict::kFailed, get_tengine_error()}
                                               : run_test_folder(folder, through);
    const std::string message = static_cast<char>(outcome.verdict) + outcome.reason;
    const bool written =
        write(channel, message.data(), message.size()) == static_cast<ssize_t>(message.size());
    _exit(written ? 0 : 1);
}

std::string read_all(int channel)
{
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = read(channel, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(count));
    return text;
}

Outcome run_in_child(const std::string& folder, const std::string& through)
{
    int channel[2];
    if (pipe(channel) != 0) throw tools::Failure("cannot make a pipe");
    const pid_t child = fork();
    if (child < 0) throw tools::Failure("cannot start a process");
    if (child == 0) run_child(folder, through, channel[1]);
    close(channel[1]);
    const std::string message = read_all(channel[0]);
    close(channel[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        return {Verdict::kFailed, "ended by signal " + std::to_string(WTERMSIG(status))};
    if (message.empty()) return {Verdict::kFailed, "ended without an outcome"};
    return {static_cast<Verdict>(message[0]), message.substr(1)};
}

std::vector<fs::path> find_tests(const std::vector<std::string>& folders)
{
    std::vector<fs::path> tests;
    for (const std::string& folder : folders) {
        const size_t before = tests.size();
        if (fs::exists(fs::path(folder) / "model.onnx")) tests.push_back(folder);
        if (fs::is_directory(folder)) {
            for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
                if (fs::exists(entry.path() / "model.onnx")) tests.push_back(entry.path());
            }
        }
        if (tests.size() == before) throw tools::Failure("'" + folder + "' holds no test folders");
        std::sort(tests.begin() + static_cast<std::ptrdiff_t>(before), tests.end());
    }
    return tests;
}

// Operators that pass nowhere or not everywhere come first; the last column says which is which.
void print_operators(const std::map<std::string, Count>& counts)
{
    std::printf("\n%-36s passed  tests\n", "operator");
    for (const bool complete : {false, true}) {
        for (const auto& [name, count] : counts) {
            if ((count.passed == count.total) == complete)
                std::printf("%-36s %6d %6d%s\n", name.c_str(), count.passed, count.total,
                            complete ? "" : "  !");
        }
    }
}

}  // namespace

int run_all(const std::vector<std::string>& folders, const std::string& through,
            const NotSupportedList& list)
{
    static const char* const kWords[] = {"pass", "listed", "FAIL"};
    std::map<std::string, Count> operators;
    int verdicts[] = {0, 0, 0};
    for (const fs::path& folder : find_tests(folders)) {
        const std::string name = test_name(folder.string());
        const Outcome raw = run_in_child(folder.string(), through);
        const Outcome outcome = judge(name, raw, list);
        const auto verdict = static_cast<size_t>(outcome.verdict);
        ++verdicts[verdict];
        std::printf("%-6s %s%s%s\n", kWords[verdict], name.c_str(),
                    outcome.reason.empty() ? "" : ": ", outcome.reason.c_str());
        std::fflush(stdout);
        for (const std::string& op : operators_of(folder)) {
            ++operators[op].total;
            operators[op].passed += raw.verdict == Verdict::kPassed;
        }
    }
    print_operators(operators);
    std::printf("\n%d passed, %d listed as not supported, %d failed\n", verdicts[0], verdicts[1],
                verdicts[2]);
    return verdicts[2];
}

}  // namespace tengine::conformance
