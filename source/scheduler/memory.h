// SPDX-License-Identifier: Apache-2.0
// The memory that a prepared graph holds: that of its parts by device, of its boundary tensors, and
// of the results of runs. The constants of the model are the API's to count (api/graph_memory.c).
#pragma once

#include "scheduler/part_memory.h"

TENGINE_EXTERN_C_BEGIN

// Appends an ir_device_memory_t for each device of the graph, in the order in which they are asked,
// and for others that run a part. If the graph is not prepared, all members except the device are
// zero.
int count_ir_device_memory(const struct graph* source, struct vector* out_devices);

// The memory of an execution graph, in bytes: of constants that passes made; of boundary tensors,
// for all runs that may be in flight; of results whose shapes were known after the run only.
int64_t count_ir_derived_constants(const struct graph* execution);
int64_t count_ir_boundary_memory(const struct graph* execution);
int64_t count_ir_run_values(const struct graph* execution);

TENGINE_EXTERN_C_END
