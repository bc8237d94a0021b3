// SPDX-License-Identifier: Apache-2.0
// Whole detectors of Tengine's operators as their converters wrote them: an SSD like the sample
// file mssd.tmfile, and the nodes after the proposals of Faster R-CNN, against plain
// implementations.
#include <functional>

#include "naive_detection.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"

namespace tengine::test {
namespace {

class Detector
{
  public:
    ~Detector() { postrun_ir_graph(builder_.get()); }

    void input(const std::string& name, const Array& value)
    {
        builder_.input(name, value.dims);
        fed_.push_back(value);
    }
    void constant(const std::string& name, const Array& value)
    {
        builder_.floats(name, value.dims, {value.values.begin(), value.values.end()});
    }
    void add(const std::string& op, const std::vector<std::string>& inputs, const std::string& name)
    {
        node_ = builder_.add("tengine." + op, inputs, {name});
    }
    void set(const char* name, int value)
    {
        EXPECT_EQ(set_node_int(node_, name, value), TENGINE_OK) << tengine_error_message();
    }
    void set(const char* name, const std::vector<float>& values)
    {
        EXPECT_EQ(set_node_floats(node_, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }
    void set(const char* name, const std::vector<int64_t>& values)
    {
        EXPECT_EQ(set_node_ints(node_, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }
    void set(const char* name, double value)
    {
        EXPECT_EQ(set_node_float(node_, name, static_cast<float>(value)), TENGINE_OK);
    }

    Array run(const std::string& output)
    {
        builder_.outputs({output});
        graph* graph = builder_.get();
        ir_run_options_t options = {};
        options.num_thread = 1;
        if (prerun_ir_graph(graph, &options) < 0) {
            ADD_FAILURE() << tengine_error_message();
            return {};
        }
        for (size_t i = 0; i < fed_.size(); ++i) {
            tensor* target = graph->tensor_list[graph->input_tensors[i]];
            EXPECT_EQ(allocate_ir_tensor(target), TENGINE_OK);
            std::copy(fed_[i].values.begin(), fed_[i].values.end(), target->f32);
        }
        if (run_ir_graph(graph, 1) < 0) {
            ADD_FAILURE() << tengine_error_message();
            return {};
        }
        const tensor* result = builder_.find(output);
        return {{result->dims, result->dims + result->dim_num},
                {result->f32, result->f32 + result->elem_num}};
    }

  private:
    IrBuilder builder_;
    node* node_ = nullptr;
    std::vector<Array> fed_;
};

// A convolution without padding and with a stride of its kernel's size.
struct Conv
{
    Array weight, bias;
    int kernel;

    Conv(int outputs, int inputs, int kernel_size, int seed, double scale)
        : weight(make_array({outputs, inputs, kernel_size, kernel_size}, seed, scale)),
          bias(make_array({outputs}, seed + 1, scale)),
          kernel(kernel_size)
    {
    }

    Array apply(const Array& x) const
    {
        const int channels = x.dims[1], height = x.dims[2] / kernel, width = x.dims[3] / kernel;
        Array made{{1, weight.dims[0], height, width}, {}};
        for (int o = 0; o < weight.dims[0]; ++o)
            for (int y = 0; y < height; ++y)
                for (int z = 0; z < width; ++z) {
                    double sum = bias.values[static_cast<size_t>(o)];
                    for (int i = 0; i < channels * kernel * kernel; ++i) {
                        const int c = i / (kernel * kernel), ky = i / kernel % kernel;
                        const int row = y * kernel + ky, column = z * kernel + i % kernel;
                        sum +=
                            weight.values[static_cast<size_t>(o * channels * kernel * kernel + i)] *
                            x.values[static_cast<size_t>((c * x.dims[2] + row) * x.dims[3] +
                                                         column)];
                    }
                    made.values.push_back(sum);
                }
        return made;
    }

    void add(Detector& detector, const std::string& input, const std::string& name) const
    {
        detector.constant(name + "_w", weight);
        detector.constant(name + "_b", bias);
        detector.add("Convolution", {input, name + "_w", name + "_b"}, name);
        for (const char* field : {"kernel_h", "kernel_w", "stride_h", "stride_w"})
            detector.set(field, kernel);
        detector.set("output_channel", weight.dims[0]);
    }
};

// The numbers of all cells one after the other, in the order of Permute and Flatten.
std::vector<double> by_cells(const Array& x)
{
    const int cells = x.dims[2] * x.dims[3];
    std::vector<double> made;
    for (int cell = 0; cell < cells; ++cell)
        for (int c = 0; c < x.dims[1]; ++c)
            made.push_back(x.values[static_cast<size_t>(c * cells + cell)]);
    return made;
}

void softmax_rows(std::vector<double>& values, size_t columns)
{
    for (size_t start = 0; start < values.size(); start += columns) {
        double sum = 0;
        for (size_t i = 0; i < columns; ++i)
            sum += values[start + i] = std::exp(values[start + i]);
        for (size_t i = 0; i < columns; ++i)
            values[start + i] /= sum;
    }
}

void append(std::vector<double>& to, const std::vector<double>& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

constexpr int kClasses = 4;

// One feature map of the SSD with its boxes.
struct Branch
{
    std::string name;
    Conv backbone;
    float min_size, max_size;  // 0: none
    std::vector<float> ratios;
    Conv locations, scores;

    Branch(const std::string& branch_name, const Conv& conv, float min, float max,
           const std::vector<float>& aspect_ratios, int seed)
        : name(branch_name),
          backbone(conv),
          min_size(min),
          max_size(max),
          ratios(aspect_ratios),
          locations(priors() * 4, conv.weight.dims[0], 1, seed, 0.9),
          scores(priors() * kClasses, conv.weight.dims[0], 1, seed + 2, 0.9)
    {
    }
    int priors() const { return 1 + (max_size > 0) + 2 * static_cast<int>(ratios.size()); }

    void add(Detector& detector, const std::string& input) const
    {
        backbone.add(detector, input, name);
        locations.add(detector, name, name + "_loc");
        scores.add(detector, name, name + "_conf");
        for (const char* head : {"_loc", "_conf"}) {
            detector.add("Permute", {name + head}, name + head + "_perm");
            detector.set("order1", 2);
            detector.set("order2", 3);
            detector.set("order3", 1);
            detector.add("Flatten", {name + head + "_perm"}, name + head + "_flat");
        }
        detector.add("PriorBox", {name, "data"}, name + "_prior");
        detector.set("min_size", std::vector<float>{min_size});
        if (max_size > 0) detector.set("max_size", std::vector<float>{max_size});
        detector.set("aspect_ratio", ratios);
        detector.set("variance", std::vector<float>{0.1f, 0.1f, 0.2f, 0.2f});
        detector.set("flip", 1);
    }

    Array prior_boxes(const Array& feature, double image) const
    {
        std::vector<double> widths = {min_size};
        if (max_size > 0) widths.push_back(std::sqrt(double{min_size} * max_size));
        std::vector<double> heights = widths;
        for (const double ratio : ratios)
            for (const double root : {std::sqrt(ratio), 1 / std::sqrt(ratio)}) {
                widths.push_back(min_size * root);
                heights.push_back(min_size / root);
            }
        return naive_prior_box(feature.dims[2], feature.dims[3], image / feature.dims[3], 0.5,
                               image, widths, heights, false);
    }
};

void join(Detector& detector, const std::string& what, const std::string& name, int axis)
{
    detector.add("Concat", {"f0" + what, "f1" + what}, name);
    detector.set("axis", axis);
}

TEST(Detector, SsdLikeTheSampleFile)
{
    const Array image = make_array({1, 3, 48, 48}, 5);
    const Branch branches[] = {{"f0", Conv(6, 3, 8, 11, 0.02), 12, 0, {2}, 21},
                               {"f1", Conv(5, 6, 2, 13, 0.2), 20, 32, {2, 3}, 31}};
    Detector detector;
    detector.input("data", image);
    branches[0].add(detector, "data");
    branches[1].add(detector, "f0");
    join(detector, "_loc_flat", "loc", 1);
    join(detector, "_conf_flat", "conf", 1);
    join(detector, "_prior", "prior", 2);
    detector.add("Reshape", {"conf"}, "conf_reshape");
    detector.set("re_shape", std::vector<int64_t>{0, -1, kClasses});
    detector.add("Softmax", {"conf_reshape"}, "conf_softmax");
    detector.set("axis", 2);
    detector.add("Flatten", {"conf_softmax"}, "conf_flat");
    detector.add("DetectionOutput", {"loc", "conf_flat", "prior"}, "detections");
    detector.set("num_classes", kClasses);

    std::vector<double> locations, scores, boxes, variances;
    Array feature = image;
    for (const Branch& branch : branches) {
        feature = branch.backbone.apply(feature);
        append(locations, by_cells(branch.locations.apply(feature)));
        append(scores, by_cells(branch.scores.apply(feature)));
        const std::vector<double> priors = branch.prior_boxes(feature, 48).values;
        const auto middle = priors.begin() + static_cast<int>(priors.size() / 2);
        append(boxes, {priors.begin(), middle});
        append(variances, {middle, priors.end()});
    }
    softmax_rows(scores, kClasses);
    append(boxes, variances);
    const auto expected = naive_detection_output({{}, locations}, {{}, scores}, {{}, boxes},
                                                 kClasses, {100, 100, 0.25, 0.45});
    ASSERT_GT(expected.size(), 10U);
    expect_close(detector.run("detections"), detection_rows(expected), 1e-4);
}

double maximum_of(const Array& map, int channel, const Corners& box, int by, int bx, int bins)
{
    const auto edge = [](double corner) { return static_cast<int>(std::lround(corner / 16)); };
    const auto covers = [&](int first, int last, int bin, int p) {
        const int size = std::max(last - first + 1, 1);
        return p >= first + bin * size / bins && p < first + ((bin + 1) * size + bins - 1) / bins;
    };
    double maximum = -1e30;
    for (int y = 0; y < map.dims[2]; ++y)
        for (int x = 0; x < map.dims[3]; ++x)
            if (covers(edge(box.y0), edge(box.y1), by, y) &&
                covers(edge(box.x0), edge(box.x1), bx, x))
                maximum = std::max(
                    maximum,
                    map.values[static_cast<size_t>((channel * map.dims[2] + y) * map.dims[3] + x)]);
    return maximum < -1e29 ? 0 : maximum;
}

// Proposals have a fixed number of rows, so the nodes that pool and classify them have known
// shapes.
TEST(Detector, FasterRcnnProposalsArePooledAndClassified)
{
    const int bins = 2, channels = 3, outputs = 5;
    const Array scores = random_array({1, 6, 5, 7}, 3), deltas = make_array({1, 12, 5, 7}, 9, 0.4);
    const Array map = make_array({1, channels, 5, 7}, 17);
    const Array weight = make_array({outputs, channels * bins * bins}, 19);
    Detector detector;
    detector.input("scores", scores);
    detector.input("deltas", deltas);
    detector.input("info", {{1, 3}, {80, 112, 1}});
    detector.input("map", map);
    detector.constant("weight", weight);
    detector.add("Rpn", {"scores", "deltas", "info"}, "rois");
    detector.set("ratios", std::vector<float>{0.5f, 1, 2});
    detector.set("anchor_scales", std::vector<float>{2});
    detector.set("basesize", 16);
    detector.set("min_size", 16);
    detector.set("per_nms_topn", 60);
    detector.set("post_nms_topn", 12);
    detector.set("nms_thresh", 0.5);
    detector.add("RoiPooling", {"map", "rois"}, "pooled");
    detector.set("pooled_h", bins);
    detector.set("pooled_w", bins);
    detector.set("spatial_scale", 0.0625);
    detector.add("FullyConnected", {"pooled", "weight"}, "classes");
    detector.set("num_output", outputs);

    const auto proposals = naive_proposals(naive_candidates(scores, deltas, 80, 112, 16), 60, 12);
    ASSERT_EQ(proposals.size(), 12U);
    std::vector<double> expected;
    for (const Detection& proposal : proposals)
        for (int o = 0; o < outputs; ++o) {
            double sum = 0;
            for (int i = 0; i < channels * bins * bins; ++i)
                sum += weight.values[static_cast<size_t>(o * channels * bins * bins + i)] *
                       maximum_of(map, i / (bins * bins), proposal.box, i / bins % bins, i % bins,
                                  bins);
            expected.push_back(sum);
        }
    const Array result = detector.run("classes");
    ASSERT_EQ(result.values.size(), expected.size());
    EXPECT_EQ(result.dims[0], 12);
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(result.values[i], expected[i], 1e-4) << i;
}

}  // namespace
}  // namespace tengine::test
