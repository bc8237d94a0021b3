// SPDX-License-Identifier: Apache-2.0
// Changes the structure of an ONNX model: bodies of nodes, functions, imports, sparse constants,
// types of inputs. Part of mutate_model().
#pragma once

#include <onnx/onnx.pb.h>
#include <random>
#include <vector>

namespace tengine::test {

// Returns all graphs of the model: its own, and bodies of the nodes of graphs and functions.
std::vector<::onnx::GraphProto*> list_graphs(::onnx::ModelProto* model);

// Makes one change in one of these graphs, or in the parts of the model beside them.
void mutate_structure(std::mt19937* engine, ::onnx::ModelProto* model, ::onnx::GraphProto* graph);

}  // namespace tengine::test
