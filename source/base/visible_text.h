// SPDX-License-Identifier: Apache-2.0
// Names in models may be anything, also control sequences of terminals.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Characters that control a terminal become question marks, except line ends and tabs.
void make_text_visible(char* text);

TENGINE_EXTERN_C_END
