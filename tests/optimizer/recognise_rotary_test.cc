// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding in the place of the nodes that models have for it. The bound of its error is that
// of the nodes: both products and their sum are rounded, each to half a unit, in either.
#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "graph/core.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/recognise_model.h"
#include "scheduler/scheduler.h"
#include "support/test_device.h"

namespace tengine::test {
namespace {

constexpr int kBatch = 2, kHeads = 3, kTokens = 6, kSize = 8, kHalf = kSize / 2;

const Dims kHeadsFirst = {kBatch, kHeads, kTokens, kSize};
const Dims kTokensFirst = {kBatch, kTokens, kHeads, kSize};
const Dims kOneHead = {kBatch, kTokens, kSize};

// The nodes of a rotation of x, which may have other inputs, and its tables. A node is written as
// "y = Op x [1,2] (3) axis=1": lists and numbers are constants.
struct Rotation
{
    std::string nodes;
    bool is_interleaved = false;
    bool has_wide_tables = true;
    Dims x = kHeadsFirst;
    Dims table = {kTokens, kSize};
    std::string source = "constant";  // of the tables; or "input", or nodes that read "angles"
    int data_type = TENGINE_DT_FP32;
    std::vector<std::string> outputs = {"y"};
};

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
const char* const kTurnedNeighbours =
    "n = Neg o; a = Unsqueeze n [-1]; c = Unsqueeze e [4]; t = Concat a c axis=-1; "
    "h = Reshape t [2,3,6,8]; u = Mul h sin; v = Mul cos x; y = Add u v";
const char* const kJoinedNeighbours =
    "p = Mul cos e; q = Mul sin o; r = Sub p q; k = Mul cos o; l = Mul sin e; m = Add l k; "
    "a = Unsqueeze r [4]; c = Unsqueeze m [-1]; t = Concat a c axis=4; y = Reshape t [2,3,6,8]";

const std::vector<Rotation> kRotations = {
    {kHalves + std::string(kTurned)},
    {kSplitHalves + std::string(kTurned)},
    {kHalves + std::string(kJoined), false, false, kHeadsFirst, {kTokens, kHalf}},
    {kSplitHalves + std::string(kJoined), false, false, kHeadsFirst, {kTokens, kHalf}},
    {kNeighbours + std::string(kTurnedNeighbours), true},
    {kTakenNeighbours + std::string(kTurnedNeighbours), true},
    {kNeighbours + std::string(kJoinedNeighbours), true, false, kHeadsFirst, {kTokens, kHalf}},
    {kTakenNeighbours + std::string(kJoinedNeighbours), true, false, kHeadsFirst, {kTokens, kHalf}},
};

std::string exchange(std::string text, const std::string& from, const std::string& to)
{
    const size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from << " in " << text;
    return place == std::string::npos ? text : text.replace(place, from.size(), to);
}

std::vector<int64_t> read_list(std::string text)
{
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream words(text.substr(1, text.size() - 2));
    std::vector<int64_t> list;
    for (int64_t each; words >> each;)
        list.push_back(each);
    return list;
}

std::vector<std::string> cut(const std::string& text, char at)
{
    std::istringstream words(text);
    std::vector<std::string> list;
    for (std::string each; std::getline(words, each, at);)
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

class Model
{
  public:
    explicit Model(const Rotation& rotation, context* context = nullptr)
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

    graph* get() { return builder_.get(); }

    std::vector<float> run(int precision = TENGINE_MODE_FP32)
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

    Operators operators() { return list_operators(*builder_.get()->core->execution); }

    bool is_recognised()
    {
        const Operators list = operators();
        return std::count(list.begin(), list.end(), "RotaryEmbedding") == 1;
    }

    static std::vector<float> draw(const std::string& name)
    {
        const int number = kBatch * kHeads * kTokens * kSize;
        const std::vector<double> values = draw_numbers(number, -2, 2, name == "x" ? 1 : 2);
        return std::vector<float>(values.begin(), values.end());
    }

  private:
    void add_input(const std::string& name, const Dims& dims, const std::vector<float>& values)
    {
        tensor* made = builder_.input(name, dims, rotation_.data_type);
        ASSERT_EQ(allocate_ir_tensor(made), TENGINE_OK);
        for (int64_t i = 0; i < made->elem_num; ++i)
            if (rotation_.data_type == TENGINE_DT_FP64)
                static_cast<double*>(made->data)[i] = static_cast<double>(values[size_t(i)]);
            else
                made->f32[i] = values[static_cast<size_t>(i)];
    }

    void add_constant(const std::string& name, const Dims& dims, const std::vector<float>& values)
    {
        if (rotation_.data_type != TENGINE_DT_FP64) {
            builder_.floats(name, dims, values);
            return;
        }
        const std::vector<double> wide(values.begin(), values.end());
        builder_.constant(name, dims, wide, TENGINE_DT_FP64);
    }

    void add_tables()
    {
        const auto values = [this](double (*function)(double)) {
            return fill_table(rotation_, rotation_.table, rotation_.has_wide_tables, function);
        };
        const auto same = [](double angle) { return angle; };
        if (rotation_.source == "constant" || rotation_.source == "input") {
            const auto add = rotation_.source == "input" ? &Model::add_input : &Model::add_constant;
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

    void add_nodes(const std::string& text)
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

    std::string find_or_make(const std::string& word)
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

    const Rotation rotation_;
    IrBuilder builder_;
};

// The definition, in double, and the bound of its error. Of the products, `unit` times their
// magnitudes.
void expect_rotation(const Rotation& rotation, const std::vector<float>& found,
                     double error_of_table, double unit = 2.001 * 0x1p-24)
{
    const std::vector<float> x = Model::draw("x");
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

// All results, so that the nodes stay.
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

void expect_operator(const Rotation& rotation, double error_of_table)
{
    SCOPED_TRACE(rotation.nodes + "; tables: " + rotation.source);
    Model model(rotation), nodes(show_results(rotation));
    expect_rotation(rotation, model.run(), error_of_table);
    EXPECT_TRUE(model.is_recognised());
    expect_rotation(rotation, nodes.run(), error_of_table);
    EXPECT_FALSE(nodes.is_recognised());
}

TEST(RecogniseRotary, EveryFormBecomesTheOperator)
{
    for (const Rotation& rotation : kRotations) {
        expect_operator(rotation, 0);
        Model model(rotation);
        model.run();
        EXPECT_EQ(model.operators(), Operators{"RotaryEmbedding"});
    }
}

TEST(RecogniseRotary, TablesMayHaveBatchesAndMoreAxes)
{
    for (Rotation rotation : kRotations) {
        const int width = rotation.table.back();
        for (const Dims& dims : {Dims{1, kTokens, width}, Dims{1, 1, kTokens, width},
                                 Dims{kBatch, 1, kTokens, width}}) {
            rotation.table = dims;
            expect_operator(rotation, 0);
        }
    }
}

TEST(RecogniseRotary, TokensMayBeBeforeHeads)
{
    for (Rotation rotation : kRotations) {
        for (const auto& [from, to] :
             {std::pair("[2,3,6,4,2]", "[2,6,3,4,2]"), std::pair("[2,3,6,8]", "[2,6,3,8]")})
            if (rotation.nodes.find(from) != std::string::npos)
                rotation.nodes = exchange(rotation.nodes, from, to);
        rotation.x = kTokensFirst;
        const int width = rotation.table.back();
        for (const Dims& dims : {Dims{kTokens, 1, width}, Dims{1, kTokens, 1, width},
                                 Dims{kBatch, kTokens, 1, width}}) {
            rotation.table = dims;
            expect_operator(rotation, 0);
        }
        Model model(rotation);
        model.run();
        EXPECT_EQ(model.operators(), (Operators{"Reshape", "RotaryEmbedding", "Reshape"}));
    }
}

TEST(RecogniseRotary, OneHeadNeedsNoAxis)
{
    for (Rotation rotation : {kRotations[0], kRotations[3]}) {
        rotation.x = kOneHead;
        const int width = rotation.table.back();
        for (const Dims& dims :
             {Dims{kTokens, width}, Dims{1, kTokens, width}, Dims{kBatch, kTokens, width}}) {
            rotation.table = dims;
            expect_operator(rotation, 0);
        }
    }
}

// The bound of the nodes: x and the table, the products and their sum are rounded.
TEST(RecogniseRotary, PrecisionsOf16BitsHaveTheOperator)
{
    for (const auto& [precision, unit] :
         {std::pair(TENGINE_MODE_FP16, 0x1p-11), std::pair(TENGINE_MODE_BF16, 0x1p-8)}) {
        for (const Rotation& rotation : kRotations) {
            Model model(rotation), nodes(show_results(rotation));
            expect_rotation(rotation, model.run(precision), 0x1p-24, 4.1 * unit);
            EXPECT_TRUE(model.is_recognised());
            expect_rotation(rotation, nodes.run(precision), 0x1p-24, 4.1 * unit);
            EXPECT_FALSE(nodes.is_recognised());
        }
    }
}

// ---- tables that are not constant ----

const char* const kWideSources[] = {
    "w = Concat angles angles axis=-1; cos = Cos w; sin = Sin w",
    "w = Concat angles angles axis=2; i = Cos w; j = Sin w; cos = Mul i scale; sin = Mul scale j",
    "i = Cos angles; j = Sin angles; cos = Concat i i axis=2; sin = Concat j j axis=2",
    "w = Concat angles angles axis=-1; i = Cos w; j = Sin w; k = Squeeze i [0]; "
    "l = Squeeze j [0]; cos = Unsqueeze k [0]; sin = Reshape l [1,1,6,8]",
    "w = Concat angles angles axis=-1; r = Squeeze w [0]; g = Gather r [0,1,2,3,4,5]; "
    "cos = Cos g; sin = Sin g",
};

const char* const kWideNeighbourSources[] = {
    "a1 = Unsqueeze angles [-1]; a2 = Concat a1 a1 axis=-1; w = Reshape a2 [1,6,8]; cos = Cos w; "
    "sin = Sin w",
    "a1 = Unsqueeze angles [3]; a2 = Expand a1 [1,6,4,2]; w = Reshape a2 [6,8]; cos = Cos w; "
    "sin = Sin w",
};

constexpr double kErrorOfCosine = 2e-7;

TEST(RecogniseRotary, TablesMayBeComputed)
{
    for (const bool is_interleaved : {false, true}) {
        Rotation rotation = kRotations[is_interleaved ? 4 : 0];
        rotation.table = {1, kTokens, kSize};
        std::vector<std::string> sources(std::begin(kWideSources), std::end(kWideSources));
        if (is_interleaved)
            sources.assign(std::begin(kWideNeighbourSources), std::end(kWideNeighbourSources));
        for (const std::string& source : sources) {
            rotation.source = source;
            expect_operator(rotation, kErrorOfCosine);
        }
    }
}

TEST(RecogniseRotary, NarrowTablesMayBeInputs)
{
    for (Rotation rotation : kRotations) {
        if (rotation.has_wide_tables) continue;
        for (const Dims& dims : {Dims{kTokens, kHalf}, Dims{kBatch, 1, kTokens, kHalf}}) {
            rotation.table = dims;
            rotation.source = "input";
            expect_operator(rotation, 0);
            rotation.source = "cos = Cos angles; sin = Sin angles";
            expect_operator(rotation, kErrorOfCosine);
        }
    }
}

// Queries and keys, layer after layer, read the same tables.
TEST(RecogniseRotary, RotationsShareTheirTables)
{
    Rotation rotation = kRotations[0];
    rotation.table = {1, kTokens, kSize};
    rotation.source = kWideSources[0];
    rotation.nodes +=
        "; b2 = Slice z [4] [99] [-1] [1]; f2 = Slice z [0] [4] [-1] [1]; n2 = Neg b2; "
        "t2 = Concat n2 f2 axis=-1; u2 = Mul t2 sin; v2 = Mul z cos; y2 = Add v2 u2";
    rotation.outputs = {"y", "y2"};
    Model model(rotation);
    expect_rotation(rotation, model.run(), kErrorOfCosine);
    const Operators list = model.operators();
    EXPECT_EQ(std::count(list.begin(), list.end(), "RotaryEmbedding"), 2);
    EXPECT_EQ(std::count(list.begin(), list.end(), "Slice"), 2);
}

// ---- what only looks like a rotation ----

struct Change
{
    std::string name;
    std::function<void(Rotation*)> make;
};

Change in_nodes(const std::string& name, const std::vector<std::string>& from_to)
{
    return {name, [=](Rotation* rotation) {
                for (size_t i = 0; i + 1 < from_to.size(); i += 2)
                    rotation->nodes = exchange(rotation->nodes, from_to[i], from_to[i + 1]);
            }};
}

const std::map<std::string, std::string> kOtherOperators = {
    {"Neg", "Abs"}, {"Mul", "Max"}, {"Add", "Max"}, {"Sub", "Add"}};

// Changes of one node, written as in the form. Where a table or x is read once, another tensor is
// as good.
void add_changes_of_node(const Rotation& rotation, const std::string& line,
                         std::vector<Change>* list)
{
    std::istringstream words(line);
    std::string outputs, equals, op, first, second;
    words >> outputs >> equals >> op >> first >> second;
    const auto with = [&](const std::string& text) {
        return in_nodes(text + " for" + line, {line, text});
    };
    if (kOtherOperators.count(op) != 0)
        list->push_back(with(outputs + " = " + kOtherOperators.at(op) + " " + first + " " +
                             (op == "Neg" ? "" : second)));
    if (op == "Sub") list->push_back(with(outputs + " = Sub " + second + " " + first));
    if (op == "Concat") {
        const std::string axis = line.substr(line.find("axis"));
        list->push_back(with(outputs + " = Concat " + second + " " + first + " " + axis));
        list->push_back(with(outputs + " = Concat " + first + " " + first + " " + axis));
    }
    for (const char* table : {"cos", "sin"})
        if (!rotation.has_wide_tables && (first == table || second == table)) {
            const std::string other = std::string(table) == "cos" ? "sin" : "cos";
            list->push_back(in_nodes(other + " for" + line, {line, exchange(line, table, other)}));
        }
    const size_t reader = rotation.nodes.find(" x ");
    const bool has_readers = rotation.nodes.find(" x ", reader + 1) != std::string::npos;
    if (has_readers && (first == "x" || second == "x"))
        list->push_back(in_nodes("z for" + line, {line, exchange(line, " x", " z")}));
    for (const std::string& output : cut(outputs, ',')) {
        if (output == "y") continue;
        list->push_back({output + " is an output",
                         [=](Rotation* changed) { changed->outputs.push_back(output); }});
        list->push_back({output + " has another reader", [=](Rotation* changed) {
                             changed->nodes += "; other = Abs " + output;
                             changed->outputs.push_back("other");
                         }});
    }
}

std::vector<Change> list_changes_of_nodes(const Rotation& rotation)
{
    std::vector<Change> list;
    for (const std::string& line : cut(rotation.nodes, ';'))
        add_changes_of_node(rotation, line, &list);
    return list;
}

const Change kChangesOfHalves[] = {
    in_nodes("the other half is turned", {"n = Neg b", "n = Neg f", "Concat n f", "Concat b n"}),
    in_nodes("another half", {"[4] [99]", "[0] [4]"}),
    in_nodes("another half behind", {"[0] [4]", "[4] [99]"}),
    in_nodes("halves in another order",
             {"[4] [99]", "[0] [4]", "f = Slice x [0] [4]", "f = Slice x [4] [99]"}),
    in_nodes("no halves", {"[4] [99]", "[3] [99]", "[0] [4]", "[0] [3]"}),
    in_nodes("pieces that overlap", {"[0] [4]", "[1] [5]"}),
    in_nodes("a piece backwards", {"[4] [99] [-1] [1]", "[7] [3] [-1] [-1]"}),
    in_nodes("neighbours in front", {"[0] [4] [-1] [1]", "[0] [99] [-1] [2]"}),
    in_nodes("another axis",
             {"[4] [99] [-1]", "[3] [99] [2]", "[0] [4] [-1]", "[0] [3] [2]", "axis=-1", "axis=2"}),
    in_nodes("a computed size", {"[4] [99]", "s [99]"}),
    {"double", [](Rotation* rotation) { rotation->data_type = TENGINE_DT_FP64; }},
};

const Change kChangesOfNeighbours[] = {
    in_nodes("the other neighbour", {"(0)", "(1)", "o = Gather g (1)", "o = Gather g (0)"}),
    in_nodes("a neighbour twice", {"(1)", "(0)"}),
    in_nodes("pairs of halves",
             {"[2,3,6,4,2]", "[2,3,6,2,4]", "axis=-1", "axis=3", "axis=4", "axis=3"}),
    in_nodes("halves of the result",
             {"Unsqueeze n [-1]", "Unsqueeze n [3]", "Unsqueeze e [4]", "Unsqueeze e [3]",
              "Concat a c axis=-1", "Concat a c axis=3"}),
};

const Change kChangesOfTables[] = {
    {"a table with one row for all tokens",
     [](Rotation* rotation) {
         rotation->table = {1, kSize};
     }},
    {"a table for each head",
     [](Rotation* rotation) {
         rotation->table = {kHeads, kTokens, kSize};
     }},
    {"a table for each element of the batch and head",
     [](Rotation* rotation) { rotation->table = kHeadsFirst; }},
    {"one angle for a token",
     [](Rotation* rotation) {
         rotation->table = {kTokens, 1};
     }},
    {"a table that may differ", [](Rotation* rotation) { rotation->source = "input"; }},
    {"a table of neighbours", [](Rotation* rotation) { rotation->is_interleaved = true; }},
    {"an axis more",
     [](Rotation* rotation) {
         rotation->table = {1, 1, 1, kTokens, kSize};
     }},
};

const char* const kOtherSources[] = {
    "w0 = Neg angles; w = Concat angles w0 axis=-1; cos = Cos w; sin = Sin w",
    "w0 = Concat angles angles axis=-1; w = Add w0 steps; cos = Cos w; sin = Sin w",
    "w0 = Concat angles angles axis=-1; w = CumSum w0 (2); cos = Cos w; sin = Sin w",
    "w0 = Concat angles angles axis=-1; i = Cos w0; j = Sin w0; cos = Gather i "
    "[0,1,2,3,4,5,6,0] axis=2; sin = Identity j",
    "w0 = Concat angles angles axis=1; w = Reshape w0 [1,6,8]; cos = Cos w; sin = Sin w",
};

// Whether the nodes stay, and their results have the same bits as where each is an output.
void expect_nodes(const Rotation& rotation, int* number)
{
    Model model(rotation), nodes(show_results(rotation));
    const std::vector<float> found = model.run();
    EXPECT_FALSE(model.is_recognised());
    EXPECT_EQ(found, nodes.run());
    ++*number;
}

void expect_nodes(Rotation rotation, const Change& change, int* number)
{
    SCOPED_TRACE(rotation.nodes + ": " + change.name);
    change.make(&rotation);
    if (rotation.nodes.find("Slice x s ") != std::string::npos)
        rotation.nodes =
            "s0 = Cast z to=7; s1 = ReduceMin s0 keepdims=0; s2 = Sub s1 s1; "
            "s3 = Add s2 (4); s = Unsqueeze s3 [0]; " +
            rotation.nodes;
    expect_nodes(rotation, number);
}

TEST(RecogniseRotary, LookAlikesStayAsTheyAre)
{
    int number = 0;
    for (const Rotation& rotation : kRotations)
        for (const Change& change : list_changes_of_nodes(rotation))
            expect_nodes(rotation, change, &number);
    for (const Change& change : kChangesOfHalves)
        expect_nodes(kRotations[0], change, &number);
    for (const Change& change : kChangesOfNeighbours)
        expect_nodes(kRotations[5], change, &number);
    EXPECT_GE(number, 240);
}

TEST(RecogniseRotary, OtherTablesStay)
{
    int number = 0;
    Rotation inside = kRotations[0];  // in which a node that would go writes a table
    inside.x = kOneHead;
    inside.table = {kBatch, kTokens, kSize};
    inside.nodes = exchange(inside.nodes, "Mul x cos", "Mul x n2");
    inside.nodes = exchange(inside.nodes, "n = Neg b", "n2 = Concat f f axis=-1; n = Neg b");
    expect_nodes(inside, &number);
    inside.nodes =
        exchange(exchange(inside.nodes, "n2 = Concat f f axis=-1; ", ""), "Mul x n2", "Mul x u");
    expect_nodes(inside, &number);
    for (const Change& change : kChangesOfTables)
        expect_nodes(kRotations[0], change, &number);
    for (const char* source : kOtherSources) {
        Rotation rotation = kRotations[0];
        rotation.table = {1, kTokens, kSize};
        rotation.source = source;
        SCOPED_TRACE(source);
        expect_nodes(rotation, &number);
    }
}

// ---- devices ----

class RotaryForDevice : public testing::Test
{
  protected:
    // "RotaryEmbedding:A", in the order of the graph, on a device A with these operators.
    std::vector<std::string> place(const Rotation& rotation, const std::vector<std::string>& taken)
    {
        const std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context(
            create_ir_context("rotary"), destroy_ir_context);
        TestDevice a("A", taken);
        EXPECT_EQ(add_ir_context_device(context.get(), a.get(), nullptr, 0), TENGINE_OK);
        EXPECT_EQ(set_ir_context_option(context.get(), "split.report", "none"), TENGINE_OK);
        Model model(rotation, context.get());
        expect_rotation(rotation, model.run(), rotation.source == "constant" ? 0 : kErrorOfCosine);
        std::vector<std::string> places;
        const graph& made = *model.get()->core->execution;
        for (int i = 0; i < made.node_num; ++i)
            places.push_back(std::string(get_ir_node_op(made.node_list[i])) + ":" +
                             made.node_list[i]->device->name);
        return places;
    }
};

using Places = std::vector<std::string>;
const std::vector<std::string> kNodes = {"Slice", "Neg", "Concat", "Mul", "Add"};

std::vector<std::string> with(std::vector<std::string> list, const std::string& another)
{
    list.push_back(another);
    return list;
}

TEST_F(RotaryForDevice, GetsTheOperatorThatItHas)
{
    for (const Rotation& rotation : kRotations) {
        EXPECT_EQ(place(rotation, {"RotaryEmbedding"}), Places{"RotaryEmbedding:A"});
        EXPECT_EQ(place(rotation, {"Neg"}), Places{"RotaryEmbedding:CPU"});
    }
}

TEST_F(RotaryForDevice, KeepsTheNodesWhereItHasNoOperator)
{
    EXPECT_EQ(place(kRotations[0], kNodes),
              (Places{"Slice:A", "Slice:A", "Neg:A", "Concat:A", "Mul:A", "Mul:A", "Add:A"}));
    EXPECT_EQ(place(kRotations[0], with(kNodes, "RotaryEmbedding")), Places{"RotaryEmbedding:A"});
}

// A Reshape that only the CPU has would be between the device's other nodes.
TEST_F(RotaryForDevice, KeepsTheNodesWhereTheOperatorNeedsOthersThatItHasNot)
{
    Rotation rotation = kRotations[0];
    rotation.x = kTokensFirst;
    rotation.table = {kTokens, 1, kSize};
    const std::vector<std::string> operators = with(kNodes, "RotaryEmbedding");
    EXPECT_EQ(place(rotation, operators).size(), 7u);
    EXPECT_EQ(place(rotation, with(operators, "Reshape")),
              (Places{"Reshape:A", "RotaryEmbedding:A", "Reshape:A"}));
    EXPECT_EQ(place(rotation, {"RotaryEmbedding"}),
              (Places{"Reshape:CPU", "RotaryEmbedding:A", "Reshape:CPU"}));
}

}  // namespace
}  // namespace tengine::test
