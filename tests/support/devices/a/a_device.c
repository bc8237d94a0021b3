// SPDX-License-Identifier: Apache-2.0
// Device A takes convolutional networks up to their classifier. Its estimate is a quarter of the
// default device's time, so that small parts do not pay, and it has asynchronous entries. Its
// options are the members of script_t: `--option A.fail_run=3`.
#include "scripted_device.h"

static scripted_device_t device_a = {
    .script.operators =
        "Conv,BatchNormalization,Relu,Clip,HardSigmoid,HardSwish,Sigmoid,Mul,Add,"
        "MaxPool,AveragePool,GlobalAveragePool",
    .script.estimate_percent = 25,
    .lists_all = 1,
};

int register_a_device(void)
{
    init_scripted_device(&device_a, "A");
    enable_scripted_estimate(&device_a);
    enable_scripted_async(&device_a);
    return register_device(&device_a.device);
}

int unregister_a_device(void)
{
    return unregister_device(&device_a.device);
}
