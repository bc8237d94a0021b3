// SPDX-License-Identifier: Apache-2.0
// The contract is in sample_graph.h.
#include "models/sample_graph.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <utility>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::models {
namespace {

using tools::Failure;
using tools::Tensor;

void check(bool is_good)
{
    if (!is_good) throw Failure(get_tengine_error());
}

// The library is initialised as long as a graph exists.
int graph_num = 0;

void enter_library()
{
    if (graph_num++ == 0) check(init_tengine() == 0);
}

void leave_library()
{
    if (--graph_num == 0) release_tengine();
}

bool ends_with(const std::string& text, const std::string& end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// After a failure the caller still owns the block.
graph_t load_taken(const std::string& bytes)
{
    char* block = static_cast<char*>(std::malloc(bytes.size()));
    if (!block) throw Failure("out of memory");
    std::copy(bytes.begin(), bytes.end(), block);
    const graph_t graph = create_graph(nullptr, "tengine:m", block, static_cast<int>(bytes.size()));
    if (!graph) std::free(block);
    return graph;
}

Tensor copy_out(tensor_t tensor)
{
    const Shape shape = shape_of(tensor);
    Tensor copy = tools::make_tensor(get_tensor_data_type(tensor), {shape.begin(), shape.end()});
    copy.name = get_tensor_name(tensor);
    if (copy.bytes.empty()) return copy;
    check(get_tensor_data(tensor, copy.bytes.data(), static_cast<int>(copy.bytes.size())) == 0);
    return copy;
}

}  // namespace

std::string source_name(Source source)
{
    const char* names[] = {"File", "Memory", "View"};
    return names[static_cast<int>(source)];
}

Shape shape_of(tensor_t tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    check(dim_num >= 0);
    return {dims, dims + dim_num};
}

float Numbers::next()
{
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) / 16777216.0f;
}

Tensor make_noise(const Shape& shape, uint32_t seed)
{
    Tensor noise = tools::make_tensor(TENGINE_DT_FP32, {shape.begin(), shape.end()});
    Numbers numbers(seed);
    for (size_t i = 0; i < noise.element_number(); ++i)
        tools::set_element(&noise, i, static_cast<double>(numbers.next()));
    return noise;
}

SampleGraph::SampleGraph(const std::string& path, Source source)
{
    enter_library();
    const char* format = ends_with(path, ".onnx") ? "onnx" : "tengine";
    if (source != Source::kFile) bytes_ = tools::read_file(path);
    switch (source) {
        case Source::kFile:
            graph_ = create_graph(nullptr, format, path.c_str());
            break;
        case Source::kMemory:
            graph_ = load_taken(bytes_);
            break;
        case Source::kView:
            graph_ = create_graph(nullptr, "tengine:view", bytes_.data(),
                                  static_cast<int>(bytes_.size()));
            break;
    }
    check(graph_ != nullptr);
}

SampleGraph SampleGraph::of_bytes(std::string bytes)
{
    enter_library();
    SampleGraph made;
    made.graph_ = load_taken(bytes);
    check(made.graph_ != nullptr);
    return made;
}

SampleGraph::SampleGraph(SampleGraph&& other) noexcept
    : bytes_(std::move(other.bytes_)), graph_(std::exchange(other.graph_, nullptr))
{
}

SampleGraph::~SampleGraph()
{
    if (!graph_) return;
    destroy_graph(graph_);
    leave_library();
}

tensor_t SampleGraph::input() const
{
    return tengine_graph_get_input(graph_, 0);
}

std::vector<tensor_t> SampleGraph::tensors() const
{
    std::vector<tensor_t> all;
    for (int i = 0; i < tengine_graph_get_tensor_number(graph_); ++i)
        all.push_back(tengine_graph_get_tensor(graph_, i));
    return all;
}

std::vector<node_t> SampleGraph::nodes() const
{
    std::vector<node_t> all;
    for (int i = 0; i < get_graph_node_num(graph_); ++i)
        all.push_back(get_graph_node_by_idx(graph_, i));
    return all;
}

int SampleGraph::fill_weights(uint32_t seed, float gain) const
{
    Numbers numbers(seed);
    int filled = 0;
    for (tensor_t tensor : tensors()) {
        if (tengine_tensor_get_type(tensor) != TENSOR_TYPE_CONST ||
            get_tensor_data_type(tensor) != TENGINE_DT_FP32)
            continue;
        const Shape shape = shape_of(tensor);
        const int number = get_tensor_buffer_size(tensor) / static_cast<int>(sizeof(float));
        const int length = number / shape.at(0);  // of the sums that a weight is part of
        const float range =
            shape.size() > 1 ? gain * std::sqrt(6.0f / static_cast<float>(length)) : 0.1f;
        auto* values = static_cast<float*>(get_tensor_buffer(tensor));
        check(values != nullptr);
        for (int i = 0; i < number; ++i)
            values[i] = range * (2 * numbers.next() - 1);
        ++filled;
    }
    return filled;
}

void SampleGraph::set_input_shape(const Shape& shape) const
{
    check(set_tensor_shape(input(), shape.data(), static_cast<int>(shape.size())) == 0);
}

void SampleGraph::prepare() const
{
    check(prerun_graph(graph_) == 0);
}

std::vector<Tensor> SampleGraph::run(const Tensor& input_value) const
{
    const int size = static_cast<int>(input_value.bytes.size());
    check(set_tensor_data(input(), input_value.bytes.data(), size) == 0);
    check(run_graph(graph_, 1) == 0);
    std::vector<Tensor> outputs;
    for (int i = 0; i < tengine_graph_get_output_number(graph_); ++i)
        outputs.push_back(copy_out(tengine_graph_get_output(graph_, i)));
    return outputs;
}

std::vector<Tensor> SampleGraph::prepare_and_run(const Tensor& input_value) const
{
    prepare();
    return run(input_value);
}

void SampleGraph::save(const std::string& path) const
{
    const char* format = ends_with(path, ".onnx") ? "onnx" : "tengine";
    check(save_graph(graph_, format, path.c_str()) == 0);
}

DigitsFile::DigitsFile()
    : path(testing::TempDir() + "digits_" + std::to_string(getpid()) + ".tmfile")
{
    const SampleGraph onnx(TENGINE_EXAMPLES_DATA_DIR "/digits.onnx");
    onnx.set_input_shape({1, 1, 8, 8});
    onnx.save(path);
}

DigitsFile::~DigitsFile()
{
    std::filesystem::remove(path);
}

}  // namespace tengine::models
