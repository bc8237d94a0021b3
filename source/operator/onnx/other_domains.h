// SPDX-License-Identifier: Apache-2.0
// Rows of ONNX's other domains (row.h has its main one): ML_ROW(Scaler, ...), TRAINING_ROW(Adam,
// ...).
#pragma once

#include "operator/row.h"

#define ML_ROW(op, ...) \
    ROW_IF(OP_IS_SELECTED(ai_onnx_ml_##op), .domain = "ai.onnx.ml", .name = #op, __VA_ARGS__)
#define TRAINING_ROW(op, ...)                                                                   \
    ROW_IF(OP_IS_SELECTED(ai_onnx_preview_training_##op), .domain = "ai.onnx.preview.training", \
           .name = #op, __VA_ARGS__)
