// SPDX-License-Identifier: Apache-2.0
// Represents a vendor's library; see probe_library.h.
int probe_answer(void);

int probe_answer(void)
{
    return 42;
}
