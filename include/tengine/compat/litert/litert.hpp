// SPDX-License-Identifier: Apache-2.0
// The names of LiteRT for compiler plug-ins that are written for it, in the generation of its
// published guide (A, up to 2.1.4), on tengine/compiler_plugin.h; docs/compiler-plugins.md says
// what differs. The headers beside this one, with this folder in the include path, are this one.
//
// A plug-in defines the functions declared below as it does for LiteRT, and once, in one of its
// files, TENGINE_LITERT_COMPILER makes a plug-in of Tengine of them.
#pragma once

#include "tengine/compat/litert/adapter.hpp"
#include "tengine/compat/litert/graph.hpp"
#include "tengine/compat/litert/numbers.hpp"
#include "tengine/compat/litert/op_code.hpp"
#include "tengine/compat/litert/options.hpp"
#include "tengine/compat/litert/tflite_options.hpp"
#include "tengine/compat/litert/types.hpp"
#include "tengine/compat/litert/wrapper.hpp"
