// SPDX-License-Identifier: Apache-2.0
// Messages of an example program. Failures of the library are logged by the library; these are the
// program's own.
#pragma once

// The name that begins each message; every program defines it.
extern const char kProgram[];

// Prints a line on standard error. Returns -1, so that a function can return the failure.
int fail(const char* format, ...);
