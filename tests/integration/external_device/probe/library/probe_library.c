// SPDX-License-Identifier: Apache-2.0
// Stands for a vendor's library; see probe_library.h.
int probe_answer(void);

int probe_answer(void)
{
    return 42;
}
