// SPDX-License-Identifier: Apache-2.0
// Names in models may be anything, also control sequences of terminals.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Characters that control a terminal become question marks, except line ends and tabs.
void make_text_visible(char* text);

#ifdef __cplusplus
}
#endif
