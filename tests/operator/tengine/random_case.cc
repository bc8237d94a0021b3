// SPDX-License-Identifier: Apache-2.0
// See random_case.h.
#include "random_case.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <sstream>

#include "base/text.h"
#include "device/cpu/types.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"

namespace tengine::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr int kLeast = std::numeric_limits<int>::min();
constexpr int kMost = std::numeric_limits<int>::max();
constexpr int64_t kLeastLong = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostLong = std::numeric_limits<int64_t>::max();

// What the inputs of an operator look like when they fit: x data; s data of the shape of input 0;
// c one value a channel; w weights [any, channels, kernel]; v the same for a transposed
// convolution; m a matrix for the last axis; n its transposed; i a list of integers; k one integer;
// p positions; b booleans; f a list of floats; others repeat the last one.
const std::map<std::string, std::string> kKinds = {
    {"Conv", "xwo"},
    {"Convolution", "xwo"},
    {"ConvTranspose", "xvo"},
    {"Deconvolution", "xvo"},
    {"FullyConnected", "xno"},
    {"Gemm", "xmo"},
    {"MatMul", "xm"},
    {"BatchNormalization", "xcccc"},
    {"BatchNormalize", "xcccc"},
    {"InstanceNormalization", "xcc"},
    {"InstanceNorm", "xcc"},
    {"LayerNormalization", "xll"},
    {"LayerNorm", "xll"},
    {"Scale", "xcc"},
    {"Bias", "xc"},
    {"PRelu", "xc"},
    {"PReLU", "xc"},
    {"Normalize", "xc"},
    {"Reshape", "xi"},
    {"Slice", "xiiii"},
    {"Pad", "xik"},
    {"Tile", "xi"},
    {"Expand", "xi"},
    {"Gather", "xp"},
    {"ScatterElements", "xps"},
    {"Scatter", "xps"},
    {"TopK", "xk"},
    {"Split", "xi"},
    {"Squeeze", "xi"},
    {"Unsqueeze", "xi"},
    {"ReduceSum", "xi"},
    {"ReduceMean", "xi"},
    {"ReduceMax", "xi"},
    {"ReduceMin", "xi"},
    {"ReduceProd", "xi"},
    {"ReduceL1", "xi"},
    {"ReduceL2", "xi"},
    {"ReduceSumSquare", "xi"},
    {"ReduceLogSum", "xi"},
    {"ReduceLogSumExp", "xi"},
    {"Resize", "x-fi"},
    {"Clip", "xee"},
    {"Dropout", "xe"},
    {"And", "bb"},
    {"Or", "bb"},
    {"Where", "bss"},
    {"Concat", "xs"},
    {"LSTM", "ywrb-hh"},
    {"GRU", "ywrb-h"},
};

// A node that is as its operator wants it, so that what is wrong with a case can be one thing only.
// Inputs after the first are constants; one of integers has an 'i' before its dimensions;
// after '=' are the integers themselves; '-' is absent.
struct Sample
{
    const char* op;
    const char* inputs;
    const char* fields;
};

const Sample kSamples[] = {
    {"Convolution", "1,4,7,5 6,2,3,3 6", "kernel_h=3 kernel_w=3 group=2 output_channel=6"},
    {"Deconvolution", "1,4,7,5 4,3,3,3 6", "kernel_h=3 kernel_w=3 group=2 num_output=6"},
    {"FullyConnected", "2,3,5 7,15 7", "num_output=7"},
    {"Gemm", "2,3 3,2 2", ""},
    {"Pooling", "1,2,7,5", "kernel_h=3"},
    {"Pooling", "1,2,7,5", "pool_method=1 caffe_flavor=1 kernel_w=3 pad_w0=1 pad_w1=1"},
    {"L2Pool", "1,2,7,5", "kernel_h=3 kernel_w=2 stride_h=2 stride_w=1"},
    {"PriorBox", "1,2,3,3 1,3,30,30",
     "min_size=4 max_size=9 aspect_ratio=2,3 variance=0.1,0.1,0.2,0.2 flip=1"},
    {"DetectionOutput", "1,24 1,18 1,2,24,1", "num_classes=3 confidence_threshold=0.01"},
    {"Region", "1,14,2,2", "num_classes=2 num_box=2 coords=4 biases=1,2,3,4"},
    {"DetectionPostProcess", "1,4,5 1,3,5 5,4",
     "num_classes=2 max_detections=3 max_classes_per_detection=1 scales=10,10,5,5"},
    {"Rpn", "1,6,2,3 1,12,2,3 1,3",
     "ratios=0.5,1,2 anchor_scales=2 basesize=16 min_size=1 per_nms_topn=20 post_nms_topn=6 "
     "nms_thresh=0.5"},
    {"RoiPooling", "1,2,6,6 1,3,4", "pooled_h=2 pooled_w=3"},
    {"Roialign", "1,2,6,6 1,3,4", "pooled_height=2 pooled_width=3 spatial_scale=1"},
    {"Psroipooling", "1,8,6,6 1,3,4", "pooled_h=2 pooled_w=2 output_dim=2 spatial_scale=1"},
    {"SpatialTransformer", "2,3,5,5 2,6", "sampler_type=1 transformer_type=0 target_shape=4,3"},
    {"Lstm", "3,2,5 1,8,5 1,8,2 1,16", "hidden_size=2"},
    {"Gru", "3,2,5 1,6,5 1,6,2 1,12", "hidden_size=2"},
    {"RNN", "3,2,5 7,2 2", "hidden_size=2 input_size=5 output_len=2"},
    {"Reshape", "1,4,3,2", "re_shape=0,-1,2 is_onnx=1"},
    {"Reshape", "1,4,3,2", "re_shape=0,-1,2"},
    {"Transpose", "1,4,3,2", "tr_shape=0,2,3,1"},
    {"Permute", "1,4,3,2", "flag=1 order0=0 order1=2 order2=3 order3=1"},
    {"Expand", "1,1,3", "ex_shape=2,4,3"},
    {"Tile", "1,2,3", "reps=2,1,2"},
    {"Unsqueeze", "2,3", "axises=0,2"},
    {"Squeeze", "1,4,1,2", "dim_0=0 dim_2=2"},
    {"StridedSlice", "1,4,3,2", "begin=0,0,0,0 end=1,3,3,2 stride=1,1,1,1"},
    {"Slice", "1,6,4,4", "begin_=0,1,0,0 size_=1,2,3,4"},
    {"Slice", "1,6,4,4", "iscaffe=1 axis=1 slice_point_=2"},
    {"Slice", "1,6,4,4", "isonnx=1 axis=2 begin=1 end=3"},
    {"Spacetobatchnd", "1,2,4,6", "dilation_x=2 dilation_y=2"},
    {"Batchtospacend", "4,2,2,3", "dilation_x=2 dilation_y=2"},
    {"Reverse", "1,2,3,4 i1", ""},
    {"Embedding", "i2,3 5,4", "num_output=4 input_dim=5 weight_data_size=20"},
    {"Crop", "1,4,6,6 1,4,3,3", "num_args=2 axis=2 offset_h=1 offset_w=1"},
    {"Crop", "1,4,6,6", "num_args=1 crop_h=3 crop_w=3 center_crop=1"},
    {"Pad", "1,2,3,4", "pad_2_h=1 pad_2_w=1 pad_3_h=0 pad_3_w=2"},
    {"Interp", "1,2,3,4", "height_scale=2 width_scale=2"},
    {"Interp", "1,2,3,4", "resize_type=2 output_height=5 output_width=3"},
    {"Upsample", "1,2,3,4", "scale=2"},
    {"Resize", "1,2,3,4", "scale_h=2 scale_w=1.5 type=1"},
};

const Sample kOnnxSamples[] = {
    {"Conv", "1,4,7,5 6,2,3,3 6", "group=2 pads=1,1,1,1 strides=2,1"},
    {"ConvTranspose", "1,4,5,4 4,3,3,3 6", "group=2 strides=2,2 output_padding=1,1"},
    {"AveragePool", "1,2,7,5", "kernel_shape=3,2 strides=2,1 pads=1,0,1,1"},
    {"MaxPool", "1,2,7,5", "kernel_shape=3,2 strides=2,1 pads=1,0,1,1"},
    {"Gemm", "2,3 4,3 4", "transB=1"},
    {"Gemm", "2,3 3,4 2,4", "alpha=0.5"},
    {"LSTM", "3,2,5 1,8,5 1,8,2 1,16", "hidden_size=2"},
    {"GRU", "3,2,5 1,6,5 1,6,2 1,12", "hidden_size=2 linear_before_reset=1"},
    {"LRN", "1,4,3,3", "size=3"},
    {"BatchNormalization", "1,3,4,4 3 3 3 3", ""},
    {"InstanceNormalization", "2,3,4,4 3 3", ""},
    {"MeanVarianceNormalization", "2,3,4,4", "axes=0,2,3"},
    {"LpNormalization", "1,4,3,3", "axis=1 p=2"},
    {"Pad", "1,2,3,4 =0,0,1,0,0,0,2,1", "mode=constant"},
    {"Pad", "1,2,3,4 =0,0,1,0,0,0,2,1", "mode=edge"},
    {"Pad", "1,2,3,4 =0,0,1,0,0,0,2,1", "mode=reflect"},
    {"Slice", "1,6,4,4 =1,0 =4,3 =1,2 =1,2", ""},
    {"Slice", "1,6,4,4 =1,0 =4,3", ""},
    {"Slice", "1,6,4,4 =5 =-9 =1 =-2", ""},
    {"Slice", "1,6,4,4 =1 =3 =2", ""},
    {"Resize", "1,2,3,4 - - =1,2,6,8", "mode=nearest coordinate_transformation_mode=asymmetric"},
    {"Resize", "1,2,3,4 - - =1,2,6,8",
     "mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor"},
    {"Resize", "1,2,3,4 - - =1,2,5,7", "mode=linear"},
    {"Resize", "1,2,3,4 - - =1,2,5,7", "mode=linear coordinate_transformation_mode=align_corners"},
    {"Tile", "1,2,3 =1,2,2", ""},
    {"Expand", "1,1,3 =2,4,3", ""},
    {"Reshape", "1,4,3,2 =0,-1,2", ""},
    {"Unsqueeze", "2,3 =0,3", ""},
    {"Squeeze", "1,4,1,2 =0,2", ""},
    {"Transpose", "1,4,3,2", "perm=0,2,3,1"},
    {"Split", "1,6,4 =2,4", "axis=1"},
    {"TopK", "2,6 =3", ""},
    {"DepthToSpace", "1,8,3,3", "blocksize=2 mode=CRD"},
    {"SpaceToDepth", "1,3,4,4", "blocksize=2"},
    {"ReduceMean", "2,3,4 =1", "keepdims=0"},
    {"ReduceSum", "2,3,4,2 =1,2", "keepdims=1"},
    {"ReduceL2", "2,3,4 =2", "keepdims=0"},
    {"PRelu", "1,3,4,4 3,1,1", ""},
};

std::vector<const Sample*> find_samples(const method& row)
{
    std::vector<const Sample*> found;
    const auto add_from = [&](const auto& samples) {
        for (const Sample& sample : samples)
            if (std::strcmp(sample.op, row.name) == 0) found.push_back(&sample);
    };
    if (row.tengine)
        add_from(kSamples);
    else
        add_from(kOnnxSamples);
    return found;
}

std::vector<std::string> split_text(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

std::vector<int64_t> read_integers(const std::string& text)
{
    std::vector<int64_t> values;
    for (const std::string& part : split_text(text, ','))
        values.push_back(std::atoll(part.c_str()));
    return values;
}

void set_text(node* target, const std::string& name, const std::string& value)
{
    const op_field_t* field = find_op_field(target->op.method, name.c_str(), target->op.version);
    ASSERT_NE(field, nullptr) << name;
    const std::vector<int64_t> integers = read_integers(value);
    std::vector<float> floats;
    for (const std::string& part : split_text(value, ','))
        floats.push_back(static_cast<float>(std::atof(part.c_str())));
    int status = TENGINE_EINVAL;
    if (field->kind == OP_FIELD_STRING)
        status = set_node_text(target, field->name, value.c_str(), value.size());
    if (field->kind == OP_FIELD_INT) status = set_node_int(target, field->name, integers[0]);
    if (field->kind == OP_FIELD_FLOAT) status = set_node_float(target, field->name, floats[0]);
    if (field->kind == OP_FIELD_INTS)
        status =
            set_node_ints(target, field->name, integers.data(), static_cast<int>(integers.size()));
    if (field->kind == OP_FIELD_FLOATS)
        status =
            set_node_floats(target, field->name, floats.data(), static_cast<int>(floats.size()));
    ASSERT_EQ(status, TENGINE_OK) << tengine_error_message();
}

// Sizes are drawn small; a few of them, so that shapes meet by chance.
constexpr int kHidden = 2;

void print_shape(std::ostream& out, const tensor* tensor)
{
    out << ' ' << get_data_type_name(tensor->data_type)
        << (tensor->tensor_type == TENSOR_TYPE_CONST ? "!" : "") << '[';
    for (int i = 0; i < tensor->dim_num; i++)
        out << (i ? "," : "") << tensor->dims[i];
    out << ']';
    if (tensor->quant_param_num > 0) out << 'q' << tensor->quant_param_num;
}

double draw_number(Dice& dice, bool is_wild)
{
    if (is_wild && dice.is_one_in(40))
        return dice.pick<double>({kNan, kInfinite, -kInfinite, 1e38, -1e38, 1e-40, 2147483648.0});
    return static_cast<double>(dice.between(-4000, 4000)) / 1000;
}

// Any number as an element of type T, whether it fits or not.
template <class T>
T convert(double value)
{
    if constexpr (cpu::is_float<T>) {
        return static_cast<T>(static_cast<float>(value));
    } else {
        if (!(value >= -2147483648.0 && value < 2147483648.0)) return std::numeric_limits<T>::max();
        return static_cast<T>(static_cast<int64_t>(value));
    }
}

bool is_small(const std::vector<int>& dims)
{
    double elements = 1;
    for (const int dim : dims)
        elements *= dim;
    return elements < 65536;
}

int get_storage_type(int data_type)
{
    return data_type == TENGINE_DT_BOOL ? TENGINE_DT_UINT8 : data_type;
}

uint64_t read_environment(const char* name, uint64_t otherwise)
{
    const char* value = std::getenv(name);
    return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace

RandomCase::RandomCase(const method& row, uint64_t seed, bool is_wild)
    : row_(row), seed_(seed), is_wild_(is_wild), dice_(seed * 2654435761u + 99)
{
    const std::string domain = row.domain && *row.domain ? std::string(row.domain) + '.' : "";
    base_ = any_shape();
    node_ = builder_.add(domain + row.name, {}, {"subject"});
    const std::vector<const Sample*> samples = find_samples(row);
    if (!samples.empty() && !dice_.is_one_in(4)) {
        const Sample& sample = *dice_.pick(samples);
        add_sample(sample.inputs, sample.fields);
    } else {
        add_inputs();
        set_fields(static_cast<int>(dice_.between(1, 6)));
    }
    add_outputs();
}

// The sample, with few things changed.
void RandomCase::add_sample(const std::string& inputs, const std::string& fields)
{
    is_faithful_ = true;
    const int rarely = static_cast<int>(dice_.between(2, 20));
    for (std::string text : split_text(inputs, ' ')) {
        if (text == "-") {
            connect('-', nullptr);
            continue;
        }
        if (text[0] == '=') {
            add_list(read_integers(text.substr(1)), rarely);
            continue;
        }
        const bool is_integer = text[0] == 'i';
        if (is_integer) text.erase(0, 1);
        std::vector<int> dims;
        for (const int64_t dim : read_integers(text))
            dims.push_back(static_cast<int>(dim));
        if (dice_.is_one_in(rarely * 2)) dims = any_shape();
        if (!dims.empty() && dice_.is_one_in(rarely))
            dims[static_cast<size_t>(dice_.between(0, static_cast<int64_t>(dims.size()) - 1))] =
                static_cast<int>(dice_.between(0, 7));
        connect(is_integer ? 'k' : 'x', &dims);
        if (node_->input_num == 1) base_ = dims;
    }
    if (dice_.is_one_in(rarely)) add_input('s');
    for (const std::string& field : split_text(fields, ' ')) {
        const size_t sign = field.find('=');
        set_text(node_, field.substr(0, sign), field.substr(sign + 1));
    }
    set_fields(rarely);
}

void RandomCase::add_outputs()
{
    const int most = row_.max_output < 0 ? 4 : std::min(row_.max_output, 8);
    const bool is_any = is_wild_ && dice_.is_one_in(8);
    const int64_t number =
        is_any ? dice_.between(1, 5) : dice_.between(std::min(row_.min_output, most), most);
    std::vector<int32_t> outputs = {node_->output_tensors[0]};
    for (int i = 1; i < number; i++) {
        tensor* output = create_ir_tensor(builder_.get(), nullptr, TENGINE_DT_FP32);
        EXPECT_EQ(set_ir_node_output_tensor(node_, i, output), TENGINE_OK);
        outputs.push_back(output->index);
    }
    EXPECT_EQ(set_ir_graph_output_tensor(builder_.get(), outputs.data(),
                                         static_cast<int>(outputs.size())),
              TENGINE_OK);
}

// ---- inputs ----

void RandomCase::add_inputs()
{
    const auto found = kKinds.find(row_.name);
    const std::string kinds = found == kKinds.end() ? "xs" : found->second;
    const int most = row_.max_input < 0 ? 4 : std::min(row_.max_input, 8);
    const bool is_any = is_wild_ && dice_.is_one_in(10);
    const int64_t number =
        is_any ? dice_.between(0, 8) : dice_.between(std::min(row_.min_input, most), most);
    for (size_t i = 0; i < static_cast<size_t>(number); i++) {
        char kind = kinds[std::min(i, kinds.size() - 1)];
        if (static_cast<int>(i) >= row_.min_input && dice_.is_one_in(4)) kind = '-';
        if (is_wild_ && dice_.is_one_in(20)) kind = dice_.pick<char>({'-', 'x', 'i', 'c'});
        add_input(kind);
    }
}

void RandomCase::add_input(char kind)
{
    const std::vector<int> dims =
        node_->input_num == 0 || kind == '-' ? base_ : shape_of_kind(kind);
    connect(kind, kind == '-' ? nullptr : &dims);
}

// A constant list of integers.
void RandomCase::add_list(std::vector<int64_t> values, int rarely)
{
    for (int64_t& value : values)
        if (dice_.is_one_in(rarely * 2)) value = any_int();
    const std::string name = "x" + std::to_string(node_->input_num);
    tensor* made = builder_.ints(name, values);
    EXPECT_EQ(set_ir_node_input_tensor(node_, node_->input_num, made), TENGINE_OK);
}

// The node's next input, absent without `dims`.
void RandomCase::connect(char kind, const std::vector<int>* dims)
{
    const int place = node_->input_num;
    tensor* made = nullptr;
    if (dims) {
        const std::string name = "x" + std::to_string(place);
        const bool is_meant = place == 0 ? dice_.is_one_in(12) : !dice_.is_one_in(4);
        const bool is_constant = is_meant && is_small(*dims);
        const int type = any_type(kind);
        made = is_constant ? builder_.constant<uint8_t>(name, *dims, {}, type)
                           : builder_.input(name, *dims, type);
        if (is_wild_ && row_.tengine) quantize(made);
        if (is_constant) fill_tensor(made, seed_ + static_cast<uint64_t>(place), is_wild_);
    }
    EXPECT_EQ(set_ir_node_input_tensor(node_, place, made), TENGINE_OK);
}

std::vector<int> RandomCase::any_shape()
{
    if (!dice_.is_one_in(5)) {
        const int64_t rank = dice_.is_one_in(3) ? dice_.between(2, 5) : 4;
        std::vector<int> dims;
        for (int64_t i = 0; i < rank; i++)
            dims.push_back(static_cast<int>(i == 0 ? dice_.between(1, 2) : dice_.between(1, 6)));
        return dims;
    }
    if (is_wild_ && dice_.is_one_in(8))
        return dice_.pick<std::vector<int>>(
            {{0, kMost, 1}, {1, 0, kMost, 4096}, {0, 1, 65536, 65536}, {kMost, 0}});
    std::vector<int> dims(static_cast<size_t>(dice_.between(0, 6)));
    for (int& dim : dims)
        dim = static_cast<int>(dice_.between(0, 7) * dice_.between(1, 7) / 7);
    return dims;
}

std::vector<int> RandomCase::shape_of_kind(char kind)
{
    if (dice_.is_one_in(is_wild_ ? 8 : 16)) return any_shape();
    const int channels = base_.size() > 1 ? base_[1] : 1;
    const int last = base_.empty() ? 1 : base_.back();
    const auto small = [this] { return static_cast<int>(dice_.between(1, 3)); };
    switch (kind) {
        case 'c':
            return dice_.is_one_in(8) ? std::vector<int>{channels, 1, 1}
                                      : std::vector<int>{channels};
        case 'o':
            return {small()};
        case 'l':
            return {last};
        case 'w': {
            if (std::strcmp(row_.name, "LSTM") == 0 || std::strcmp(row_.name, "GRU") == 0)
                return {1, (row_.name[0] == 'L' ? 4 : 3) * kHidden, last};
            std::vector<int> dims = {small(), dice_.is_one_in(3) ? 1 : channels};
            for (size_t i = 2; i < base_.size(); i++)
                dims.push_back(small());
            return dims;
        }
        case 'r':
            return {1, (row_.name[0] == 'L' ? 4 : 3) * kHidden, kHidden};
        case 'h':
            return {1, channels, kHidden};
        case 'v': {
            std::vector<int> dims = {channels, small()};
            for (size_t i = 2; i < base_.size(); i++)
                dims.push_back(small());
            return dims;
        }
        case 'm':
            return {last, small()};
        case 'n':
            return {small(), last};
        case 'i':
        case 'f':
            return {static_cast<int>(dice_.is_one_in(2) ? static_cast<int64_t>(base_.size())
                                                        : dice_.between(0, 5))};
        case 'b':
            if (row_.name[0] == 'L') return {1, 8 * kHidden};
            if (row_.name[0] == 'G') return {1, 6 * kHidden};
            return base_;
        case 'k':
            return {1};
        case 'e':
            return {};
        case 'p':
            return dice_.is_one_in(2) ? base_ : std::vector<int>{small()};
        default:
            break;
    }
    if (dice_.is_one_in(3)) return base_;
    // One that broadcasts: some dimensions are 1, leading ones are left out.
    std::vector<int> dims = base_;
    for (int& dim : dims)
        if (dice_.is_one_in(3)) dim = 1;
    if (dice_.is_one_in(3) && !dims.empty())
        dims.erase(dims.begin(),
                   dims.begin() + dice_.between(0, static_cast<int64_t>(dims.size())));
    return dims;
}

int RandomCase::any_type(char kind)
{
    if (is_wild_ && dice_.is_one_in(is_faithful_ ? 20 : 4))
        return dice_.pick<int>({TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_INT8, TENGINE_DT_UINT8,
                                TENGINE_DT_INT32, TENGINE_DT_INT16, TENGINE_DT_INT64,
                                TENGINE_DT_BOOL});
    const bool is_recurrent = row_.name[0] == 'L' || row_.name[0] == 'G';
    if (kind == 'b' && !is_recurrent) return TENGINE_DT_BOOL;
    if (kind == 'i' || kind == 'k' || kind == 'p')
        return row_.tengine ? TENGINE_DT_INT32 : TENGINE_DT_INT64;
    return TENGINE_DT_FP32;
}

// One scale, or some; numbers that make sense or not.
void RandomCase::quantize(tensor* target)
{
    const bool is_integer = target->data_type == TENGINE_DT_INT8 ||
                            target->data_type == TENGINE_DT_UINT8 ||
                            target->data_type == TENGINE_DT_INT32;
    if (!is_integer ? !dice_.is_one_in(60) : dice_.is_one_in(3)) return;
    const int channels = target->dim_num > 0 ? target->dims[0] : 1;
    const auto number = static_cast<size_t>(
        dice_.is_one_in(2)
            ? 1
            : std::max<int64_t>(1, dice_.is_one_in(3) ? dice_.between(1, 5) : channels));
    std::vector<float> scales(number);
    std::vector<int> zero_points(number);
    for (size_t i = 0; i < number; i++) {
        scales[i] = dice_.is_one_in(20) ? dice_.pick<float>({0, -1, kNan, kInfinite, 1e38f, 1e-45f})
                                        : 0.03125f;
        zero_points[i] = dice_.is_one_in(20) ? dice_.pick<int>({kLeast, kMost, -1, 300})
                         : is_integer        ? 3
                                             : 0;
        if (target->data_type == TENGINE_DT_INT32 && !dice_.is_one_in(20)) zero_points[i] = 0;
    }
    EXPECT_EQ(set_ir_tensor_quantization_parameter(target, scales.data(), zero_points.data(),
                                                   static_cast<int>(number)),
              TENGINE_OK);
}

// ---- attributes ----

int64_t RandomCase::any_int()
{
    if (is_wild_ && dice_.is_one_in(3))
        return dice_.pick<int64_t>({kLeast, kLeast + 1, -65537, -65536, -4096, -100, -1, 0, 1, 100,
                                    255, 4096, 65535, 65537, 1 << 30, kMost - 1, kMost});
    return dice_.is_one_in(8) ? dice_.between(-6, 12) : dice_.between(-1, 4);
}

double RandomCase::any_float()
{
    if (is_wild_ && dice_.is_one_in(4))
        return dice_.pick<double>(
            {kNan, kInfinite, -kInfinite, 1e38, -1e38, 3e38, 1e-45, -0.0, 1e9, -1e9, 65536.0});
    return dice_.is_one_in(3) ? static_cast<double>(dice_.between(-4, 4))
                              : static_cast<double>(dice_.between(-3000, 3000)) / 1000;
}

// One field in `rarely` gets a value.
void RandomCase::set_fields(int rarely)
{
    const bool is_recurrent = !row_.tengine && row_.max_input >= 6 && row_.max_input <= 8;
    if (is_recurrent && !dice_.is_one_in(8) &&
        find_op_field(&row_, "hidden_size", row_.version) != nullptr)
        set_node_int(node_, "hidden_size", kHidden);
    for (int i = 0; i < row_.field_num; i++)
        if (row_.fields[i].required || dice_.is_one_in(rarely)) set_field(row_.fields[i]);
}

// A value out of the field's range is refused, and the field then stays as it was.
void RandomCase::set_field(const op_field_t& field)
{
    const int64_t number = is_wild_ && dice_.is_one_in(10)
                               ? dice_.pick<int64_t>({0, 7, 8, 9, 16, 17, 1000, 5000})
                               : dice_.between(0, 6);
    const int short_number = static_cast<int>(number);
    if (field.kind == OP_FIELD_INT) {
        const bool is_small = field.maximum > field.minimum && field.maximum < 64;
        set_node_int(node_, field.name,
                     is_small && !dice_.is_one_in(4)
                         ? dice_.between(static_cast<int64_t>(field.minimum),
                                         static_cast<int64_t>(field.maximum))
                         : any_int());
    } else if (field.kind == OP_FIELD_FLOAT) {
        set_node_float(node_, field.name, static_cast<float>(any_float()));
    } else if (field.kind == OP_FIELD_INTS) {
        std::vector<int64_t> values(static_cast<size_t>(number));
        for (int64_t& value : values)
            value = is_wild_ && dice_.is_one_in(60) ? dice_.pick<int64_t>({kLeastLong, kMostLong})
                                                    : any_int();
        set_node_ints(node_, field.name, values.data(), short_number);
    } else if (field.kind == OP_FIELD_FLOATS) {
        std::vector<float> values(static_cast<size_t>(number));
        for (float& value : values)
            value = static_cast<float>(any_float());
        set_node_floats(node_, field.name, values.data(), short_number);
    } else if (field.kind == OP_FIELD_STRING) {
        std::vector<std::string> choices = {""};
        std::stringstream list(field.choices ? field.choices : "NOTSET|bias|x");
        for (std::string choice; std::getline(list, choice, '|');)
            choices.push_back(choice);
        const std::string text = dice_.pick(choices);
        set_node_text(node_, field.name, text.c_str(), text.size());
    }
}

std::string RandomCase::describe() const
{
    std::ostringstream out;
    out << row_.name << ' ' << seed_ << ':';
    for (int i = 0; i < node_->input_num; i++)
        if (const tensor* input = get_ir_node_input(node_, i))
            print_shape(out, input);
        else
            out << " -";
    out << " > " << node_->output_num << ' ';
    text_t params = {};
    print_node_params(node_, &params);
    if (params.data) out << std::string(params.data).substr(0, 600);
    free_text(&params);
    return out.str();
}

// ---- running ----

void fill_tensor(tensor* target, uint64_t seed, bool is_wild)
{
    Dice dice(seed * 7919 + 1);
    cpu::dispatch_type(cpu::NumberTypes{}, get_storage_type(target->data_type), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (int64_t i = 0; i < target->elem_num; i++) {
            const double value = draw_number(dice, is_wild);
            static_cast<T*>(target->data)[i] =
                target->data_type == TENGINE_DT_BOOL ? convert<T>(value > 0) : convert<T>(value);
        }
        return TENGINE_OK;
    });
}

std::vector<double> read_tensor(const tensor* from)
{
    std::vector<double> values;
    cpu::dispatch_type(cpu::NumberTypes{}, get_storage_type(from->data_type), [&](auto tag) {
        const auto* data = static_cast<const typename decltype(tag)::type*>(from->data);
        for (int64_t i = 0; i < from->elem_num; i++)
            values.push_back(static_cast<double>(data[i]));
        return TENGINE_OK;
    });
    return values;
}

int64_t measure_run(const graph* source)
{
    graph* execution = make_execution_graph(source);
    if (!execution) return -1;
    int64_t cost = 0;
    for (int i = 0; i < execution->tensor_num; i++)
        cost += static_cast<int64_t>(
            std::min<size_t>(get_ir_tensor_bytes(execution->tensor_list[i]), size_t{1} << 50));
    for (int i = 0; i < execution->node_num; i++)
        cost += get_ir_node_macs(execution->node_list[i]) / 16;
    destroy_ir_graph(execution);
    return cost;
}

int run_once(graph* source, uint64_t seed, bool is_wild)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    const int status = prerun_ir_graph(source, &options);
    if (status < 0) return status;
    for (int i = 0; i < source->input_tensor_num; i++) {
        tensor* input = source->tensor_list[source->input_tensors[i]];
        if (!input->data) {
            EXPECT_EQ(allocate_ir_tensor(input), TENGINE_OK);
        }
        fill_tensor(input, seed + 100 + static_cast<uint64_t>(i), is_wild);
    }
    return run_ir_graph(source, 1);
}

// ---- the environment ----

CaseRange get_case_range(int usual)
{
    const uint64_t first = read_environment("TENGINE_RANDOM_SEED", 1);
    return {first, first + read_environment("TENGINE_RANDOM_CASES", static_cast<uint64_t>(usual))};
}

bool is_operator_wanted(const std::string& name)
{
    const char* wanted = std::getenv("TENGINE_RANDOM_OP");
    return !wanted || name == wanted;
}

void log_case(const RandomCase& subject)
{
    static const bool is_logging = std::getenv("TENGINE_RANDOM_LOG") != nullptr;
    if (is_logging) std::fprintf(stderr, "%s\n", subject.describe().c_str());
}

}  // namespace tengine::test
