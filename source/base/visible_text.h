// SPDX-License-Identifier: Apache-2.0
// Names in models may contain any bytes, also control sequences of terminals.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Replaces characters that control a terminal by question marks, except line ends and tabs.
void make_text_visible(char* text);

TENGINE_EXTERN_C_END
