// SPDX-License-Identifier: Apache-2.0
// The class names of a network, one a line of a text file.
#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* read_text(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (!file) return NULL;
    char* text = NULL;
    const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && size < 1 << 24 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static int count_lines(const char* text)
{
    int count = 1;
    for (; *text != '\0'; ++text)
        count += *text == '\n';
    return count;
}

int labels_read(const char* path, struct labels* out_labels)
{
    const struct labels none = {0};
    *out_labels = none;
    out_labels->text = read_text(path);
    if (!out_labels->text) return -1;
    out_labels->lines = calloc((size_t)count_lines(out_labels->text), sizeof(char*));
    if (!out_labels->lines) return -1;
    for (char* line = out_labels->text; line && *line != '\0';) {
        char* end = strchr(line, '\n');
        if (end) *end = '\0';
        line[strcspn(line, "\r")] = '\0';
        out_labels->lines[out_labels->count++] = line;
        line = end ? end + 1 : NULL;
    }
    return 0;
}

void labels_free(struct labels* labels)
{
    free(labels->lines);
    free(labels->text);
}
