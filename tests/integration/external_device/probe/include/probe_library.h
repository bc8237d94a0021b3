// SPDX-License-Identifier: Apache-2.0
// Represents a vendor's library.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

int probe_answer(void);

#ifdef __cplusplus
}
#endif
