// SPDX-License-Identifier: Apache-2.0
// Runs many folders and counts. The contract is in summary.h.
#include "conformance/summary.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
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

// Writes, per test, the verdict's number, the numbers of nodes and the reason, terminated by a
// zero.
[[noreturn]] void run_child(const std::vector<fs::path>& tests, size_t first,
                            const RunSettings& settings, int channel)
{
    if (init_tengine() < 0) {
        std::fprintf(stderr, "conformance_test: %s\n", get_tengine_error());
        _exit(1);
    }
    for (size_t i = first; i < tests.size(); ++i) {
        alarm(kSecondsPerTest);
        const Outcome outcome = run_test_folder(tests[i].string(), settings);
        dprintf(channel, "%d %d %d %s%c", static_cast<int>(outcome.verdict), outcome.nodes,
                outcome.device_nodes, outcome.reason.c_str(), 0);
    }
    _exit(0);
}

// A process that runs tests in order, and ends if one of them crashes.
class Child
{
  public:
    Child(const std::vector<fs::path>& tests, size_t first, const RunSettings& settings)
    {
        int channel[2];
        if (pipe(channel) != 0) throw tools::Failure("cannot make a pipe");
        id_ = fork();
        if (id_ < 0) throw tools::Failure("cannot start a process");
        if (id_ == 0) run_child(tests, first, settings, channel[1]);
        close(channel[1]);
        outcomes_ = fdopen(channel[0], "r");
    }

    bool read_outcome(Outcome* out_outcome)
    {
        std::string text;
        int byte = 0;
        while ((byte = std::fgetc(outcomes_)) != EOF && byte != '\0')
            text += static_cast<char>(byte);
        if (byte == EOF) return false;
        int verdict = 0, begin = 0;
        Outcome outcome;
        std::sscanf(text.c_str(), "%d %d %d%n", &verdict, &outcome.nodes, &outcome.device_nodes,
                    &begin);
        outcome.verdict = static_cast<Verdict>(verdict);
        outcome.reason = text.substr(static_cast<size_t>(begin) + 1);
        *out_outcome = outcome;
        return true;
    }

    std::string wait_for_end()
    {
        std::fclose(outcomes_);
        int status = 0;
        waitpid(id_, &status, 0);
        return WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                                   : "ended without an outcome";
    }

  private:
    pid_t id_ = 0;
    FILE* outcomes_ = nullptr;
};

using Report = std::function<void(const fs::path& test, const Outcome& outcome)>;

void run_in_children(const std::vector<fs::path>& tests, const RunSettings& settings,
                     const Report& report)
{
    for (size_t next = 0; next < tests.size();) {
        Child child(tests, next, settings);
        Outcome outcome;
        while (next < tests.size() && child.read_outcome(&outcome))
            report(tests[next++], outcome);
        const std::string end = child.wait_for_end();
        if (next < tests.size()) report(tests[next++], {Verdict::kFailed, end});
    }
}

// Prints operators that never or not always pass first; the last column distinguishes them.
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

// The models are read here and not through the library, which refuses some of them.
std::set<std::string> operators_of(const fs::path& folder)
{
    ::onnx::ModelProto model;
    std::set<std::string> operators;
    if (model.ParseFromString(tools::read_file((folder / "model.onnx").string())))
        collect_operators(model.graph(), &operators);
    return operators;
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

int run_all(const std::vector<std::string>& folders, const RunSettings& settings,
            const NotSupportedList& list)
{
    static const char* const kWords[] = {"pass", "listed", "FAIL", "lacks"};
    std::map<std::string, Count> operators;
    int verdicts[] = {0, 0, 0, 0}, nodes = 0, device_nodes = 0;
    run_in_children(find_tests(folders), settings, [&](const fs::path& test, const Outcome& raw) {
        const std::string name = test_name(test.string());
        const Outcome outcome = judge(name, raw, list);
        const auto verdict = static_cast<size_t>(outcome.verdict);
        ++verdicts[verdict];
        nodes += raw.nodes;
        device_nodes += raw.device_nodes;
        std::printf("%-6s %s%s%s\n", kWords[verdict], name.c_str(),
                    outcome.reason.empty() ? "" : ": ", outcome.reason.c_str());
        std::fflush(stdout);
        for (const std::string& op : operators_of(test)) {
            ++operators[op].total;
            operators[op].passed += raw.verdict == Verdict::kPassed;
        }
    });
    print_operators(operators);
    std::printf("\n%d passed, %d listed as not supported, %d failed\n", verdicts[0], verdicts[1],
                verdicts[2]);
    if (settings.opset > 0)
        std::printf("%d have what opset %d does not have\n", verdicts[3], settings.opset);
    else if (!settings.through.empty())
        std::printf("%d have what the format %s does not have\n", verdicts[3],
                    settings.through.c_str());
    if (!settings.device.empty())
        std::printf("%d of %d nodes ran on %s\n", device_nodes, nodes, settings.device.c_str());
    return verdicts[2];
}

}  // namespace tengine::conformance
