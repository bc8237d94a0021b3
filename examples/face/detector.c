// SPDX-License-Identifier: Apache-2.0
// Finds the faces on a picture (V. Bazarevsky et al., "BlazeFace: sub-millisecond neural face
// detection on mobile GPUs", 2019). The network sees the whole picture between black bars.
#include "detector.h"

#include <math.h>
#include <stdlib.h>

#include "anchors.h"
#include "message.h"
#include "suppression.h"

enum
{
    kPositionNum = 4 + 2 * kKeyPointNum  // of an anchor: centre, size, key points
};

// The picture on the input: x on the input = x on the picture x scale + left.
struct placement
{
    float scale;
    float left;
    float top;
};

int detector_open(const char* path, const struct run_options* options,
                  struct detector* out_detector)
{
    const struct detector none = {0};
    int dims[4];  // 1 x size x size x 3
    *out_detector = none;
    if (network_open(NULL, path, options, &out_detector->network) < 0) return -1;
    tensor_t input = tengine_graph_get_input(out_detector->network.graph, 0);
    const int dim_num = get_tensor_shape(input, dims, 4);
    if (dim_num < 0) return -1;
    out_detector->size = dim_num == 4 && dims[1] == dims[2] && dims[3] == 3 ? dims[1] : 0;
    out_detector->anchor_num = anchor_count(out_detector->size);
    if (out_detector->anchor_num < 0)
        return fail("%s: expected an input of 1x128x128x3 or 1x192x192x3", path);
    out_detector->anchors = calloc((size_t)out_detector->anchor_num, sizeof(struct point));
    if (!out_detector->anchors)
        return fail("out of memory for %d anchors", out_detector->anchor_num);
    anchor_centres(out_detector->size, out_detector->anchors);
    return 0;
}

void detector_close(struct detector* detector)
{
    network_close(&detector->network);
    free(detector->anchors);
}

// The picture as values from -1 to 1.
static int feed(struct detector* detector, const struct picture* picture)
{
    const int size = detector->size;
    const struct tengine_image image = picture_view(picture);
    const struct tengine_image_target target = {TENGINE_DT_FP32, {1, size, size, 3}, 0, 0};
    struct tengine_image_settings settings;
    if (tengine_image_settings_init(&settings, sizeof settings) < 0) return -1;
    settings.fit = TENGINE_IMAGE_LETTERBOX;
    for (int c = 0; c < 3; ++c) {
        settings.fill[c] = 0;
        settings.mean[c] = 127.5f;
        settings.scale[c] = 1 / 127.5f;
    }
    float* values = network_input(&detector->network, target.dims, 4);
    if (!values) return -1;
    const size_t bytes = (size_t)size * (size_t)size * 3 * sizeof(float);
    return tengine_image_convert(&image, 1, &settings, &target, values, bytes);
}

static struct placement place(const struct picture* picture, int size)
{
    const float width = (float)picture->width;
    const float height = (float)picture->height;
    struct placement placement;
    placement.scale = (float)size / fmaxf(width, height);
    placement.left = ((float)size - width * placement.scale) / 2;
    placement.top = ((float)size - height * placement.scale) / 2;
    return placement;
}

static struct point to_picture(const struct placement* placement, struct point anchor,
                               const float offset[2])
{
    const struct point point = {(anchor.x + offset[0] - placement->left) / placement->scale,
                                (anchor.y + offset[1] - placement->top) / placement->scale};
    return point;
}

// The face of an anchor: positions are relative to its centre.
static struct face decode(const struct placement* placement, struct point anchor,
                          const float positions[kPositionNum], float probability)
{
    struct face face;
    face.probability = probability;
    face.centre = to_picture(placement, anchor, positions);
    face.width = positions[2] / placement->scale;
    face.height = positions[3] / placement->scale;
    for (int i = 0; i < kKeyPointNum; ++i)
        face.key_points[i] = to_picture(placement, anchor, positions + 4 + 2 * i);
    return face;
}

// The output of 1 x anchors x `value_num` values, or NULL after a message.
static const float* find_output(const struct detector* detector, int value_num)
{
    int dims[3];
    for (int i = 0; i < 2; ++i) {
        const float* values = network_output(&detector->network, i, dims, 3);
        if (!values) return NULL;
        if (dims[0] == 1 && dims[1] == detector->anchor_num && dims[2] == value_num) return values;
    }
    fail("%s: no output of 1x%dx%d", detector->network.path, detector->anchor_num, value_num);
    return NULL;
}

int detector_find(struct detector* detector, const struct picture* picture, float level,
                  struct faces* out_faces)
{
    const struct faces none = {0};
    *out_faces = none;
    if (feed(detector, picture) < 0 || network_run(&detector->network) < 0) return -1;
    const float* logits = find_output(detector, 1);
    const float* positions = logits ? find_output(detector, kPositionNum) : NULL;
    if (!positions) return -1;
    out_faces->items = calloc((size_t)detector->anchor_num, sizeof(struct face));
    if (!out_faces->items) return fail("out of memory for %d faces", detector->anchor_num);
    const struct placement placement = place(picture, detector->size);
    for (int i = 0; i < detector->anchor_num; ++i) {
        const float probability = 1 / (1 + expf(-logits[i]));
        if (!(probability >= level)) continue;
        out_faces->items[out_faces->count++] = decode(
            &placement, detector->anchors[i], positions + (size_t)i * kPositionNum, probability);
    }
    suppress_weighted(out_faces);
    return 0;
}

void faces_free(struct faces* faces)
{
    free(faces->items);
}
