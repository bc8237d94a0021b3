// SPDX-License-Identifier: Apache-2.0
// A graph from a model file through the public C API, with access to all its tensors and nodes, for
// the tests of tmfiles.
#pragma once

#include <string>
#include <vector>

#include "tengine/c_api.h"
#include "tensor_file/tensor.h"

namespace tengine::models {

using Shape = std::vector<int>;

// The way in which create_graph() gets the bytes.
enum class Source
{
    kFile,    // the path
    kMemory,  // a malloc()ed block that the graph then owns: "tengine:m"
    kView     // bytes that stay here: "tengine:view"
};

// Returns a word for the names of tests.
std::string source_name(Source source);

// Throws tools::Failure with the library's message when the library fails.
class SampleGraph
{
  public:
    // The file's suffix gives the format.
    explicit SampleGraph(const std::string& path, Source source = Source::kFile);
    // A tmfile's bytes.
    static SampleGraph of_bytes(std::string bytes);
    ~SampleGraph();
    SampleGraph(SampleGraph&& other) noexcept;
    SampleGraph(const SampleGraph&) = delete;
    SampleGraph& operator=(const SampleGraph&) = delete;

    graph_t graph() const { return graph_; }
    tensor_t input() const;
    std::vector<tensor_t> tensors() const;
    std::vector<node_t> nodes() const;

    // Fills every fp32 constant at its get_tensor_buffer(). With `gain` 1 values keep their
    // magnitude from a layer and its ReLU to the next. Returns the number of constants.
    int fill_weights(uint32_t seed, float gain) const;
    void set_input_shape(const Shape& shape) const;
    void prepare() const;
    // Runs the prepared graph, which has one input; returns all outputs.
    std::vector<tools::Tensor> run(const tools::Tensor& input) const;
    std::vector<tools::Tensor> prepare_and_run(const tools::Tensor& input) const;
    void save(const std::string& path) const;

  private:
    SampleGraph() = default;

    std::string bytes_;
    graph_t graph_ = nullptr;
};

// The shipped network as a tmfile that the library writes, for the lifetime of the object.
class DigitsFile
{
  public:
    DigitsFile();
    ~DigitsFile();
    DigitsFile(const DigitsFile&) = delete;
    DigitsFile& operator=(const DigitsFile&) = delete;

    const std::string path;
};

Shape shape_of(tensor_t tensor);

// Numbers from 0 to 1 that are equal on all machines: 24 bits of a linear congruential generator,
// so that each is exact as a float.
class Numbers
{
  public:
    explicit Numbers(uint32_t seed) : state_(seed) {}
    float next();

  private:
    uint32_t state_;
};

tools::Tensor make_noise(const Shape& shape, uint32_t seed);

}  // namespace tengine::models
