// SPDX-License-Identifier: Apache-2.0
// The command line of classify.c.
#define _POSIX_C_SOURCE 200809L
#include "arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char kUsage[] =
    "classify -m MODEL [options] IMAGE...\n"
    "Prints the most probable classes of each image. Settings of pictures may stand in a file\n"
    "beside the model, MODEL.preprocess.json without the extension of MODEL; options come first.\n"
    "  -m MODEL     model file: .onnx or .tmfile\n"
    "  -l LABELS    text file with one class name per line\n"
    "  -g HxW       input height and width, if the model leaves them free\n"
    "  -b MEAN      subtracted from pixels (0..255): one number or R,G,B; default 0\n"
    "  -w SCALE     factor applied to pixels afterwards: one number or R,G,B; default 1/255\n"
    "  -k COUNT     classes to print, default 5\n"
    "  -t THREADS   threads, default 1; 0: one for each core\n"
    "  -r COUNT     runs for each image, default 1; prints the minimum and average time\n"
    "  -d DEVICES   devices, best first, separated by commas\n"
    "  -v           print which device runs each node\n"
    "  -h           print this text\n";

static void refuse(const char* what, const char* value)
{
    fprintf(stderr, "classify: %s%s%s; classify -h explains\n", what, *value ? " " : "", value);
    exit(EXIT_FAILURE);
}

static int parse_count(const char* text, int least, const char* what)
{
    char* end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > 65536) refuse(what, text);
    return (int)value;
}

static void parse_size(const char* text, int* out_height, int* out_width)
{
    static const char kWanted[] = "-g: expected HxW, e.g. 224x224, each 1 to 16384, not";
    char* end;
    const long height = strtol(text, &end, 10);
    const long width = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || height < 1 || width < 1 || height > 16384 || width > 16384)
        refuse(kWanted, text);
    *out_height = (int)height;
    *out_width = (int)width;
}

// Reads a decimal number such as -0.0125; *out_end is `text` if there is none. strtof would add 11
// kB to a static program.
static float parse_number(const char* text, const char** out_end)
{
    const char* at = text + (*text == '-');
    double value = 0, place = 1;
    int digit_num = 0, has_point = 0;
    for (; isdigit((unsigned char)*at) || (*at == '.' && !has_point); ++at) {
        if (*at == '.') {
            has_point = 1;
            continue;
        }
        value = 10 * value + (*at - '0');
        if (has_point) place *= 10;
        ++digit_num;
    }
    *out_end = digit_num > 0 ? at : text;
    return (float)((*text == '-' ? -value : value) / place);
}

// Reads one number for all channels, or one for each.
static void parse_channels(const char* text, float out_values[3], const char* what)
{
    const char* number = text;
    const char* end;
    int count = 0;
    do {
        out_values[count] = parse_number(number, &end);
        if (end == number) refuse(what, text);
        number = end + 1;
        ++count;
    } while (*end == ',' && count < 3);
    if (*end != '\0' || count == 2) refuse(what, text);
    if (count == 1) out_values[1] = out_values[2] = out_values[0];
}

static void parse_option(int letter, char* value, struct arguments* out)
{
    switch (letter) {
        case 'm':
            out->model = value;
            break;
        case 'l':
            out->labels = value;
            break;
        case 'g':
            parse_size(value, &out->height, &out->width);
            break;
        case 'b':
            parse_channels(value, out->mean, "-b: expected a number or R,G,B, not");
            out->has_mean = 1;
            break;
        case 'w':
            parse_channels(value, out->scale, "-w: expected a number or R,G,B, not");
            out->has_scale = 1;
            break;
        case 'k':
            out->top_k = parse_count(value, 1, "-k: expected a number of 1 or more, not");
            break;
        case 't':
            out->threads = parse_count(value, 0, "-t: expected a number of 0 or more, not");
            break;
        case 'r':
            out->repeat = parse_count(value, 1, "-r: expected a number of 1 or more, not");
            break;
        case 'd':
            out->devices = value;
            break;
        case 'v':
            out->verbose = 1;
            break;
    }
}

void arguments_parse(int argc, char** argv, struct arguments* out_arguments)
{
    const struct arguments defaults = {.top_k = 5, .threads = 1, .repeat = 1};
    *out_arguments = defaults;

    int letter;
    opterr = 0;
    while ((letter = getopt(argc, argv, ":m:l:g:b:w:k:t:r:d:vh")) != -1) {
        const char text[] = {'-', (char)optopt, '\0'};
        if (letter == ':') refuse("missing value after", text);
        if (letter == '?') refuse("unknown option", text);
        if (letter == 'h') {
            fputs(kUsage, stdout);
            exit(EXIT_SUCCESS);
        }
        parse_option(letter, optarg, out_arguments);
    }
    if (!out_arguments->model) refuse("missing model (-m)", "");
    if (optind == argc) refuse("missing image", "");
    out_arguments->images = argv + optind;
    out_arguments->image_count = argc - optind;
}
