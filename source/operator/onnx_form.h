// SPDX-License-Identifier: Apache-2.0
// The opsets that a node of ONNX's own domain can be written for as it stands.
// optimizer/dialect/opset.cc converts it to another opset.
#pragma once

#include <stdbool.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// The opset of a graph that uses nothing newer: that of ONNX 1.16, which most programs read.
#define USUAL_OPSET 21
typedef struct onnx_form
{
    int first;         // the oldest opset in which the node means what it means in its own,
    int last;          // and the newest
    const char* what;  // the feature that `first` brought
} onnx_form_t;

// Returns the opsets of the node's form. Types count as far as they are known. An operator without
// description has its file's opset.
onnx_form_t find_onnx_form(const struct node* node);

// Whether the node is of ONNX's own domain.
bool has_onnx_opset(const struct node* node);

// Whether the operator counts an axis from the last dimension by an attribute that earlier opsets
// count from the first one alone.
bool has_negative_axis(const struct node* node);

// TENGINE_ENOTSUP when the node has no form in the opset; the message has the opsets of the node's
// form and the requested one.
TENGINE_MUST_USE int check_onnx_form(const struct node* node, int opset);
// check_onnx_form() for all nodes, also of bodies: fails for the first that has no form in the
// opset.
TENGINE_MUST_USE int check_onnx_forms(const struct graph* graph, int opset);

// Returns the opset in which all nodes can stand as they are, also those of bodies: `asked` if it
// is not 0; else the smallest from USUAL_OPSET on, else the newest before it. 0: there is none.
int choose_onnx_opset(const struct graph* graph, int asked);

// Returns the first IR version whose files may have the opset.
int get_ir_version_of_opset(int opset);

// Whether the field, in the node's opset, has a value other than its default.
bool has_own_param(const struct node* node, const op_field_t* field);

TENGINE_EXTERN_C_END
