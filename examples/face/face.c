// SPDX-License-Identifier: Apache-2.0
// Finds the faces on a photo (detector.h), prints boxes and key points, and draws them.
// docs/face.md describes it, examples/python/face.py is the same program in Python.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "detector.h"
#include "message.h"
#include "png.h"

const char kProgram[] = "face";

static const char kUsage[] =
    "face [options] NETWORK PICTURE\n"
    "Prints a line for each face: the upper left and lower right corner of its box, the "
    "probability,\n"
    "and the right eye, left eye, tip of the nose, mouth, right ear and left ear. NETWORK is a "
    "file\n"
    "of MediaPipe's face detection; options come first.\n"
    "  -o PNG       write the picture with boxes and key points\n"
    "  -l LEVEL     the probability from which on there is a face, default 0.5\n"
    "  -p PRECISION fp32 (default), fp16, bf16, int8 or uint8\n" RUN_OPTIONS_HELP
    "  -h           print this text\n";

struct arguments
{
    const char* network;
    const char* picture;
    const char* drawing;  // file for the picture with the faces; NULL: none
    float level;
    struct run_options options;
};

static void print_face(const struct face* face)
{
    printf("%.0f,%.0f %.0f,%.0f %.3f", face->centre.x - face->width / 2,
           face->centre.y - face->height / 2, face->centre.x + face->width / 2,
           face->centre.y + face->height / 2, face->probability);
    for (int i = 0; i < kKeyPointNum; ++i)
        printf(" %.0f,%.0f", face->key_points[i].x, face->key_points[i].y);
    putchar('\n');
}

static void draw_face(const struct face* face, struct picture* picture)
{
    const struct colour red = {255, 0, 0};
    const struct colour green = {0, 255, 0};
    const float left = face->centre.x - face->width / 2;
    const float top = face->centre.y - face->height / 2;
    const struct point corners[] = {{left, top},
                                    {left + face->width, top},
                                    {left + face->width, top + face->height},
                                    {left, top + face->height}};
    draw_polygon(picture, corners, 4, 2, red);
    for (int i = 0; i < kKeyPointNum; ++i)
        draw_dot(picture, face->key_points[i], 5, green);
}

static int find_faces(const struct arguments* arguments)
{
    struct detector detector = {0};
    struct picture picture = {0};
    struct faces faces = {0};
    int status = detector_open(arguments->network, &arguments->options, &detector);
    if (status == 0) status = picture_load(arguments->picture, &picture);
    if (status == 0) status = detector_find(&detector, &picture, arguments->level, &faces);
    for (int i = 0; status == 0 && i < faces.count; ++i) {
        print_face(&faces.items[i]);
        draw_face(&faces.items[i], &picture);
    }
    if (status == 0 && arguments->drawing) status = png_write(arguments->drawing, &picture);
    faces_free(&faces);
    picture_free(&picture);
    detector_close(&detector);
    return status;
}

static int set_level(const char* value, struct arguments* arguments)
{
    char* end;
    arguments->level = strtof(value, &end);
    if (end == value || *end != '\0' || !(arguments->level > 0 && arguments->level <= 1))
        return fail("-l %s: expected a probability above 0, at most 1", value);
    return 0;
}

static int take_option(int letter, const char* value, struct arguments* arguments)
{
    switch (letter) {
        case 'o':
            arguments->drawing = value;
            return 0;
        case 'l':
            return set_level(value, arguments);
        case 'p':
            return run_options_set_precision(value, &arguments->options);
        case 't':
        case 'd':
            return run_options_set(letter, value, &arguments->options);
        default:
            return fail("option -%c: unknown, or without its value; face -h explains", optopt);
    }
}

// Returns 1 when the program is to run, 0 after the help, -1 after a message.
static int parse(int argc, char** argv, struct arguments* out_arguments)
{
    const struct arguments defaults = {.level = 0.5f};
    int letter;
    *out_arguments = defaults;
    run_options_init(&out_arguments->options);
    opterr = 0;
    while ((letter = getopt(argc, argv, ":o:l:p:" RUN_OPTIONS "h")) != -1) {
        if (letter == 'h') return fputs(kUsage, stdout), 0;
        if (take_option(letter, optarg, out_arguments) < 0) return -1;
    }
    if (argc - optind != 2)
        return fail("%d arguments, expected NETWORK and PICTURE; face -h explains", argc - optind);
    out_arguments->network = argv[optind];
    out_arguments->picture = argv[optind + 1];
    return 1;
}

int main(int argc, char** argv)
{
    struct arguments arguments;
    const int parsed = parse(argc, argv, &arguments);
    if (parsed <= 0) return parsed < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (init_tengine() < 0) return EXIT_FAILURE;
    const int status = find_faces(&arguments);
    release_tengine();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
