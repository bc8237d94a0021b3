// SPDX-License-Identifier: Apache-2.0
// Represents a vendor's library: networks of three operators on planes of floats, which a "chip"
// runs. Functions return 0 or an id, negative if the chip cannot do it.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct toynpu_net toynpu_net;

typedef struct toynpu_conv
{
    int kernel[2];
    int stride[2];
    int pad[4];  // top, left, bottom, right
    int relu;    // nonzero: negative results become 0
} toynpu_conv;

toynpu_net* toynpu_create(void);
void toynpu_destroy(toynpu_net* net);

// Adds a tensor of `shape` {batch, channels, height, width}; `values` NULL: it is computed or
// written.
int toynpu_add_tensor(toynpu_net* net, const int shape[4], const float* values);
// bias -1: none. Groups and dilations are not supported.
int toynpu_add_conv(toynpu_net* net, int input, int weight, int bias, int output,
                    const toynpu_conv* conv);
int toynpu_add_relu(toynpu_net* net, int input, int output);
int toynpu_add_sum(toynpu_net* net, int first, int second, int output);

int toynpu_write(toynpu_net* net, int tensor, const float* values);
int toynpu_run(toynpu_net* net);
int toynpu_read(const toynpu_net* net, int tensor, float* values);

#ifdef __cplusplus
}
#endif
