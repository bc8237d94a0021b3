// SPDX-License-Identifier: Apache-2.0
// Parameters of Tengine's detection operators (detection_ops.c) and further data for their kernels.
// Kernels: device/cpu/reference/{prior_box,detection_output,detection_postprocess,region,
// proposal}.cc.
#pragma once

#include <stdbool.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct tm_detection_output_param
{
    int num_classes;  // with the background, class 0
    int keep_top_k;   // in all classes; negative: all
    int nms_top_k;    // in one class before suppression; negative: all
    float confidence_threshold;
    float nms_threshold;
};

struct tm_priorbox_param
{
    int image_h;  // 0: as the image input
    int image_w;
    float step_h;  // 0: image / feature map
    float step_w;
    int num_priors;  // a cache, as out_dim, feature_* and image_size: recomputed, never read
    float offset;
    int feature_h;
    int feature_w;
    int max_size_num;
    struct op_floats max_size;
    int min_size_num;
    struct op_floats min_size;
    int aspect_ratio_size;
    struct op_floats aspect_ratio;
    struct op_floats variance;
    int flip;
    int clip;
    int out_dim;
    int image_size;
};

struct tm_region_param
{
    int num_classes;
    int side;
    int num_box;
    int coords;
    float confidence_threshold;
    float nms_threshold;
    int biases_num;
    struct op_floats biases;
};

struct tm_detection_postprocess_param
{
    int max_detections;
    int max_classes_per_detection;
    float nms_score_threshold;
    float nms_iou_threshold;
    int num_classes;  // without the background
    struct op_floats scales;
};

struct tm_rpn_param
{
    struct op_floats ratios;
    struct op_floats anchor_scales;
    int feat_stride;
    int basesize;
    int min_size;
    int per_nms_topn;   // boxes before suppression; <= 0: all
    int post_nms_topn;  // boxes after it; <= 0: all
    float nms_thresh;
    struct op_floats anchors_;  // x0 y0 x1 y1 of each; used without ratios or scales
};

// Returns the number of prior boxes of one cell of the feature map.
int64_t count_priors(const struct tm_priorbox_param* param);

// The layout of boxes and scores of a checked DetectionPostProcess node.
struct postprocess_layout
{
    int box_num;
    bool planar;  // [1, 4, boxes] and [1, classes, boxes]; else boxes come before the numbers
};
TENGINE_MUST_USE int resolve_postprocess_layout(const struct node* node,
                                                struct postprocess_layout* out_layout);

// Returns the number of an RPN node's anchors around the cell at 0, 0.
int64_t count_anchors(const struct tm_rpn_param* param);
// Writes anchor `index` as x0 y0 x1 y1, by the enumeration of Faster R-CNN (Ren et al., 2015):
// ratios of a square of `basesize` first, with whole sides, each in all scales.
void make_anchor(const struct tm_rpn_param* param, int64_t index, float out_corners[4]);

TENGINE_EXTERN_C_END
