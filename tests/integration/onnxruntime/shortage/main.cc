// SPDX-License-Identifier: Apache-2.0
// Memory that runs out in our provider and in the library below it, in a program on ONNX Runtime:
//     ort_shortage LIBONNXRUNTIME PROVIDER FOLDER DEVICE [KEY=VALUE...]
// The last words are options of the provider.
//
// ONNX Runtime's own memory does not run out. While the provider is registered, a session made, run
// and ended, and the provider taken out, an allocation fails: in turn one for each way through the
// libraries that leads to one, and for some all that follow it, too. Each call succeeds, with ONNX
// Runtime's results, or says that there is no memory, nothing leaks, and once there is memory the
// same session runs. The exit status is 1 when not.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "difference.h"
#include "heap.h"
#include "model.h"
#include "runtime.h"
#include "session.h"
#include "tensor_file/failure.h"

namespace tengine::ort_host {
namespace {

namespace fs = std::filesystem;
using tools::Failure;
using tools::Tensor;

constexpr char kProviderLibrary[] = "libtengine_ort_ep.so";
constexpr char kLibrary[] = "libtengine.so";

struct Setting
{
    Runtime* runtime;
    std::string provider;
    Request request;
    fs::path folder;
};

int wrong_num = 0;

void complain(const std::string& of, long number, const std::string& what)
{
    std::fprintf(stderr, "ort_shortage: %s, allocation %ld: %s\n", of.c_str(), number,
                 what.c_str());
    ++wrong_num;
}

// ---- one failure ----

// Returns the message of work(); "" if it succeeds.
std::string attempt(const std::function<void()>& work)
{
    try {
        work();
        return "";
    } catch (const Failure& failure) {
        return failure.what();
    }
}

bool names_memory(const std::string& sentence)
{
    return sentence.find("memory") != std::string::npos;
}

// ONNX Runtime has its own message for a session whose provider could not read the model; tengine's
// is in the log.
void check_words(const Setting& setting, const std::string& said, const std::string& of,
                 long number)
{
    const std::vector<std::string> logged = setting.runtime->take_messages();
    if (said.empty() || names_memory(said)) return;
    if (std::none_of(logged.begin(), logged.end(), names_memory)) complain(of, number, said);
}

// Does the work; whether it reached the allocation that fails.
using Work = std::function<void(const std::string& of, long number)>;

void fail_once(const std::string& of, const Work& work, long number, bool lasting)
{
    // A run may leave something for the next one; every run leaves a leak.
    constexpr int kRuns = 3;
    long left = 1;
    for (int i = 0; i < kRuns && left > 0; ++i) {
        const long blocks = count_live_blocks(), before = count_allocations();
        fail_allocation(number, lasting);
        work(of, number);
        if (count_allocations() - before < number) complain(of, number, "it is not reached");
        fail_allocation(0, false);
        left = count_live_blocks() - blocks;
    }
    if (left > 0) complain(of, number, std::to_string(left) + " blocks leak");
}

// Fails each allocation with a new call stack.
void fail_each(const std::string& name, const Work& work)
{
    work(name, 0);  // creates objects that exist once
    begin_recording();
    work(name, 0);
    const std::vector<long> numbers = end_recording();
    std::printf("%s: %zu allocations\n", name.c_str(), numbers.size());
    if (numbers.empty()) complain(name, 0, "none fails");
    constexpr size_t kEvery = 3;
    for (size_t i = 0; i < numbers.size(); ++i) {
        fail_once(name, work, numbers[i], false);
        if (i % kEvery == 0) fail_once(name + ", from there on", work, numbers[i], true);
    }
}

// ---- what fails ----

void register_and_end(const Setting& setting, const std::string& of, long number)
{
    const std::string said = attempt([&] { setting.runtime->register_provider(setting.provider); });
    check_words(setting, said, of, number);
    fail_allocation(0, false);
    if (said.empty()) setting.runtime->unregister_provider();
}

std::vector<Tensor> make_inputs(const std::vector<float>& numbers)
{
    Tensor x = tools::make_tensor(TENGINE_DT_FP32, {static_cast<int64_t>(numbers.size())});
    std::memcpy(x.bytes.data(), numbers.data(), x.bytes.size());
    x.name = "x";
    return {x};
}

struct Run
{
    std::vector<Tensor> inputs, outputs;
};

// Whether results are equal within the precision of bf16.
bool are_close(const std::vector<Tensor>& a, const std::vector<Tensor>& b)
{
    const Difference difference = measure(a[0], b[0]);
    return difference.largest <= 0.02 * difference.magnitude;
}

void run_session(const Setting& setting, const std::string& model, const std::vector<Run>& runs,
                 const std::string& of, long number)
{
    std::optional<Session> session;
    const std::string said =
        attempt([&] { session.emplace(setting.runtime, model, setting.request); });
    check_words(setting, said, of, number);
    if (!session) return;
    std::vector<Tensor> outputs;
    for (const Run& run : runs) {
        const std::string run_said = attempt([&] { outputs = session->run(run.inputs); });
        check_words(setting, run_said, of, number);
        if (run_said.empty() && !are_close(outputs, run.outputs))
            complain(of, number, "the run has other results");
    }
    fail_allocation(0, false);
    if (!are_close(session->run(runs[0].inputs), runs[0].outputs))
        complain(of, number, "the next run has other results");
}

// ---- the models ----

struct Case
{
    const char* name;
    std::string (*make)();
    std::vector<std::vector<float>> inputs;  // of the runs
    bool is_reported = false;
    const char* embed_mode = nullptr;  // of the parts that ONNX Runtime writes; null: none
};

const std::vector<float> kSix = {1, -2, 3, -4, 5, -6};
const Case kCases[] = {{"fixed", make_fixed_model, {kSix}},
                       {"reported", make_fixed_model, {kSix}, true},
                       {"free", make_free_model, {{1, -2, 3}, {1, 2, -3, 4}}},
                       {"choosing", make_choosing_model, {{1, 2, 3}, {-1, -2, 3, 2}}},
                       {"kept", make_fixed_model, {kSix}, false, "0"},
                       {"embedded", make_fixed_model, {kSix}, false, "1"}};

std::string write_model(const fs::path& path, const std::string& contents)
{
    std::ofstream(path, std::ios::binary) << contents;
    return path.string();
}

std::vector<Run> expect_of(Runtime* runtime, const std::string& model, const Case& tested)
{
    const Session alone(runtime, model, {});
    std::vector<Run> runs;
    for (const std::vector<float>& numbers : tested.inputs) {
        runs.push_back({make_inputs(numbers), {}});
        runs.back().outputs = alone.run(runs.back().inputs);
    }
    return runs;
}

void run_case(Setting setting, const Case& tested)
{
    const std::string model =
        write_model(setting.folder / (std::string(tested.name) + ".onnx"), tested.make());
    const std::vector<Run> runs = expect_of(setting.runtime, model, tested);
    const fs::path kept = setting.folder / (std::string(tested.name) + "_written.onnx");
    if (tested.is_reported)
        setting.request.options.emplace_back("report", (setting.folder / "report.json").string());
    if (tested.embed_mode)
        setting.request.config = {{"ep.context_enable", "1"},
                                  {"ep.context_file_path", kept.string()},
                                  {"ep.context_embed_mode", tested.embed_mode}};
    fail_each(tested.name, [&](const std::string& of, long number) {
        fs::remove(kept);
        run_session(setting, model, runs, of, number);
    });
    if (!tested.embed_mode) return;
    {
        const Session writer(setting.runtime, model, setting.request);
    }  // of the file to load
    setting.request.config.clear();
    fail_each(std::string(tested.name) + ", loaded", [&](const std::string& of, long number) {
        run_session(setting, kept.string(), runs, of, number);
    });
}

int run(const std::vector<std::string>& words)
{
    if (words.size() < 4)
        throw Failure("usage: ort_shortage LIBONNXRUNTIME PROVIDER FOLDER DEVICE [KEY=VALUE...]");
    Runtime runtime(words[0]);
    Setting setting = {&runtime, words[1], {}, words[2]};
    setting.request.devices = {words[3]};
    for (size_t i = 4; i < words.size(); ++i)
        setting.request.options.emplace_back(words[i].substr(0, words[i].find('=')),
                                             words[i].substr(words[i].find('=') + 1));
    setting.request.level = ORT_DISABLE_ALL;
    fs::create_directories(setting.folder);
    // The library stays loaded at the same address.
    if (!dlopen(words[1].c_str(), RTLD_NOW)) throw Failure(dlerror());
    if (!watch_heap_of({kProviderLibrary, kLibrary})) throw Failure("the libraries are not loaded");
    fail_each("registration",
              [&](const std::string& of, long number) { register_and_end(setting, of, number); });
    runtime.register_provider(setting.provider);
    for (const Case& tested : kCases)
        run_case(setting, tested);
    runtime.unregister_provider();
    return wrong_num == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tengine::ort_host

int main(int argc, char** argv)
{
    try {
        return tengine::ort_host::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "ort_shortage: %s\n", failure.what());
        return 2;
    }
}
