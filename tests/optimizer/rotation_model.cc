// SPDX-License-Identifier: Apache-2.0
#include "optimizer/rotation_model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <sstream>

#include "graph/core.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"

namespace tengine::test {

const Dims kHeadsFirst = {kBatch, kHeads, kTokens, kSize};
const Dims kTokensFirst = {kBatch, kTokens, kHeads, kSize};
const Dims kOneHead = {kBatch, kTokens, kSize};

namespace {

const char* const kHalves = "b = Slice x [4] [99] [-1] [1]; f = Slice x [0] [4] [-1] [1]; ";
const char* const kSplitHalves = "f,b = Split x [4,4] axis=-1; ";
const char* const kTurned =
    "n = Neg b; t = Concat n f axis=-1; u = Mul t sin; v = Mul x cos; y = Add v u";
const char* const kJoined =
    "p = Mul f cos; q = Mul b sin; r = Sub p q; k = Mul b cos; l = Mul f sin; m = Add k l; "
    "y = Concat r m axis=-1";
const char* const kNeighbours = "o = Slice x [1] [99] [-1] [2]; e = Slice x [0] [99] [-1] [2]; ";
const char* const kTakenNeighbours =
    "g = Reshape x [2,3,6,4,2]; e = Gather g (0) axis=-1; o = Gather g (1) axis=4; ";
// A Slice of four axes, and a Gather of four that keeps its axis, as tmfiles have them.
const char* const kReshapedSlices =
    "o1 = Reshape x [36,8,1,1]; o2 = Slice o1 [1] [99] [1] [2]; o = Reshape o2 [2,3,6,4]; "
    "e1 = Reshape x [36,8,1,1]; e2 = Slice e1 [0] [99] [1] [2]; e = Reshape e2 [2,3,6,4]; ";
const char* const kReshapedGathers =
    "g = Reshape x [36,4,2]; o1 = Reshape g [144,2,1,1]; o2 = Gather o1 [1] axis=1; "
    "o = Reshape o2 [2,3,6,4]; e1 = Reshape g [144,2,1,1]; e2 = Gather e1 [0] axis=1; "
    "e = Reshape e2 [2,3,6,4]; ";
const char* const kTurnedNeighbours =
    "n = Neg o; a = Unsqueeze n [-1]; c = Unsqueeze e [4]; t = Concat a c axis=-1; "
    "h = Reshape t [2,3,6,8]; u = Mul h sin; v = Mul cos x; y = Add u v";
const char* const kJoinedNeighbours =
    "p = Mul cos e; q = Mul sin o; r = Sub p q; k = Mul cos o; l = Mul sin e; m = Add l k; "
    "a = Unsqueeze r [4]; c = Unsqueeze m [-1]; t = Concat a c axis=4; y = Reshape t [2,3,6,8]";
// As tmfiles have them.
const char* const kReshapedNeighbours =
    "n = Neg o; a = Reshape n [0,0,0,4,1]; c = Reshape e [0,0,0,4,1]; t = Concat a c axis=-1; "
    "h = Reshape t [2,3,6,8]; u = Mul h sin; v = Mul cos x; y = Add u v";
const char* const kJoinedReshapedNeighbours =
    "p = Mul cos e; q = Mul sin o; r = Sub p q; k = Mul cos o; l = Mul sin e; m = Add l k; "
    "a = Reshape r [0,0,0,4,1]; c = Reshape m [0,0,0,4,1]; t = Concat a c axis=4; "
    "y = Reshape t [2,3,6,8]";

std::vector<int64_t> read_list(std::string text)
{
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream words(text.substr(1, text.size() - 2));
    std::vector<int64_t> list;
    for (int64_t each; words >> each;)
        list.push_back(each);
    return list;
}

int count_of(const Dims& dims)
{
    int number = 1;
    for (const int dim : dims)
        number *= dim;
    return number;
}

// The angle of a pair. Batches with tables of their own have other ones.
double angle_of(int batch, int token, int pair)
{
    return static_cast<float>(0.3 * (token + 1) / (pair + 1) + batch);
}

bool has_tokens_first(const Rotation& rotation)
{
    return rotation.x == kTokensFirst;
}

// An element of a table, whose last axes are tokens, heads where those are behind, and pairs.
double table_element(const Rotation& rotation, const Dims& dims, int place, bool is_wide,
                     double (*function)(double))
{
    const int width = dims.back(), column = place % width, row = place / width;
    const int pair = !is_wide ? column : rotation.is_interleaved ? column / 2 : column % kHalf;
    const bool has_batches = dims.size() == rotation.x.size() && dims[0] == kBatch;
    return function(angle_of(has_batches ? row / kTokens : 0, row % kTokens, pair));
}

std::vector<float> fill_table(const Rotation& rotation, const Dims& dims, bool is_wide,
                              double (*function)(double))
{
    std::vector<float> values;
    for (int i = 0; i < count_of(dims); ++i)
        values.push_back(static_cast<float>(table_element(rotation, dims, i, is_wide, function)));
    return values;
}
std::vector<float> draw(const std::string& name)
{
    const int number = kBatch * kHeads * kTokens * kSize;
    const std::vector<double> values = draw_numbers(number, -2, 2, name == "x" ? 1 : 2);
    return std::vector<float>(values.begin(), values.end());
}

}  // namespace

const std::vector<Rotation> kRotations = {
    {kHalves + std::string(kTurned)},
    {kSplitHalves + std::string(kTurned)},
    {kHalves + std::string(kJoined), false, false, kHeadsFirst, {kTokens, kHalf}},
    {kSplitHalves + std::string(kJoined), false, false, kHeadsFirst, {kTokens, kHalf}},
    {kNeighbours + std::string(kTurnedNeighbours), true},
    {kTakenNeighbours + std::string(kTurnedNeighbours), true},
    {kNeighbours + std::string(kJoinedNeighbours), true, false, kHeadsFirst, {kTokens, kHalf}},
    {kTakenNeighbours + std::string(kJoinedNeighbours), true, false, kHeadsFirst, {kTokens, kHalf}},
    {kNeighbours + std::string(kReshapedNeighbours), true},
    {kNeighbours + std::string(kJoinedReshapedNeighbours),
     true,
     false,
     kHeadsFirst,
     {kTokens, kHalf}},
};
const std::vector<Rotation> kReshapedRotations = {
    {kReshapedSlices + std::string(kTurnedNeighbours), true},
    {kReshapedGathers + std::string(kTurnedNeighbours), true},
    {kReshapedSlices + std::string(kJoinedReshapedNeighbours),
     true,
     false,
     kHeadsFirst,
     {kTokens, kHalf}},
    {kReshapedGathers + std::string(kJoinedReshapedNeighbours),
     true,
     false,
     kHeadsFirst,
     {kTokens, kHalf}},
};
std::string exchange(std::string text, const std::string& from, const std::string& to)
{
    const size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from << " in " << text;
    return place == std::string::npos ? text : text.replace(place, from.size(), to);
}
std::vector<std::string> cut(const std::string& text, char at)
{
    std::istringstream words(text);
    std::vector<std::string> list;
    for (std::string each; std::getline(words, each, at);)
        list.push_back(each);
    return list;
}

RotationModel::RotationModel(const Rotation& rotation, context* context)
    : rotation_(rotation), builder_(context)
{
    for (const char* name : {"x", "z"})
        add_input(name, rotation.x, draw(name));
    add_tables();
    add_nodes(rotation.nodes);
    std::vector<int32_t> outputs;
    for (const std::string& name : rotation.outputs)
        outputs.push_back(builder_.find(name)->index);
    EXPECT_EQ(set_ir_graph_output_tensor(builder_.get(), outputs.data(),
                                         static_cast<int>(outputs.size())),
              TENGINE_OK);
}

std::vector<float> RotationModel::run(int precision)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    options.precision = precision;
    EXPECT_EQ(prerun_ir_graph(builder_.get(), &options), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run_ir_graph(builder_.get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* y = builder_.find("y");
    if (y->data_type != TENGINE_DT_FP32) return {};
    return {y->f32, y->f32 + y->elem_num};
}

Operators RotationModel::operators()
{
    return list_operators(*builder_.get()->core->execution);
}

bool RotationModel::is_recognised()
{
    const Operators list = operators();
    return std::count(list.begin(), list.end(), "RotaryEmbedding") == 1;
}

void RotationModel::add_input(const std::string& name, const Dims& dims,
                              const std::vector<float>& values)
{
    tensor* made = builder_.input(name, dims, rotation_.data_type);
    ASSERT_EQ(allocate_ir_tensor(made), TENGINE_OK);
    for (int64_t i = 0; i < made->elem_num; ++i)
        if (rotation_.data_type == TENGINE_DT_FP64)
            static_cast<double*>(made->data)[i] = static_cast<double>(values[size_t(i)]);
        else
            made->f32[i] = values[static_cast<size_t>(i)];
}

void RotationModel::add_constant(const std::string& name, const Dims& dims,
                                 const std::vector<float>& values)
{
    if (rotation_.data_type != TENGINE_DT_FP64) {
        builder_.floats(name, dims, values);
        return;
    }
    const std::vector<double> wide(values.begin(), values.end());
    builder_.constant(name, dims, wide, TENGINE_DT_FP64);
}

void RotationModel::add_tables()
{
    const auto values = [this](double (*function)(double)) {
        return fill_table(rotation_, rotation_.table, rotation_.has_wide_tables, function);
    };
    const auto same = [](double angle) { return angle; };
    if (rotation_.source == "constant" || rotation_.source == "input") {
        const auto add =
            rotation_.source == "input" ? &RotationModel::add_input : &RotationModel::add_constant;
        (this->*add)("cos", rotation_.table, values(std::cos));
        (this->*add)("sin", rotation_.table, values(std::sin));
        return;
    }
    Dims dims = rotation_.table;
    dims.back() = kHalf;
    add_input("angles", dims, fill_table(rotation_, dims, false, same));
    add_constant("scale", {}, {1});
    add_constant("steps", {kSize}, {0, 1, 2, 3, 4, 5, 6, 7});
    add_nodes(rotation_.source);
}

void RotationModel::add_nodes(const std::string& text)
{
    for (const std::string& line : cut(text, ';')) {
        std::istringstream words(line);
        std::string outputs, word, op;
        words >> outputs >> word >> op;
        std::vector<std::string> inputs;
        std::map<std::string, int64_t> attributes;
        while (words >> word) {
            const size_t equals = word.find('=');
            if (equals != std::string::npos)
                attributes[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
            else
                inputs.push_back(find_or_make(word));
        }
        node* made = builder_.add(op, inputs, cut(outputs, ','));
        for (const auto& [name, value] : attributes)
            EXPECT_EQ(set_node_int(made, name.c_str(), value), TENGINE_OK);
    }
}

std::string RotationModel::find_or_make(const std::string& word)
{
    const bool is_list = word[0] == '[', is_number = word[0] == '(';
    if ((!is_list && !is_number) || find_tensor(builder_.get(), word)) return word;
    const std::vector<int64_t> values = read_list(word);
    if (is_list)
        builder_.ints(word, values);
    else
        builder_.constant(word, {}, values, TENGINE_DT_INT64);
    return word;
}

void expect_rotation(const Rotation& rotation, const std::vector<float>& found,
                     double error_of_table, double unit)
{
    const std::vector<float> x = draw("x");
    const bool has_batches =
        rotation.table.size() == rotation.x.size() && rotation.table[0] == kBatch;
    const int heads = rotation.x == kOneHead ? 1 : kHeads;
    const bool is_exact = error_of_table == 0;
    ASSERT_EQ(found.size(), static_cast<size_t>(count_of(rotation.x)));
    for (int i = 0; i < count_of(rotation.x); ++i) {
        const int element = i % kSize, row = i / kSize, batch = row / (heads * kTokens);
        const int token = has_tokens_first(rotation) ? row / heads % kTokens : row % kTokens;
        const bool is_second = rotation.is_interleaved ? element % 2 == 1 : element >= kHalf;
        const int pair = rotation.is_interleaved ? element / 2 : element % kHalf;
        const int distance = rotation.is_interleaved ? 1 : kHalf;
        const double angle = angle_of(has_batches ? batch : 0, token, pair);
        const double own = x[size_t(i)], other = x[size_t(is_second ? i - distance : i + distance)];
        double cosine = std::cos(angle), sine = std::sin(angle);
        if (is_exact) cosine = static_cast<float>(cosine), sine = static_cast<float>(sine);
        const double expected = own * cosine + (is_second ? other : -other) * sine;
        const double products = std::fabs(own * cosine) + std::fabs(other * sine);
        const double bound = unit * products + error_of_table * (std::fabs(own) + std::fabs(other));
        ASSERT_NEAR(found[size_t(i)], expected, bound) << i;
    }
}

Rotation show_results(Rotation rotation)
{
    for (const std::string& line : cut(rotation.nodes, ';')) {
        std::string outputs;
        std::istringstream(line) >> outputs;
        for (const std::string& output : cut(outputs, ','))
            if (output != "y") rotation.outputs.push_back(output);
    }
    return rotation;
}

}  // namespace tengine::test
