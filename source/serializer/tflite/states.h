// SPDX-License-Identifier: Apache-2.0
// The values that a model keeps from run to run: tensors that are variables, such as those of
// LSTMs, and resources, which operators read and assign. Each becomes a state of the graph
// (graph/state.h): an input that stands for the value before a run, and the tensor that has the
// last value in it. Hash tables, resources too, have constant keys and values, which become inputs
// of the operators that look them up.
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

// Makes a variable of a tensor that has no readers yet. `values`: of `size` bytes, its first value;
// null: real zeros.
TENGINE_MUST_USE int add_variable(Reading& reading, struct tensor* tensor, const uint8_t* values,
                                  uint64_t size);

// Whether tensors of this type in files stand for a resource; they are no tensors of the graph.
bool is_resource(const file::Tensor& record);

// Whether the operator makes, reads or assigns resources or hash tables; and reads it.
bool handles_resources(int code);
TENGINE_MUST_USE int add_resource_operator(Reading& reading, uint32_t index, int code,
                                           const file::Operator& record);

// Whether nodes of a recurrent layer write the next values of variables among their inputs, to the
// outputs behind those of the file.
bool writes_next_values(const struct node& node);

// After inputs and outputs of a node are set: adds the outputs for next values.
TENGINE_MUST_USE int add_next_values(Reading& reading, struct node* node,
                                     const file::Operator& record);

// The same for operators whose states files do not have (operator/tflite/front_end.h): adds inputs
// and outputs for them.
TENGINE_MUST_USE int add_hidden_states(Reading& reading, struct node* node,
                                       const file::Operator& record);

// At the end: declares the states, and adds their tensors to the lists of inputs and outputs.
TENGINE_MUST_USE int declare_states(Reading& reading, Vector<int32_t>* inout_inputs,
                                    Vector<int32_t>* inout_outputs);

}  // namespace tengine::tflite
