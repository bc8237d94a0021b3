// SPDX-License-Identifier: Apache-2.0
// Resize of images, nearest and linear. Of ONNX's rules for coordinates ACL has those listed here.
#include <arm_compute/runtime/NEON/functions/NEScale.h>
#include <cstring>

#include "device/acl/operator_table.h"
#include "operator/resize_param.h"

namespace tengine::acl {
namespace {

using arm_compute::InterpolationPolicy;
using arm_compute::SamplingPolicy;

struct Rule
{
    const char* mode;
    const char* coordinates;
    const char* rounding;  // of nearest; NULL: any
    InterpolationPolicy interpolation;
    SamplingPolicy sampling;
    bool align_corners;
};

constexpr Rule kRules[] = {
    {"nearest", "asymmetric", "floor", InterpolationPolicy::NEAREST_NEIGHBOR,
     SamplingPolicy::TOP_LEFT, false},
    {"linear", "half_pixel", nullptr, InterpolationPolicy::BILINEAR, SamplingPolicy::CENTER, false},
    {"linear", "asymmetric", nullptr, InterpolationPolicy::BILINEAR, SamplingPolicy::TOP_LEFT,
     false},
    {"linear", "align_corners", nullptr, InterpolationPolicy::BILINEAR, SamplingPolicy::TOP_LEFT,
     true},
};

const Rule* find_rule(const node& node)
{
    const char* mode = get_ir_node_text(&node, "mode", "nearest");
    const char* coordinates =
        get_ir_node_text(&node, "coordinate_transformation_mode", "half_pixel");
    const char* rounding = get_ir_node_text(&node, "nearest_mode", "round_prefer_floor");
    for (const Rule& rule : kRules)
        if (std::strcmp(mode, rule.mode) == 0 && std::strcmp(coordinates, rule.coordinates) == 0 &&
            (!rule.rounding || std::strcmp(rounding, rule.rounding) == 0))
            return &rule;
    return nullptr;
}

bool build_resize(Builder& builder)
{
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    if (resolve_resize(&builder.of(), axes) != TENGINE_OK)
        return builder.refuse(IR_REASON_CONSTANT, "", "", "its sizes must be constant");
    const tensor& source = *builder.source(0);
    if (source.dim_num != 4) return builder.refuse_value("rank", source.dim_num, "4");
    if (!axes[0].identity || !axes[1].identity)
        return builder.refuse(IR_REASON_ATTRIBUTE, "scales", "", "ACL resizes rows and columns");
    for (int d = 2; d < 4; ++d)
        if (axes[d].length != static_cast<double>(axes[d].size))
            return builder.refuse(IR_REASON_ATTRIBUTE, "scales", "",
                                  "ACL's scale is the quotient of the sizes");
    if (get_ir_node_int(&builder.of(), "antialias", 0) != 0)
        return builder.refuse_value("antialias", 1, "0");
    const Rule* rule = find_rule(builder.of());
    if (!rule) {
        const char* mode = get_ir_node_text(&builder.of(), "mode", "nearest");
        return builder.refuse(IR_REASON_ATTRIBUTE, "mode", mode,
                              "ACL does not have %s with this rule for coordinates", mode);
    }
    const arm_compute::ScaleKernelInfo info(rule->interpolation, arm_compute::BorderMode::REPLICATE,
                                            arm_compute::PixelValue(), rule->sampling, true,
                                            rule->align_corners);
    return builder.add<arm_compute::NEScale>(builder.input(0), builder.output(), info);
}

constexpr Operator kRows[] = {
    {"Resize", kFloats, build_resize},
};

}  // namespace

extern const OperatorTable resize_operators;
const OperatorTable resize_operators = make_table(kRows);

}  // namespace tengine::acl
