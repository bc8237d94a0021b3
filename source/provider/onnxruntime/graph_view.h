// SPDX-License-Identifier: Apache-2.0
// A graph of ONNX Runtime as plain data, valid during the call that the graph was passed to.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime.h"

namespace tengine::provider {

constexpr int kNoType = -1;
constexpr int kAbsent = -1;

struct Value
{
    std::string name;
    int data_type = kNoType;  // TENGINE_DT_*; kNoType: the library has none
    std::string type;         // its name in ONNX, if the library has none: "string"
    bool has_rank = false;
    std::vector<int64_t> dims;  // -1: not known
    bool is_constant = false;
    bool is_output = false;  // the graph's
    const OrtValueInfo* info = nullptr;
};

struct ViewedNode
{
    const OrtNode* node = nullptr;
    std::string name;  // may be "", or that of another node
    std::string op;
    std::string domain;         // "" is ONNX's
    int version = 0;            // opset of the operator's last change in the graph's opset
    std::vector<int> inputs;    // indices of values; kAbsent: left out
    std::vector<int> outputs;   // the same
    std::vector<int> captured;  // values that subgraphs of the node read
    bool has_subgraphs = false;
};

struct GraphView
{
    std::vector<Value> values;
    std::vector<ViewedNode> nodes;  // in topological order
    bool is_nested = false;         // the body of a node
    std::string path;               // the model's file; "" for one from memory

    int find(const std::string& name) const;  // the value, or kAbsent
    int add_value(const OrtValueInfo* info);

  private:
    std::unordered_map<std::string, int> index_;
};

GraphView read_graph(const OrtGraph* graph);

// TENGINE_DT_* of an element type; kNoType if the library has none.
int convert_type(ONNXTensorElementDataType type);

// The names of the tensors that a fused node reads, or writes.
std::vector<std::string> input_names(const OrtNode* node);
std::vector<std::string> output_names(const OrtNode* node);

}  // namespace tengine::provider
