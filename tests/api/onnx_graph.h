// SPDX-License-Identifier: Apache-2.0
// Graphs of ONNX, with bodies, written with onnx_bytes.h as far as tests need them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx_bytes.h"
#include "tengine/c_api.h"

namespace tengine::onnx {

using Names = std::vector<std::string>;

constexpr int kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9, kInt4 = 22;  // of ONNX

// ValueInfoProto. A dimension below 0 is free. Without dimensions a scalar.
std::string value(const std::string& name, int type = kFloat, const std::vector<int>& dims = {});

// TensorProto.
std::string tensor(const std::string& name, int type, const std::vector<int>& dims,
                   const std::string& bytes);
template <class T>
std::string constant(const std::string& name, int type, const std::vector<int>& dims,
                     const std::vector<T>& values)
{
    return tensor(name, type, dims,
                  {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

// AttributeProto.
std::string number_attribute(const std::string& name, int64_t number);
std::string graph_attribute(const std::string& name, const std::string& graph);

// NodeProto, of an operator by its full name ("com.microsoft.QGemm"), and GraphProto.
std::string node(const std::string& op, const Names& inputs, const Names& outputs,
                 const Names& attributes = {});
std::string graph(const Names& nodes, const Names& inputs, const Names& outputs,
                  const Names& constants = {});

graph_t load(const std::string& contents, context_t context = nullptr, int opset = 16);

}  // namespace tengine::onnx
