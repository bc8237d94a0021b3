// SPDX-License-Identifier: Apache-2.0
// Files that are being written, and folders for such files, with random names. Each is locked
// (flock) as long as its writer lives: one without a lock was left by a killed program. Nothing
// here takes memory. The program `tengine` and the provider for ONNX Runtime compile this source,
// too.
#pragma once

#include <stdbool.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Names are tengine-<16 hexadecimal digits>.unfinished.
#define UNFINISHED_BEGINNING "tengine-"
#define UNFINISHED_ENDING ".unfinished"
enum
{
    UNFINISHED_NUMBER_LENGTH = 16,
    UNFINISHED_PATH_BYTES = 4096,
    UNFINISHED_NAME_BYTES =
        sizeof UNFINISHED_BEGINNING - 1 + UNFINISHED_NUMBER_LENGTH + sizeof UNFINISHED_ENDING
};

bool is_unfinished_name(const char* name);

// Chooses a name that others cannot guess.
void choose_unfinished_name(char out_name[UNFINISHED_NAME_BYTES]);

// Removes from `folder` ("": the current one) the files, or the folders with their files, that
// killed programs of this user have left, as far as it can be read.
void remove_left_files(const char* folder);
void remove_left_folders(const char* folder);

// A folder that only this user can read and write.
typedef struct unfinished_folder
{
    char path[UNFINISHED_PATH_BYTES];
    int lock;  // its descriptor
} unfinished_folder_t;

// Removes the left folders in the folder `parent` ("": the current one) and makes a new one there.
// Returns 0, or the value of errno with the reason why there is none.
int create_unfinished_folder(const char* parent, unfinished_folder_t* out_folder);

// Removes the folder with its files.
void remove_unfinished_folder(const unfinished_folder_t* folder);

TENGINE_EXTERN_C_END
