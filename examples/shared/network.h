// SPDX-License-Identifier: Apache-2.0
// A network with one input and outputs in fp32, which is prepared for the shape of each input.
#pragma once

#include "run_options.h"
#include "tengine/c_api.h"

struct network
{
    const char* path;
    context_t context;
    graph_t graph;
    struct options plan;
    int dims[MAX_SHAPE_DIM_NUM];  // that it is prepared for; dim_num 0: not prepared
    int dim_num;
    float* input;
};

// Opens "<folder>/<file>", or `file` alone if `folder` is NULL, an .onnx, .tmfile or .tflite file.
// Returns 0, or -1 after a message; network_close is legal in both cases, and for a network that is
// all zero.
int network_open(const char* folder, const char* file, const struct run_options* options,
                 struct network* out_network);
void network_close(struct network* network);

// Prepares the network for an input of these dimensions, if it is not prepared for them already.
// Returns the buffer for the values, which has those of the last input, or NULL after a message.
// Shapes that come again are prepared once, as the option "run.shape_cache" says.
float* network_input(struct network* network, const int dims[], int dim_num);

// Runs the network on the input. Returns 0, or -1 after a message.
int network_run(struct network* network);

// The values of output `index` of the last run, and its `dim_num` dimensions; valid until the next
// run. Returns NULL after a message; another number of dimensions is a failure.
const float* network_output(const struct network* network, int index, int out_dims[], int dim_num);
