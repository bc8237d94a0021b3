// SPDX-License-Identifier: Apache-2.0
// Runs folders of the ONNX backend suite:
//     conformance_test FOLDER           one test; one line of reason and status 1 if it fails
//     conformance_test --all FOLDER…    all tests in or below the folders, and a summary
//     conformance_test --through FORMAT FOLDER…
//                                       the same with models that were written in a format and
//                                       read again, or ("instance") with other instances of
//                                       prepared graphs
//     conformance_test --opset N FOLDER…
//                                       the same with ONNX files for that opset, where it has the
//                                       models' operators
//     conformance_test --device NAME [--option KEY=VALUE]… FOLDER…
//                                       the same on a device, of a plug-in in TENGINE_PLUGIN_PATH
//                                       too, with options of the context; nodes that it refuses run
//                                       on the CPU, and the summary says how many do not
//     conformance_test --shortage FOLDER…
//                                       the same, and memory runs out in preparations and runs
//     conformance_test --padding FOLDER…
//                                       the same, and smaller inputs run in the test's shapes
//     conformance_test --stamps HISTORY FOLDER…
//                                       the same with the stamps of other opsets, see stamps.h
//     conformance_test --list ROOT      checks that the lists of what is not supported are in order
//                                       and name folders that exist, of the categories below ROOT
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>
#include <sys/mman.h>
#include <vector>

#include "conformance/not_supported.h"
#include "conformance/padding.h"
#include "conformance/shortage.h"
#include "conformance/stamps.h"
#include "conformance/summary.h"
#include "conformance/test_folder.h"
#include "support/allocation_count.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"

namespace tengine::conformance {
namespace {

int run_one(const std::string& folder, const NotSupportedList& list)
{
    if (init_tengine() < 0) throw tools::Failure(get_tengine_error());
    const std::string name = test_name(folder);
    const Outcome outcome = judge(name, run_test_folder(folder, {}), list);
    release_tengine();
    if (outcome.verdict != Verdict::kPassed)
        std::printf("%s: %s\n", name.c_str(), outcome.reason.c_str());
    return outcome.verdict == Verdict::kFailed ? 1 : 0;
}

int check_list(const std::string& root, const NotSupportedList& list)
{
    int missing = 0;
    for (const auto& [name, reason] : list) {
        const std::filesystem::path folder = std::filesystem::path(root) / name;
        if (!std::filesystem::exists(folder.parent_path()) || std::filesystem::exists(folder))
            continue;
        std::printf("%s is listed (%s), but does not exist\n", name.c_str(), reason.c_str());
        ++missing;
    }
    return missing == 0 ? 0 : 1;
}

// --opset N FOLDER...
int run_in_opset(const std::vector<std::string>& arguments, const NotSupportedList& list)
{
    RunSettings settings;
    settings.through = "onnx";
    settings.opset = std::stoi(arguments[1]);
    return run_all({arguments.begin() + 2, arguments.end()}, settings, list) == 0 ? 0 : 1;
}

// --device NAME [--option KEY=VALUE]... FOLDER...
int run_on_device(const std::vector<std::string>& arguments, const NotSupportedList& list)
{
    RunSettings settings;
    settings.device = arguments[1];
    size_t next = 2;
    for (; next + 1 < arguments.size() && arguments[next] == "--option"; next += 2)
        settings.options.push_back(arguments[next + 1]);
    if (next == arguments.size()) throw tools::Failure("--device: no folder given");
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(next);
    return run_all({first, arguments.end()}, settings, list) == 0 ? 0 : 1;
}

// --shortage FOLDER...
int run_short_of_memory(const std::vector<std::string>& folders, const NotSupportedList& list)
{
    if (!can_count_allocations()) {
        std::printf("skipped: a sanitizer has its own allocator\n");
        return 0;
    }
    RunSettings settings;
    settings.also = check_shortages;
    set_log_level(LOG_EMERG);  // each failure logs an error
    return run_all(folders, settings, list);
}

// Fewer requests than this in the folder "node" of the suite mean that little was compared.
constexpr int kFewestExact = 500;

// --padding FOLDER...
int run_padded(const std::vector<std::string>& folders, const NotSupportedList& list)
{
    // Tests are child processes.
    void* shared = mmap(nullptr, sizeof(PaddingCounts), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw tools::Failure("no shared memory for the counts");
    PaddingCounts& counts = *new (shared) PaddingCounts;
    RunSettings settings;
    settings.also = [&](graph_t graph, const std::function<void()>& compare) {
        check_padding(graph, compare, &counts);
    };
    set_log_level(LOG_EMERG);  // shapes that a model refuses
    const int failed = run_all(folders, settings, list);
    std::printf(
        "%d smaller requests ran in the test's shapes, %d results with other last bits; "
        "%d were prepared for their own\n",
        counts.exact, counts.other_bits, counts.not_exact);
    return failed == 0 && counts.exact >= kFewestExact ? 0 : 1;
}

int run(const std::vector<std::string>& arguments)
{
    const NotSupportedList list =
        read_not_supported({TENGINE_CONFORMANCE_DIR "/not_supported.txt",
                            TENGINE_CONFORMANCE_DIR "/not_supported_newer.txt"});
    if (arguments.size() == 1 && arguments[0][0] != '-') return run_one(arguments[0], list);
    if (arguments.size() == 2 && arguments[0] == "--list") return check_list(arguments[1], list);
    if (arguments.size() >= 2 && arguments[0] == "--all")
        return run_all({arguments.begin() + 1, arguments.end()}, {}, list) == 0 ? 0 : 1;
    if (arguments.size() >= 3 && arguments[0] == "--through")
        return run_all({arguments.begin() + 2, arguments.end()}, {arguments[1]}, list) == 0 ? 0 : 1;
    if (arguments.size() >= 3 && arguments[0] == "--opset") return run_in_opset(arguments, list);
    if (arguments.size() >= 3 && arguments[0] == "--device") return run_on_device(arguments, list);
    if (arguments.size() >= 2 && arguments[0] == "--shortage")
        return run_short_of_memory({arguments.begin() + 1, arguments.end()}, list) == 0 ? 0 : 1;
    if (arguments.size() >= 2 && arguments[0] == "--padding")
        return run_padded({arguments.begin() + 1, arguments.end()}, list);
#ifdef TENGINE_HAVE_JSON
    if (arguments.size() >= 3 && arguments[0] == "--stamps")
        return run_stamps(arguments[1], {arguments.begin() + 2, arguments.end()}, list) == 0 ? 0
                                                                                             : 1;
#endif
    throw tools::Failure(
        "usage: conformance_test FOLDER | --all FOLDER... | --through FORMAT FOLDER... | "
        "--opset N FOLDER... | --device NAME [--option KEY=VALUE]... FOLDER... | --shortage "
        "FOLDER... | --padding FOLDER... | --stamps HISTORY FOLDER... | --list ROOT");
}

}  // namespace
}  // namespace tengine::conformance

int main(int argc, char** argv)
{
    try {
        return tengine::conformance::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "conformance_test: %s\n", failure.what());
        return 2;
    }
}
