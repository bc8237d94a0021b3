// SPDX-License-Identifier: Apache-2.0
// How the tables of operators are written, and whether this build has an operator at all. A row of
// an operator that the user did not select (TENGINE_OPERATORS) is NULL, and functions that only it
// refers to are not linked.
#pragma once

#include "operator/operator.h"
#include "operator/shaped.h"
#include "registry/selection.h"

#ifdef TENGINE_SELECTED_OPERATORS
// selection.h defines OP_SELECTED_<domain>_<operator> as `~, 1`, which makes 1 the second.
#define OP_SECOND(first, second, ...) second
#define OP_PROBE(...) OP_SECOND(__VA_ARGS__, 0, 0)
#define OP_IS_SELECTED(id) OP_PROBE(OP_SELECTED_##id)
#else
#define OP_IS_SELECTED(id) 1
#endif

#define ROW_IF(selected, ...) ((selected) ? &(const ir_method_t){__VA_ARGS__} : NULL)

// OP_ROW(Conv, .version = 1, ...): ONNX's, MICROSOFT_ROW(QGemm, ...): ONNX Runtime's domain
#define OP_ROW(op, ...) ROW_IF(OP_IS_SELECTED(onnx_##op), .name = #op, __VA_ARGS__)
#define MICROSOFT_ROW(op, ...) \
    ROW_IF(OP_IS_SELECTED(com_microsoft_##op), .domain = "com.microsoft", .name = #op, __VA_ARGS__)

// TENGINE_ROW(Softmax, 72, 28, 4, ...): one of Tengine's, its number in the API and in files and
// the bytes of its record. NAMED_ROW: one whose name is not an identifier. OWN_ROW: an operator of
// the domain that Tengine does not have.
#define TENGINE_ROW(op, op_type, file_id, bytes, ...) \
    NAMED_ROW(op, #op, op_type, file_id, bytes, __VA_ARGS__)
#define NAMED_ROW(op, op_name, op_type, number, bytes, ...)                                  \
    ROW_IF(OP_IS_SELECTED(tengine_##op), .domain = "tengine", .name = op_name, .version = 1, \
           .tengine = &(const struct tengine_record){op_type, number, bytes}, __VA_ARGS__)
#define OWN_ROW(op, ...) \
    ROW_IF(OP_IS_SELECTED(tengine_##op), .domain = "tengine", .name = #op, __VA_ARGS__)

// Whether nodes can have bodies (graph/body.h), for code that is left out otherwise.
#define OP_HAS_BODIES                                                                     \
    (OP_IS_SELECTED(onnx_If) || OP_IS_SELECTED(onnx_Loop) || OP_IS_SELECTED(onnx_Scan) || \
     OP_IS_SELECTED(onnx_SequenceMap))

// TFLITE_ROW(CONV_2D, 3, ...): one of TensorFlow Lite's, its code in files. SHAPELESS_ROW: one that
// is lowered whether the shapes of its inputs are known or not.
#define TFLITE_TRAITS (OP_LEGACY | OP_SHAPED | OP_READS_QUANTIZED)
#define TFLITE_ROW(op, code, ...)                                                      \
    ROW_IF(OP_IS_SELECTED(tflite_##op), .domain = "tflite", .name = #op, .version = 1, \
           .tflite_code = code, .traits = TFLITE_TRAITS, __VA_ARGS__)
#define SHAPELESS_ROW(op, code, ...)                                                   \
    ROW_IF(OP_IS_SELECTED(tflite_##op), .domain = "tflite", .name = #op, .version = 1, \
           .tflite_code = code, .traits = TFLITE_TRAITS | OP_ANY_SHAPE, __VA_ARGS__)

// UNLOWERED_ROW: one that a device computes as it is.
#define UNLOWERED_ROW(op, code, ...)                                                   \
    ROW_IF(OP_IS_SELECTED(tflite_##op), .domain = "tflite", .name = #op, .version = 1, \
           .tflite_code = code, .traits = OP_READS_QUANTIZED | OP_RANDOM, __VA_ARGS__)

// The inverse of lower; left out of a build that cannot write tmfiles.
#define RAISED(operators, function) \
    .raised_from = operators, .raise = TENGINE_CAN_WRITE_TMFILE ? (function) : NULL

// Last line of every <family>_ops.c: OPERATOR_TABLE(conv_ops, rows)
#define OPERATOR_TABLE(name, table_rows)            \
    const struct operator_table name = {table_rows, \
                                        (int)(sizeof(table_rows) / sizeof(table_rows[0]))}

#define OP_FIELDS(table) .fields = table, .field_num = (int)(sizeof(table) / sizeof(table[0]))
