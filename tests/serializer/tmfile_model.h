// SPDX-License-Identifier: Apache-2.0
// Tmfiles for the tests of this folder: a writer of records that shares no code with the library's,
// with garbage in all the fields in which real files have garbage, and the outcome of loading one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "tengine/ir.h"

namespace tengine::test {

using Words = std::vector<uint32_t>;

uint32_t word(float value);

struct RawTensor
{
    std::string name;  // "": the file has none
    std::vector<int32_t> dims;
    int32_t type = TENSOR_TYPE_VAR;
    int32_t data_type = TENGINE_DT_FP32;
    uint32_t buffer = 77;  // garbage unless constant
    std::vector<std::pair<float, int32_t>> quantisation = {};
    bool has_dims = true;
};

struct RawNode
{
    std::string name;
    uint32_t op = 0;
    Words inputs;
    Words outputs;
    Words param;                      // empty: no record
    std::map<size_t, Words> vectors;  // words of `param` that are offsets of these
    std::map<size_t, std::string> strings;
    uint32_t version = 1;
};

struct RawPart
{
    Words nodes;
    Words input_tensors;
    Words output_tensors;
    std::string device;
};

struct RawModel
{
    std::vector<RawNode> nodes;
    std::vector<RawTensor> tensors;
    std::vector<std::vector<uint8_t>> buffers;
    std::map<size_t, uint32_t> missing;  // buffers without data: index and size
    Words inputs;
    Words outputs;
    int32_t graph_layout = 0;
    int32_t model_layout = 0;
    bool is_old = false;      // a subgraph record of 36 bytes
    size_t buffer_shift = 0;  // bytes data is away from a multiple of 64
    std::vector<RawPart> parts;

    // x is tensor 0, y the last tensor; inputs and constants become nodes in front of `node`.
    uint32_t add_input(const std::string& name, const std::vector<int32_t>& dims);
    uint32_t add_constant(const std::string& name, const std::vector<int32_t>& dims,
                          const std::vector<float>& values);
    // The node has one output, of its name.
    RawNode& add_node(const std::string& name, uint32_t op, const Words& inputs,
                      const Words& param = {});

    std::string encode() const;
};

// x[1,2,4,4] → the operator → y.
RawModel single_model(uint32_t op, const Words& param);

// The outcome of loading a tmfile; destroys the graph.
class LoadedTmfile
{
  public:
    // Loads a copy of exactly the size, so that AddressSanitizer detects every byte beyond it.
    explicit LoadedTmfile(const std::string& bytes);
    explicit LoadedTmfile(const RawModel& model) : LoadedTmfile(model.encode()) {}
    // NULL: no context, so that options have their defaults.
    explicit LoadedTmfile(const std::filesystem::path& file, struct context* context = nullptr);
    ~LoadedTmfile();
    LoadedTmfile(const LoadedTmfile&) = delete;
    LoadedTmfile& operator=(const LoadedTmfile&) = delete;

    struct graph* graph = nullptr;
    int status = 0;
    std::string message;

    const struct node* node(const std::string& name) const;
    struct tensor* tensor(const std::string& name) const;

  private:
    void load(const std::string* bytes, const char* file, struct context* context);

    char* block_ = nullptr;
};

void expect_failure(const LoadedTmfile& loaded, int code, std::initializer_list<const char*> parts);

// Describes everything in a source graph, a line for each item: graphs with equal strings are
// equal.
std::string describe_graph(const struct graph* graph);

// Returns the bytes that the library writes for the graph; "" after a failure.
std::string write_graph(const struct graph* graph);

// Returns a file of ../shared/data/tmfile; an empty path if it is absent.
std::filesystem::path find_sample(const std::string& name);
// Returns their names.
const std::vector<std::string>& sample_names();
std::string read_bytes(const std::filesystem::path& file);

// Initialises the registries for the tests of a suite.
class TmfileTest : public testing::Test
{
  protected:
    static void SetUpTestSuite();
    static void TearDownTestSuite();
};

}  // namespace tengine::test
