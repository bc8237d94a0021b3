// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in signal_ops.c, and the sizes that follow from their inputs.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct dft_param
{
    int axis;  // up to opset 19; later an input
    int inverse;
    int onesided;
};

struct stft_param
{
    int onesided;
};

// HannWindow, HammingWindow, BlackmanWindow.
struct window_function_param
{
    int output_datatype;  // ONNX's number
    int periodic;
};

struct mel_weight_matrix_param
{
    int output_datatype;  // ONNX's number
};

struct dft_size
{
    int axis;        // in [0, rank - 1): the last dimension holds real and imaginary part
    int64_t length;  // points of the transform, at least 1
    int64_t bins;    // elements of the output: frequencies, or the samples of an inverse
    int components;  // numbers of an output element: 2, real and imaginary part; 1 for real samples
};

struct stft_size
{
    int64_t step;    // samples between the beginnings of frames, at least 1
    int64_t length;  // samples of a frame, at least 1
    int64_t bins;
    int64_t frames;
    int components;  // numbers of a sample: 1 real, 2 complex
};

// Checks and returns the sizes of a DFT or STFT node with known input shapes. 0, OP_SHAPE_LATER or
// an error.
int read_dft_size(const struct node* node, struct dft_size* out_size);
int read_stft_size(const struct node* node, struct stft_size* out_size);

TENGINE_EXTERN_C_END
