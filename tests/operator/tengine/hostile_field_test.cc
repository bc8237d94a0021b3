// SPDX-License-Identifier: Apache-2.0
// Fields with hostile values: preparing succeeds or fails with a message, and never divides by
// zero, overflows or reads beyond a weight (sanitizers check that).
#include <limits>

#include "operator/operator.h"
#include "tengine_case.h"

namespace tengine::test {
namespace {

struct Subject
{
    const char* op;
    std::vector<int> input;
    std::vector<std::vector<int>> constants;
    std::vector<std::pair<const char*, int>> fields;  // fields that make it valid
};

const Subject kSubjects[] = {
    {"Convolution",
     {1, 4, 7, 5},
     {{6, 2, 3, 3}, {6}},
     {{"kernel_h", 3}, {"kernel_w", 3}, {"group", 2}, {"output_channel", 6}}},
    {"Deconvolution",
     {1, 4, 7, 5},
     {{4, 3, 3, 3}, {6}},
     {{"kernel_h", 3}, {"kernel_w", 3}, {"group", 2}, {"num_output", 6}}},
    {"FullyConnected", {2, 3, 5}, {{7, 15}, {7}}, {{"num_output", 7}}},
    {"Gemm", {2, 3}, {{3, 2}, {2}}, {}},
    {"Pooling", {1, 2, 7, 5}, {}, {{"kernel_h", 3}}},
    {"L2Pool",
     {1, 2, 7, 5},
     {},
     {{"kernel_h", 3}, {"kernel_w", 2}, {"stride_h", 2}, {"stride_w", 1}}},
    {"BatchNormalize", {1, 3, 2, 2}, {{3}, {3}, {3}, {3}}, {}},
    {"Scale", {1, 3, 2, 2}, {{3}, {3}}, {}},
    {"Bias", {1, 3, 2, 2}, {{3}}, {}},
    {"InstanceNorm", {1, 3, 2, 2}, {{3}, {3}}, {}},
    {"LayerNorm", {1, 3, 2, 2}, {{2}, {2}}, {}},
    {"Lrn", {1, 3, 2, 2}, {}, {}},
    {"Normalize", {1, 3, 2, 2}, {{3}}, {}},
    {"Mvn", {1, 3, 2, 2}, {}, {}},
    {"Softmax", {1, 3, 2, 2}, {}, {}},
    {"LogSoftmax", {1, 3, 2, 2}, {}, {}},
};

class HostileField : public testing::TestWithParam<Subject>
{
  public:
    static void fill(TengineCase& test)
    {
        const Subject& subject = GetParam();
        test.input(make_array(subject.input));
        for (size_t i = 0; i < subject.constants.size(); ++i)
            test.constant(make_array(subject.constants[i], static_cast<int>(i)));
        for (const auto& [name, value] : subject.fields)
            test.attr(name, value);
    }
    static std::string name() { return std::string("tengine.") + GetParam().op; }
};

// Sets both fields; equal fields get the second value.
void try_values(const op_field_t& first, int one, const op_field_t& second, int other)
{
    TengineCase test(HostileField::name());
    HostileField::fill(test);
    for (const auto& [field, value] : {std::pair(&first, one), {&second, other}}) {
        if (field->kind == OP_FIELD_INT)
            test.attr(field->name, value);
        else
            test.attr(field->name, value == 0 ? 0.0 : 1e30 / value);
    }
    if (!test.is_lowered()) {
        EXPECT_STRNE(tengine_error_message(), "");
    }
}

TEST_P(HostileField, NeverBreaks)
{
    constexpr int kLeast = std::numeric_limits<int>::min();
    constexpr int kMost = std::numeric_limits<int>::max();
    TengineCase valid(name());
    fill(valid);
    EXPECT_TRUE(valid.is_lowered()) << tengine_error_message();
    const method& row = *valid.get_node()->op.method;
    for (int i = 0; i < row.field_num; ++i) {
        const op_field_t& field = row.fields[i];
        for (const int value :
             {kLeast, -65536, -3, -2, -1, 0, 1, 2, 3, 7, 16, 17, 18, 65536, kMost})
            try_values(field, 0, field, value);
        for (int k = i + 1; k < row.field_num; ++k)
            for (const int value : {kLeast, -1, 0, 2, kMost})
                for (const int other : {kLeast, -1, 0, 2, kMost})
                    try_values(field, value, row.fields[k], other);
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, HostileField, testing::ValuesIn(kSubjects),
                         [](const auto& row) { return row.param.op; });

}  // namespace
}  // namespace tengine::test
