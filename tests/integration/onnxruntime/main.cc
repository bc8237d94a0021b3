// SPDX-License-Identifier: Apache-2.0
// A program on ONNX Runtime that gives nodes to our execution provider:
//     ort_host [options] devices           the provider's devices
//     ort_host [options] nodes FOLDER...   models of the ONNX backend suite, and counts
//     ort_host [options] model FILE [NAME=N,M,...]
//                                          one model, compared with ONNX Runtime alone; NAME: of a
//                                          free dimension
//     ort_host [options] threads FILE [NAME=N,M,...]
//                                          one session, run by several threads at once
// The exit status is 0 when all agrees and nodes were on the provider, 1 when not, and 2 where that
// could not be tested.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "leak_check.h"
#include "network.h"
#include "node_models.h"
#include "runtime.h"
#include "tensor_file/failure.h"

namespace tengine::ort_host {
namespace {

using tools::Failure;

constexpr char kUsage[] =
    "usage: ort_host --library FILE --provider FILE [options]\n"
    "       devices | nodes FOLDER... | model FILE [NAME=N,M,...] |\n"
    "       threads FILE [NAME=N,M,...]\n"
    "  --provider FILE   the provider's library\n"
    "  --library FILE    libonnxruntime.so.1\n"
    "  --device A,B      devices of the provider (default CPU)\n"
    "  --option KEY=VALUE  option of the provider; may be repeated\n"
    "  --config KEY=VALUE  entry of the session's configuration; may be repeated\n"
    "  --level N         ONNX Runtime's optimisation: 0, 1, 2, 3 or 99 (default)\n"
    "  --seed N          of made-up inputs\n"
    "  --tolerance R     difference allowed, relative to an output's largest magnitude\n"
    "  --fix NAME=N      gives a free dimension its size before the model is placed\n"
    "  --write FOLDER    inputs and results of `model`, as .npy\n"
    "  --expect FOLDER   results in such a folder, to compare with\n"
    "  --threads N       of `threads` (default 4)\n"
    "  --rounds N        runs of each (default 10)\n"
    "  --at-least N      models of `nodes` that must agree with nodes on the provider\n"
    "  --verbose         a line for each model of `nodes`";

struct Arguments
{
    std::string library;
    std::string provider;
    NetworkOptions network;
    NodeModelOptions nodes;
    int threads = 4;
    int rounds = 10;
    std::vector<std::string> words;
};

std::pair<std::string, std::string> split(const std::string& text)
{
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw Failure("'" + text + "': expected KEY=VALUE");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::string> split_list(const std::string& text)
{
    std::vector<std::string> items;
    for (size_t start = 0; start <= text.size();) {
        const size_t end = std::min(text.find(',', start), text.size());
        if (end > start) items.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return items;
}

Arguments parse(const std::vector<std::string>& words)
{
    Arguments arguments;
    Request& request = arguments.network.request;
    request.devices = {"CPU"};
    using Set = std::function<void(const std::string&)>;
    const std::map<std::string, Set> options = {
        {"--provider", [&](const std::string& v) { arguments.provider = v; }},
        {"--library", [&](const std::string& v) { arguments.library = v; }},
        {"--device", [&](const std::string& v) { request.devices = split_list(v); }},
        {"--option", [&](const std::string& v) { request.options.push_back(split(v)); }},
        {"--config", [&](const std::string& v) { request.config.push_back(split(v)); }},
        {"--level",
         [&](const std::string& v) {
             request.level = static_cast<GraphOptimizationLevel>(std::stoi(v));
         }},
        {"--seed", [&](const std::string& v) { arguments.network.seed = std::stoull(v); }},
        {"--tolerance", [&](const std::string& v) { arguments.network.tolerance = std::stod(v); }},
        {"--write", [&](const std::string& v) { arguments.network.write = v; }},
        {"--expect", [&](const std::string& v) { arguments.network.expect = v; }},
        {"--fix",
         [&](const std::string& v) {
             const auto [name, size] = split(v);
             request.fixed_dims.emplace_back(name, std::stoll(size));
         }},
        {"--threads", [&](const std::string& v) { arguments.threads = std::stoi(v); }},
        {"--rounds", [&](const std::string& v) { arguments.rounds = std::stoi(v); }},
        {"--at-least", [&](const std::string& v) { arguments.nodes.at_least = std::stoi(v); }},
    };
    for (size_t i = 0; i < words.size(); ++i) {
        const auto option = options.find(words[i]);
        if (words[i] == "--verbose") {
            arguments.nodes.verbose = true;
        } else if (option != options.end() && i + 1 < words.size()) {
            option->second(words[++i]);
        } else if (words[i][0] == '-') {
            throw Failure(kUsage);
        } else {
            arguments.words.push_back(words[i]);
        }
    }
    arguments.nodes.request = request;
    return arguments;
}

int list_devices(const Runtime& runtime)
{
    int own = 0;
    for (const Device& device : runtime.devices()) {
        std::printf("%s, %s, %s\n", device.provider.c_str(), device.vendor.c_str(),
                    device.hardware.c_str());
        for (const auto& [key, value] : device.metadata)
            std::printf("    %s: %s\n", key.c_str(), value.c_str());
        for (const auto& [key, value] : device.options)
            std::printf("    option %s: %s\n", key.c_str(), value.c_str());
        own += device.provider == kProvider;
    }
    return own > 0 ? 0 : 1;
}

int run(Arguments arguments)
{
    std::vector<std::string>& words = arguments.words;
    if (words.empty() || arguments.library.empty() || arguments.provider.empty())
        throw Failure(kUsage);
    const std::string mode = words[0];
    Runtime runtime(arguments.library);
    runtime.register_provider(arguments.provider);
    std::printf("ONNX Runtime %s\n", runtime.version().c_str());
    if (mode == "devices" && words.size() == 1) return list_devices(runtime);
    if (words.size() < 2) throw Failure(kUsage);
    if (mode == "nodes")
        return run_node_models(&runtime, {words.begin() + 1, words.end()}, arguments.nodes);
    for (size_t i = 2; i < words.size(); ++i) {
        const auto [name, value] = split(words[i]);
        for (const std::string& size : split_list(value))
            arguments.network.free_dims[name].push_back(std::stoll(size));
    }
    if (mode == "model") return run_network(&runtime, words[1], arguments.network);
    if (mode == "threads")
        return run_threads(&runtime, words[1], arguments.network, arguments.threads,
                           arguments.rounds);
    throw Failure(kUsage);
}

}  // namespace
}  // namespace tengine::ort_host

int main(int argc, char** argv)
{
    int status = 2;
    try {
        status = tengine::ort_host::run(tengine::ort_host::parse({argv + 1, argv + argc}));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "ort_host: %s\n", failure.what());
    }
    exit_without_leaks(status);
}
