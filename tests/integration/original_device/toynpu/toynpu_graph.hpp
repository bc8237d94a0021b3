// SPDX-License-Identifier: Apache-2.0
// The entries of the device that concern parts of a graph.
#pragma once

extern "C" {
#include "device/device.h"

int toynpu_dev_init(struct device* dev);
int toynpu_dev_prerun(struct device* dev, struct subgraph* subgraph, void* options);
int toynpu_dev_run(struct device* dev, struct subgraph* subgraph);
int toynpu_dev_postrun(struct device* dev, struct subgraph* subgraph);
int toynpu_dev_release(struct device* dev);
}
