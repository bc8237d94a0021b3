// SPDX-License-Identifier: Apache-2.0
// Device B takes the nodes of a convolutional network that A leaves. It has no estimate, so that it
// keeps all its nodes. Its options are the members of script_t: `--option B.refuse=axis:1`.
#include "scripted_device.h"

static scripted_device_t device_b = {
    .script.operators = "Concat,Gemm,MatMul,Softmax,LogSoftmax,Flatten,Reshape,ReduceMean",
    .lists_all = 1,
};

int register_b_device(void)
{
    init_scripted_device(&device_b, "B");
    return register_device(&device_b.device);
}

int unregister_b_device(void)
{
    return unregister_device(&device_b.device);
}
