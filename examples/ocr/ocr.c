// SPDX-License-Identifier: Apache-2.0
// Reads the text of a photo: finds its lines (detector.h), turns and reads each (recognizer.h),
// prints the box and the text of each,
// and draws the boxes. docs/ocr.md describes it, examples/python/ocr.py is
// the same program in Python.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "detector.h"
#include "drawing.h"
#include "message.h"
#include "path.h"
#include "png.h"
#include "recognizer.h"

const char kProgram[] = "ocr";

static const char kUsage[] =
    "ocr [options] NETWORKS PICTURE\n"
    "Prints a line for each line of text: the corners of its box in the order of reading, the\n"
    "confidence, and the text. NETWORKS is the folder of PP-OCRv4's files; options come first.\n"
    "  -o PNG       write the picture with the boxes\n"
    "  -r MODEL     another network for the recognition, such as a quantised one\n"
    "  -p PRECISION of the recognition: fp32 (default), fp16, bf16, int8 or "
    "uint8\n" RUN_OPTIONS_HELP "  -h           print this text\n";

static const char kDetection[] = "ch_PP-OCRv4_det_infer.onnx";
static const char kDirection[] = "ch_ppocr_mobile_v2.0_cls_infer.onnx";
static const char kRecognition[] = "ch_PP-OCRv4_rec_infer.onnx";
static const char kCharacters[] = "ppocr_keys_v1.txt";

static const float kConfidence = 0.5f;  // a text is printed from this on

struct arguments
{
    const char* networks;
    const char* picture;
    const char* boxes;        // file for the picture with the boxes; NULL: none
    const char* recognition;  // NULL: that of the folder
    struct run_options options;
    struct run_options recognition_options;
};

struct reader
{
    struct network detection;
    struct network direction;
    struct network recognition;
    struct labels characters;
};

static int open_reader(const struct arguments* arguments, struct reader* reader)
{
    const char* folder = arguments->networks;
    const char* recognition = arguments->recognition;
    char path[kPathSize];
    if (path_join(folder, kCharacters, path) < 0) return -1;
    if (labels_read(path, &reader->characters) < 0)
        return fail("%s: cannot read the characters", path);
    if (network_open(folder, kDetection, &arguments->options, &reader->detection) < 0) return -1;
    if (network_open(folder, kDirection, &arguments->options, &reader->direction) < 0) return -1;
    return network_open(recognition ? NULL : folder, recognition ? recognition : kRecognition,
                        &arguments->recognition_options, &reader->recognition);
}

static void close_reader(struct reader* reader)
{
    network_close(&reader->detection);
    network_close(&reader->direction);
    network_close(&reader->recognition);
    labels_free(&reader->characters);
}

static void turn_around(struct box* box)
{
    const struct box old = *box;
    for (int i = 0; i < 4; ++i)
        box->corners[i] = old.corners[(i + 2) % 4];
}

// Reads the line in a box, which is turned if the line is upside down.
static int read_box(struct reader* reader, const struct picture* picture, struct box* box,
                    struct text* out_text)
{
    struct picture line = {0};
    if (line_cut(picture, box, &line) < 0) return -1;
    int status = line_is_upside_down(&reader->direction, &line);
    if (status == 1) {
        turn_around(box);
        picture_free(&line);
        status = line_cut(picture, box, &line);
    }
    if (status == 0)
        status = recognize_line(&reader->recognition, &reader->characters, &line, out_text);
    picture_free(&line);
    return status;
}

static void print_text(const struct box* box, const struct text* text)
{
    for (int i = 0; i < 4; ++i)
        printf("%.0f,%.0f ", box->corners[i].x, box->corners[i].y);
    printf("%.3f %s\n", text->confidence, text->string);
}

// Prints the text of each box, and keeps the boxes that have one.
static int read_boxes(struct reader* reader, const struct picture* picture, struct boxes* boxes)
{
    int kept = 0;
    for (int i = 0; i < boxes->count; ++i) {
        struct text text = {0};
        const int status = read_box(reader, picture, &boxes->items[i], &text);
        if (status == 0 && text.confidence >= kConfidence) {
            print_text(&boxes->items[i], &text);
            boxes->items[kept++] = boxes->items[i];
        }
        text_free(&text);
        if (status < 0) return -1;
    }
    boxes->count = kept;
    return 0;
}

static int draw_boxes(const struct boxes* boxes, struct picture* picture, const char* path)
{
    const struct colour red = {255, 0, 0};
    for (int i = 0; i < boxes->count; ++i)
        draw_polygon(picture, boxes->items[i].corners, 4, 2, red);
    return png_write(path, picture);
}

static int read_picture(const struct arguments* arguments)
{
    struct reader reader = {0};
    struct picture picture = {0};
    struct boxes boxes = {0};
    int status = open_reader(arguments, &reader);
    if (status == 0) status = picture_load(arguments->picture, &picture);
    if (status == 0) status = detect_lines(&reader.detection, &picture, &boxes);
    if (status == 0) status = read_boxes(&reader, &picture, &boxes);
    if (status == 0 && arguments->boxes) status = draw_boxes(&boxes, &picture, arguments->boxes);
    boxes_free(&boxes);
    picture_free(&picture);
    close_reader(&reader);
    return status;
}

static int take_option(int letter, const char* value, struct arguments* arguments)
{
    switch (letter) {
        case 'o':
            arguments->boxes = value;
            return 0;
        case 'r':
            arguments->recognition = value;
            return 0;
        case 'p':
            return run_options_set_precision(value, &arguments->recognition_options);
        case 't':
        case 'd':
            if (run_options_set(letter, value, &arguments->recognition_options) < 0) return -1;
            return run_options_set(letter, value, &arguments->options);
        default:
            return fail("option -%c: unknown, or without its value; ocr -h explains", optopt);
    }
}

// Returns 1 when the program is to run, 0 after the help, -1 after a message.
static int parse(int argc, char** argv, struct arguments* out_arguments)
{
    const struct arguments none = {0};
    int letter;
    *out_arguments = none;
    run_options_init(&out_arguments->options);
    run_options_init(&out_arguments->recognition_options);
    opterr = 0;
    while ((letter = getopt(argc, argv, ":o:r:p:" RUN_OPTIONS "h")) != -1) {
        if (letter == 'h') return fputs(kUsage, stdout), 0;
        if (take_option(letter, optarg, out_arguments) < 0) return -1;
    }
    if (argc - optind != 2)
        return fail("%d arguments, expected NETWORKS and PICTURE; ocr -h explains", argc - optind);
    out_arguments->networks = argv[optind];
    out_arguments->picture = argv[optind + 1];
    return 1;
}

int main(int argc, char** argv)
{
    struct arguments arguments;
    const int parsed = parse(argc, argv, &arguments);
    if (parsed <= 0) return parsed < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (init_tengine() < 0) return EXIT_FAILURE;
    const int status = read_picture(&arguments);
    release_tengine();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
