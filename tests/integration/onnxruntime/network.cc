// SPDX-License-Identifier: Apache-2.0
// Makes inputs, runs, compares. The contract is in network.h.
#include "network.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "difference.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::ort_host {
namespace {

namespace fs = std::filesystem;
using tools::Failure;
using tools::Tensor;

// Throws Failure for a dimension name that no input has.
void check_names(const std::vector<Input>& inputs, const NetworkOptions& options)
{
    std::set<std::string> names;
    for (const Input& input : inputs)
        names.insert(input.symbols.begin(), input.symbols.end());
    for (const auto& [name, sizes] : options.free_dims) {
        if (names.count(name) == 0) throw Failure("no input has a free dimension '" + name + "'");
    }
}

int64_t free_dimension(const Input& input, size_t axis, const NetworkOptions& options, size_t run)
{
    const auto found = options.free_dims.find(input.symbols[axis]);
    return found == options.free_dims.end() ? 1 : found->second[run % found->second.size()];
}

std::vector<Tensor> make_inputs(const std::vector<Input>& inputs, const NetworkOptions& options,
                                size_t run)
{
    std::mt19937_64 engine(options.seed + run);
    std::vector<Tensor> values;
    for (const Input& input : inputs) {
        std::vector<int64_t> dims = input.dims;
        for (size_t axis = 0; axis < dims.size(); ++axis) {
            if (dims[axis] < 0) dims[axis] = free_dimension(input, axis, options, run);
        }
        values.push_back(tools::make_tensor(input.data_type, dims));
        values.back().name = input.name;
        tools::fill_random(&engine, &values.back());
    }
    return values;
}

// Returns the name that the program `tengine` gives a tensor's file.
std::string file_name(const std::string& name)
{
    std::string file = name;
    for (char& c : file) {
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-')
            c = '_';
    }
    return file + ".npy";
}

void write_tensors(const fs::path& folder, const std::vector<Tensor>& tensors)
{
    fs::create_directories(folder);
    for (const Tensor& tensor : tensors)
        tools::write_tensor((folder / file_name(tensor.name)).string(), tensor);
}

void print_placement(const std::string& model, const Placement& placement)
{
    std::printf("%s: %d of %d nodes on %s in %d parts", fs::path(model).filename().c_str(),
                placement.own_nodes, placement.nodes, kProvider, placement.own_parts);
    const char* separator = "; left to ONNX Runtime: ";
    for (const auto& [type, count] : placement.left) {
        std::printf("%s%s %d", separator, type.c_str(), count);
        separator = ", ";
    }
    std::printf("\n");
}

std::vector<Tensor> read_expected(const fs::path& folder, const std::vector<Tensor>& outputs)
{
    std::vector<Tensor> expected;
    for (const Tensor& output : outputs)
        expected.push_back(tools::read_tensor((folder / file_name(output.name)).string()));
    return expected;
}

bool compare_outputs(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                     const NetworkOptions& options)
{
    const char* source = options.expect.empty() ? "ONNX Runtime alone" : "the files";
    bool agrees = true;
    for (size_t i = 0; i < actual.size(); ++i) {
        const Difference difference = measure(actual[i], expected[i]);
        const double part =
            options.tolerance > 0 ? options.tolerance : default_tolerance(actual[i].data_type);
        const bool close = difference.largest <= part * difference.magnitude;
        std::printf("    '%s' %s %s: at most %.2g from %s, whose largest is %.2g\n",
                    actual[i].name.c_str(), tools::shape_text(actual[i].shape).c_str(),
                    close ? "agrees" : "differs", difference.largest, source, difference.magnitude);
        agrees = agrees && close;
    }
    return agrees;
}

bool are_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b)
{
    for (size_t i = 0; i < a.size(); ++i) {
        if (a[i].shape != b[i].shape || a[i].bytes != b[i].bytes) return false;
    }
    return true;
}

}  // namespace

int run_network(Runtime* runtime, const std::string& model, const NetworkOptions& options)
{
    const Session session(runtime, model, options.request);
    const Placement placement = session.placement();
    print_placement(model, placement);
    for (const std::string& message : runtime->take_messages())
        std::printf("    %s\n", message.c_str());
    check_names(session.inputs(), options);
    Request alone = options.request;
    alone.devices.clear();
    alone.config.clear();
    size_t run_num = 1;
    for (const auto& [name, sizes] : options.free_dims)
        run_num = std::max(run_num, sizes.size());
    bool agrees = true;
    for (size_t run = 0; run < run_num; ++run) {
        const std::vector<Tensor> inputs = make_inputs(session.inputs(), options, run);
        const std::vector<Tensor> outputs = session.run(inputs);
        const std::vector<Tensor> expected = options.expect.empty()
                                                 ? Session(runtime, model, alone).run(inputs)
                                                 : read_expected(options.expect, outputs);
        if (!options.write.empty()) {
            write_tensors(fs::path(options.write) / "inputs", inputs);
            write_tensors(fs::path(options.write) / "outputs", outputs);
        }
        agrees = compare_outputs(outputs, expected, options) && agrees;
    }
    return agrees && placement.own_nodes > 0 ? 0 : 1;
}

int run_threads(Runtime* runtime, const std::string& model, const NetworkOptions& options,
                int thread_num, int rounds)
{
    const Session session(runtime, model, options.request);
    print_placement(model, session.placement());
    check_names(session.inputs(), options);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    const std::vector<Input> inputs = session.inputs();
    std::vector<std::vector<Tensor>> fed, expected;
    for (int i = 0; i < thread_num; ++i) {
        fed.push_back(make_inputs(inputs, options, static_cast<size_t>(i)));
        expected.push_back(session.run(fed.back()));
    }
    for (size_t i = 0; i < fed.size(); ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < rounds; ++round) {
                try {
                    wrong += !are_same(session.run(fed[i]), expected[i]);
                } catch (const Failure& failure) {
                    std::fprintf(stderr, "thread %zu: %s\n", i, failure.what());
                    ++wrong;
                }
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%d threads, %d runs each, %d wrong\n", thread_num, rounds, wrong.load());
    return wrong == 0 && session.placement().own_nodes > 0 ? 0 : 1;
}

}  // namespace tengine::ort_host
