// SPDX-License-Identifier: Apache-2.0
// The chip of toynpu_sdk.h, in plain loops.
#include "toynpu_sdk.h"

#include <stdlib.h>
#include <string.h>

enum
{
    kCapacity = 64
};

enum kind
{
    kConv,
    kRelu,
    kSum
};

struct tensor
{
    int shape[4];
    float* values;
};

struct layer
{
    enum kind kind;
    int input[3];
    int output;
    toynpu_conv conv;
};

struct toynpu_net
{
    int tensor_num, layer_num;
    struct tensor tensors[kCapacity];
    struct layer layers[kCapacity];
};

static int size_of(const struct tensor* tensor)
{
    const int* shape = tensor->shape;
    return shape[0] * shape[1] * shape[2] * shape[3];
}

toynpu_net* toynpu_create(void)
{
    return calloc(1, sizeof(toynpu_net));
}

void toynpu_destroy(toynpu_net* net)
{
    for (int i = 0; net && i < net->tensor_num; ++i)
        free(net->tensors[i].values);
    free(net);
}

int toynpu_add_tensor(toynpu_net* net, const int shape[4], const float* values)
{
    if (net->tensor_num == kCapacity) return -1;
    struct tensor* tensor = &net->tensors[net->tensor_num];
    memcpy(tensor->shape, shape, sizeof tensor->shape);
    tensor->values = calloc((size_t)size_of(tensor), sizeof(float));
    if (!tensor->values) return -1;
    if (values) toynpu_write(net, net->tensor_num, values);
    return net->tensor_num++;
}

static int add_layer(toynpu_net* net, struct layer layer)
{
    if (net->layer_num == kCapacity) return -1;
    net->layers[net->layer_num] = layer;
    return net->layer_num++;
}

int toynpu_add_conv(toynpu_net* net, int input, int weight, int bias, int output,
                    const toynpu_conv* conv)
{
    return add_layer(net, (struct layer){kConv, {input, weight, bias}, output, *conv});
}

int toynpu_add_relu(toynpu_net* net, int input, int output)
{
    return add_layer(net, (struct layer){.kind = kRelu, .input = {input}, .output = output});
}

int toynpu_add_sum(toynpu_net* net, int first, int second, int output)
{
    return add_layer(net, (struct layer){.kind = kSum, .input = {first, second}, .output = output});
}

int toynpu_write(toynpu_net* net, int tensor, const float* values)
{
    memcpy(net->tensors[tensor].values, values, size_of(&net->tensors[tensor]) * sizeof(float));
    return 0;
}

int toynpu_read(const toynpu_net* net, int tensor, float* values)
{
    memcpy(values, net->tensors[tensor].values, size_of(&net->tensors[tensor]) * sizeof(float));
    return 0;
}

static float at(const struct tensor* tensor, int n, int c, int y, int x)
{
    const int* shape = tensor->shape;
    if (y < 0 || x < 0 || y >= shape[2] || x >= shape[3]) return 0.0f;
    return tensor->values[((n * shape[1] + c) * shape[2] + y) * shape[3] + x];
}

// Returns one result of a convolution: batch n, channel k, at (y, x).
static float convolve(const struct tensor* input, const struct tensor* weight,
                      const toynpu_conv* conv, int n, int k, int y, int x)
{
    float sum = 0.0f;
    for (int c = 0; c < weight->shape[1]; ++c) {
        for (int i = 0; i < conv->kernel[0]; ++i) {
            for (int j = 0; j < conv->kernel[1]; ++j) {
                sum +=
                    at(weight, k, c, i, j) * at(input, n, c, y * conv->stride[0] - conv->pad[0] + i,
                                                x * conv->stride[1] - conv->pad[1] + j);
            }
        }
    }
    return sum;
}

static void run_conv(const toynpu_net* net, const struct layer* layer)
{
    const struct tensor* output = &net->tensors[layer->output];
    const int* shape = output->shape;
    for (int i = 0; i < size_of(output); ++i) {
        const int x = i % shape[3], y = i / shape[3] % shape[2];
        const int k = i / shape[3] / shape[2] % shape[1];
        float sum = convolve(&net->tensors[layer->input[0]], &net->tensors[layer->input[1]],
                             &layer->conv, i / shape[3] / shape[2] / shape[1], k, y, x);
        if (layer->input[2] >= 0) sum += net->tensors[layer->input[2]].values[k];
        output->values[i] = layer->conv.relu && sum < 0.0f ? 0.0f : sum;
    }
}

static void run_elements(const toynpu_net* net, const struct layer* layer)
{
    const struct tensor* output = &net->tensors[layer->output];
    const float* first = net->tensors[layer->input[0]].values;
    const float* second = net->tensors[layer->input[1]].values;
    for (int i = 0; i < size_of(output); ++i) {
        const float relu = first[i] > 0.0f ? first[i] : 0.0f;
        output->values[i] = layer->kind == kRelu ? relu : first[i] + second[i];
    }
}

int toynpu_run(toynpu_net* net)
{
    for (int i = 0; i < net->layer_num; ++i) {
        const struct layer* layer = &net->layers[i];
        if (layer->kind == kConv)
            run_conv(net, layer);
        else
            run_elements(net, layer);
    }
    return 0;
}
