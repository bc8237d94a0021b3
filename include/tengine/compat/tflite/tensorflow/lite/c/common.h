// SPDX-License-Identifier: Apache-2.0
// For custom operators written for TensorFlow Lite and LiteRT, which include it.
#pragma once

#include "tengine/compat/tflite/operator.h"
