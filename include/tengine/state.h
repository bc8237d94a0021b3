// SPDX-License-Identifier: Apache-2.0
// States: values that a graph keeps from run to run, such as those of a recurrent layer or the
// window of a stream. Results, errors, ownership and threads are as c_api.h says. docs/state.md has
// programs.
//
// The program feeds its inputs and reads its outputs alone; each run reads the states as the last
// run that has succeeded left them. A run that fails or is cancelled leaves them as they were.
// States keep their values over prerun_graph and postrun_graph, unless their size changes. Each
// instance of tengine_graph_share has its own, which begin with the first value. One run at a time
// may be in flight.
//
// The variables of .tflite files are states. Other models have the properties
// "tengine.state.<input>", whose value is the name of the output that is the next value, and
// "tengine.initial.<input>": the bytes of the first value, or of one element of it, in hexadecimal
// digits; zeros without it. save_graph writes both. The entries of a model (entry.h) share states
// of the same name, or of the same "tengine.shared.<input>" where it is given; "": with no entry.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// The number of states; TENGINE_EHANDLE.
TENGINE_API int tengine_graph_get_state_number(graph_t graph);

// A state, whose tensor has the name, the shape and the type of the input. Between runs
// get_tensor_data reads its value and set_tensor_data changes it; both need a shape that is known,
// and the first one a graph that was prepared once. The address that get_tensor_buffer returns is
// valid until the next run begins; set_tensor_buffer fails with TENGINE_EINVAL. Release it with
// release_graph_tensor. Fails with TENGINE_EHANDLE and TENGINE_ERANGE.
TENGINE_API tensor_t tengine_graph_get_state(graph_t graph, int index);

// Gives all states their first value. Fails with TENGINE_EHANDLE, TENGINE_ESTATE (runs are in
// flight), and with TENGINE_EINVAL or TENGINE_ERANGE for a property that has a wrong first value.
TENGINE_API int tengine_graph_reset_states(graph_t graph);

// Makes a state of an input of the graph and an output of the same shape and type, the value after
// a run. Both are no inputs and outputs from then on, and the property is added. The numbers of
// other inputs and outputs may change. prerun_graph fails with TENGINE_EGRAPH when the two differ.
// Fails with TENGINE_EHANDLE, TENGINE_EINVAL (NULL, an empty name), TENGINE_EGRAPH (no such input
// or output), TENGINE_ESTATE (runs are in flight) and TENGINE_ENOMEM.
TENGINE_API int tengine_graph_keep_state(graph_t graph, const char* input, const char* output);

TENGINE_EXTERN_C_END
