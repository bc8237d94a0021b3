// SPDX-License-Identifier: Apache-2.0
// The operator as a plug-in: `tengine run --plugin offset_atan.so model.onnx`.
#include "tengine/plugin.h"

#include "offset_atan.h"

TENGINE_PLUGIN("offset_atan", "1.0.0", register_offset_atan, NULL);
