// SPDX-License-Identifier: Apache-2.0
// Builds small ONNX models in memory and loads them, for the tests of this folder.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tengine/ir.h"

namespace tengine::test {

using Dims = std::vector<int64_t>;
using Names = std::initializer_list<const char*>;

// A model of IR version 7 and opset 13 to start from; the proto is accessible for any change.
class OnnxBuilder
{
  public:
    OnnxBuilder();

    onnx::ModelProto model;
    onnx::GraphProto& graph() { return *model.mutable_graph(); }

    // Negative dims become symbolic.
    onnx::ValueInfoProto* add_input(const std::string& name, const Dims& dims,
                                    int type = onnx::TensorProto::FLOAT);
    void add_output(const std::string& name);
    onnx::NodeProto* add_node(const std::string& type, Names inputs, Names outputs,
                              const std::string& name = "");
    // float32 values 0, 1, 2 ... as raw data.
    onnx::TensorProto* add_initializer(const std::string& name, const Dims& dims);

    std::string encode() const { return model.SerializeAsString(); }
};

onnx::AttributeProto* add_int(onnx::NodeProto* node, const std::string& name, int64_t value);
onnx::AttributeProto* add_ints(onnx::NodeProto* node, const std::string& name, const Dims& values);

// x → Relu 'relu' → y, on a tensor of 2x3.
OnnxBuilder small_model();
// x → Conv 'conv' with weights and bias → Relu 'relu' → y.
OnnxBuilder conv_model();

// The outcome of loading a model; destroys the graph.
class Loaded
{
  public:
    explicit Loaded(const std::string& bytes);
    explicit Loaded(const OnnxBuilder& builder) : Loaded(builder.encode()) {}
    explicit Loaded(const std::filesystem::path& file, struct context* context = nullptr);
    ~Loaded();
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    struct graph* graph = nullptr;
    int status = 0;
    std::string message;

    const struct tensor* tensor(const char* name) const;
    const struct node* node(const char* name) const;
    std::vector<std::string> node_names() const;
};

// Expects loading to fail with `code` and a message that contains all of `parts`.
void expect_failure(const Loaded& loaded, int code, Names parts);

// A temporary folder that is removed with the object.
class ScratchFolder
{
  public:
    ScratchFolder();
    ~ScratchFolder();

    std::filesystem::path write(const std::string& name, const std::string& bytes) const;

    std::filesystem::path path;
};

// Initialises the registries for the tests of a suite.
class SerializerTest : public testing::Test
{
  protected:
    static void SetUpTestSuite();
    static void TearDownTestSuite();
};

}  // namespace tengine::test
