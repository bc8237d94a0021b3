// SPDX-License-Identifier: Apache-2.0
// Names of models may be anything, also what terminals take for commands.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Characters that control a terminal become question marks, but ends of lines and tabulators.
void make_text_visible(char* text);

#ifdef __cplusplus
}
#endif
