// SPDX-License-Identifier: Apache-2.0
// Resize of images, nearest and linear. The table lists the rules for coordinates that ACL and ONNX
// share.
#include <arm_compute/runtime/NEON/functions/NEScale.h>
#include <cmath>
#include <cstring>

#include "device/acl/operator_table.h"
#include "operator/onnx/resize_param.h"

namespace tengine::acl {
namespace {

using arm_compute::InterpolationPolicy;
using arm_compute::SamplingPolicy;

struct Rule
{
    const char* mode;
    const char* coordinates;
    const char* rounding;  // for nearest; NULL: any
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

struct Parameter
{
    const char* name;
    const char* otherwise;
    const char* Rule::*wanted;
};

constexpr Parameter kParameters[] = {
    {"mode", "nearest", &Rule::mode},
    {"coordinate_transformation_mode", "half_pixel", &Rule::coordinates},
    {"nearest_mode", "round_prefer_floor", &Rule::rounding},
};

// The rule that matches all parameters of the node. NULL when there is none, and the node is
// refused for the first parameter that no rule has together with those before it.
const Rule* find_rule(Builder& builder)
{
    std::vector<const Rule*> left;
    for (const Rule& rule : kRules)
        left.push_back(&rule);
    for (const Parameter& parameter : kParameters) {
        const char* value = get_ir_node_text(&builder.of(), parameter.name, parameter.otherwise);
        std::vector<const Rule*> kept;
        std::string others;
        for (const Rule* rule : left) {
            const char* wanted = rule->*parameter.wanted;
            if (!wanted || std::strcmp(wanted, value) == 0)
                kept.push_back(rule);
            else if (others.find(wanted) == std::string::npos)
                others += (others.empty() ? "" : ", ") + std::string(wanted);
        }
        if (kept.empty()) {
            builder.refuse(IR_REASON_ATTRIBUTE, parameter.name, value,
                           "ACL does not support %s '%s' here: expected %s", parameter.name, value,
                           others.c_str());
            return nullptr;
        }
        left = kept;
    }
    return left.front();
}

// Accepts rows and columns only, by the scale that ACL takes.
bool check_scales(Builder& builder, const resize_axis* axes)
{
    for (int d = 0; d < 4; ++d) {
        const std::string scale = std::to_string(axes[d].scale);
        if (d < 2 && !axes[d].identity)
            return builder.refuse(IR_REASON_ATTRIBUTE, "scales", scale.c_str(),
                                  "axis %d has scale %s; ACL resizes only rows and columns", d,
                                  scale.c_str());
        if (axes[d].length != static_cast<double>(axes[d].size))
            return builder.refuse(
                IR_REASON_ATTRIBUTE, "scales", scale.c_str(),
                "axis %d has scale %s and size %lld; ACL's scale is the quotient of the sizes", d,
                scale.c_str(), static_cast<long long>(axes[d].size));
    }
    return true;
}

// The nearest element is at x / scale, rounded down, in fp32. ACL multiplies by the inverse, which
// may be on the other side of an integer.
bool check_pixels(Builder& builder, const resize_axis& axis, int input)
{
    const auto scale = static_cast<float>(axis.scale);
    const float inverse = static_cast<float>(input) / static_cast<float>(axis.size);
    for (int64_t i = 0; i < axis.size; ++i) {
        const auto x = static_cast<float>(i);
        const float wanted = std::fmin(std::floor(x / scale), static_cast<float>(input - 1));
        if (std::floor(x * inverse) == wanted) continue;
        return builder.refuse(IR_REASON_ATTRIBUTE, "scales", std::to_string(scale).c_str(),
                              "from %d to %lld ACL takes pixel %g for %lld, not %g", input,
                              static_cast<long long>(axis.size), std::floor(x * inverse),
                              static_cast<long long>(i), wanted);
    }
    return true;
}

bool build_resize(Builder& builder)
{
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    if (resolve_resize(&builder.of(), axes) != TENGINE_OK)
        return builder.refuse(IR_REASON_CONSTANT, "", "", "its sizes must be constant");
    const tensor& source = *builder.source(0);
    if (source.dim_num != 4) return builder.refuse_value("rank", source.dim_num, "4");
    if (!check_scales(builder, axes)) return false;
    if (get_ir_node_int(&builder.of(), "antialias", 0) != 0)
        return builder.refuse_value("antialias", 1, "0");
    const Rule* rule = find_rule(builder);
    if (!rule) return false;
    if (rule->interpolation == InterpolationPolicy::NEAREST_NEIGHBOR &&
        !(check_pixels(builder, axes[2], source.dims[2]) &&
          check_pixels(builder, axes[3], source.dims[3])))
        return false;
    const arm_compute::ScaleKernelInfo info(rule->interpolation, arm_compute::BorderMode::REPLICATE,
                                            arm_compute::PixelValue(), rule->sampling, true,
                                            rule->align_corners);
    return builder.add<arm_compute::NEScale>(builder.input(0), builder.output(), info);
}

constexpr Operator kResizeRows[] = {
    {"Resize", kFloats, build_resize},
};

}  // namespace

extern const OperatorTable resize_operators;
const OperatorTable resize_operators = make_table(kResizeRows);

}  // namespace tengine::acl
