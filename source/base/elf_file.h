// SPDX-License-Identifier: Apache-2.0
// Check that a shared library's file is complete. The loader maps as many bytes as the file's
// headers say, and the process ends at the first page that the file does not have.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// TENGINE_EIO: the file is an ELF file of this machine that ends earlier than its headers say. The
// loader reports everything else.
int check_elf_file(const char* path);

TENGINE_EXTERN_C_END
