// SPDX-License-Identifier: Apache-2.0
// Numbers of the schema that both the reader and the writer use.
#pragma once

#include <cstdint>

namespace tengine::tflite {

constexpr uint8_t kBlockwise = 2;     // the type of a quantisation's details
constexpr int8_t kResourceType = 13;  // of a tensor

// Codes of operators.
constexpr int kConv2d = 3;
constexpr int kDepthwiseConv2d = 4;
constexpr int kFullyConnected = 9;
constexpr int kCustom = 32;  // those that files name
constexpr int kTransposeConv = 67;
constexpr int kQuantize = 114;
constexpr int kIf = 118;
constexpr int kWhile = 119;
constexpr int kCallOnce = 129;
constexpr int kHashTable = 136;
constexpr int kHashTableFind = 137;
constexpr int kHashTableImport = 138;
constexpr int kHashTableSize = 139;
constexpr int kVarHandle = 142;
constexpr int kReadVariable = 143;
constexpr int kAssignVariable = 144;
constexpr int kCustomCall = 173;
constexpr int kComposite = 206;

}  // namespace tengine::tflite
