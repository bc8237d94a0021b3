// SPDX-License-Identifier: Apache-2.0
// See random_sample.h.
#include "random_sample.h"

#include <cstring>
#include <map>

namespace tengine::test {
namespace {

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

}  // namespace

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

std::string find_input_kinds(const std::string& op)
{
    const auto found = kKinds.find(op);
    return found == kKinds.end() ? "xs" : found->second;
}

}  // namespace tengine::test
