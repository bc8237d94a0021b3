// SPDX-License-Identifier: Apache-2.0
// A program's own kernel (struct custom_kernel_ops of c_api.h) on a node: its life from one
// preparation to the next, and its calls. The source node owns it; execution nodes "tengine.Custom"
// refer to it.
//
// A kernel that a plan lets go of stays prepared until the next plan takes it, which may then
// reshape it, or until finish_custom_kernel(). Failures are the function's own, after the names of
// node, function and kernel (tengine/custom_kernel.h says more).
#pragma once

#include <stdbool.h>

#include "operator/operator.h"
#include "tengine/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kernel_slot;

// A node's tensors in the form kernels get; lists of the inputs and outputs, NULL where one is
// absent.
typedef struct kernel_tensors
{
    struct kernel_slot* slots;
    struct custom_kernel_tensor** inputs;
    struct custom_kernel_tensor** outputs;
    int input_num;
    int output_num;
} ir_kernel_tensors_t;

typedef struct custom_kernel
{
    struct custom_kernel_ops* ops;  // the program's
    const struct node* node;        // of the source graph
    bool refused;                   // its bind has refused the node in the prerun under way
    bool prepared;                  // prerun has succeeded and postrun was not called since
    bool attached;                  // to a plan
    ir_kernel_tensors_t tensors;    // those it was prepared for
} ir_custom_kernel_t;

// Puts the kernel on a source node. TENGINE_EINVAL: no run function, another operator's kernel, a
// node that computes nothing; TENGINE_EEXIST: there is one.
int add_custom_kernel(struct node* node, struct custom_kernel_ops* ops);
// Takes it off again: postrun if it is prepared, then release. Fails as postrun does.
int remove_node_kernel(struct node* node);

const char* get_kernel_name(const ir_custom_kernel_t* kernel);
// The operator a source node stands for: of "Generic" nodes the name they carry.
const char* get_source_op(const struct node* node);

// ---- on execution nodes ----

// The outputs' shapes by the kernel's infer_shape, which must be there.
int infer_custom_shapes(struct node* node);

// Asks bind. A kernel that refuses gets `refused`; that is a failure when it is forced, or when
// the operator has no other kernel.
int bind_custom_kernel(const struct node* node);

// Prepares the kernel for the node's tensors, by prerun or reshape.
int attach_custom_kernel(const struct node* node);
// The plan is gone.
void detach_custom_kernel(ir_custom_kernel_t* kernel);
// Runs it on the tensors' present data.
int run_custom_kernel(const struct node* node);
// The input whose memory the output may take over, or -1.
int find_custom_in_place(const struct node* node, int output);

// postrun of a kernel that is prepared and that no plan uses.
int finish_custom_kernel(ir_custom_kernel_t* kernel);

#ifdef __cplusplus
}
#endif
