// SPDX-License-Identifier: Apache-2.0
// Operators that the pass recognise writes for nodes, and nodes that only look as if they were
// such. The values of both are compared with those that double arithmetic gives.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "graph/core.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/recognise_model.h"

namespace tengine::test {
namespace {

const Form kForms[] = {
    {"Gelu", "d = Div x root_2; e = Erf d; g = Add e one; p = Mul x g; y = Mul p half"},
    {"Gelu", "d = Mul root_half x; e = Erf d; g = Add one e; p = Mul g x; y = Mul half p"},
    {"Gelu", "h = Mul x half; d = Div x root_2; e = Erf d; g = Add e one; y = Mul h g"},
    {"Gelu", "d = Div x root_2; e = Erf d; g = Add e one; h = Mul g half; y = Mul x h"},
    {"Gelu",
     "q = Pow x three; c = Mul q cubic; s = Add x c; m = Mul s root_2_by_pi; t = Tanh m; "
     "g = Add t one; p = Mul x g; y = Mul p half"},
    {"Gelu",
     "u = Mul x x; q = Mul x u; c = Mul cubic q; s = Add c x; m = Mul root_2_by_pi s; t = Tanh m; "
     "g = Add one t; h = Mul half x; y = Mul g h"},
    {"Gelu",
     "q = Pow x three; c = Mul q cubic; s = Add x c; m = Mul s root_2_by_pi; t = Tanh m; "
     "g = Add t one; h = Mul half g; y = Mul x h"},
    {"Swish", "s = Sigmoid x; y = Mul x s"},
    {"Swish", "s = Sigmoid x; y = Mul s x"},
    {"Swish", "a = Mul x alpha; s = Sigmoid a; y = Mul x s"},
    {"HardSwish", "s = HardSigmoid x; y = Mul x s"},
    {"HardSwish", "a = Add x three; r = Clip a zero six; p = Mul x r; y = Div p six"},
    {"HardSwish", "a = Add three x; r = Clip a zero six; p = Mul r x; y = Mul p sixth"},
    {"HardSwish", "a = Add x three; r = Clip a zero six; h = Div r six; y = Mul h x"},
    {"HardSwish", "a = Add x three; r = Clip a zero six; h = Mul sixth r; y = Mul x h"},
    {"LayerNormalization",
     "m = ReduceMean x; c = Sub x m; q = Pow c two; v = ReduceMean q; a = Add v epsilon; "
     "r = Sqrt a; n = Div c r; y = Mul n scale"},
    {"LayerNormalization",
     "m = ReduceMean x; c = Sub x m; m2 = ReduceMean x; c2 = Sub x m2; q = Mul c2 c2; "
     "v = ReduceMean q; a = Add epsilon v; r = Sqrt a; n = Div c r; y = Mul scale n"},
    {"RMSNormalization",
     "q = Pow x two; v = ReduceMean q; a = Add v epsilon; r = Sqrt a; n = Div x r; "
     "y = Mul n scale"},
    {"RMSNormalization",
     "q = Mul x x; v = ReduceMean q; a = Add epsilon v; r = Sqrt a; i = Reciprocal r; "
     "n = Mul x i; y = Mul scale n"},
    {"RMSNormalization",
     "q = Pow x two; v = ReduceMean q; a = Add v epsilon; r = Sqrt a; i = Div one r; "
     "n = Mul i x; y = Mul n scale"},
};

std::vector<std::string> recognise(const SmallModel& model)
{
    IrBuilder builder;
    build(model, &builder);
    expect_values(model, builder);
    return list_operators(*builder.get()->core->execution);
}

TEST(Recognise, EveryFormBecomesItsOperator)
{
    for (const Form& form : kForms) {
        SCOPED_TRACE(form.nodes);
        EXPECT_EQ(recognise(make_model(form)), Operators{form.op});
    }
    EXPECT_EQ(recognise(make_model(kBiasedLayerNormForm)), Operators{"LayerNormalization"});
}

// ---- what only looks like a form ----

const std::map<std::string, std::string> kOtherOperators = {
    {"Add", "Max"},  {"Sub", "Max"},        {"Mul", "Sub"},         {"Div", "Max"},
    {"Pow", "Max"},  {"Erf", "Softsign"},   {"Tanh", "Erf"},        {"Sigmoid", "Softsign"},
    {"Sqrt", "Exp"}, {"Reciprocal", "Exp"}, {"HardSigmoid", "Abs"}, {"ReduceMean", "ReduceMax"}};

// Differences that node `i` of the form may have, one at a time.
void add_differences_of_node(const SmallModel& form, size_t i, std::vector<Difference>* list)
{
    const NamedNode& node = form.nodes[i];
    const std::string output = node.output;
    if (kOtherOperators.count(node.op) != 0)
        list->push_back({output + " is another operator", [=](SmallModel* model) {
                             model->nodes[i].op = kOtherOperators.at(model->nodes[i].op);
                             model->nodes[i].floats.clear();
                         }});
    if (output != "y") {
        list->push_back({output + " is an output",
                         [=](SmallModel* model) { model->outputs.push_back(output); }});
        list->push_back({output + " has another reader", [=](SmallModel* model) {
                             model->nodes.push_back({"other", "Abs", {output}});
                             model->outputs.push_back("other");
                         }});
    }
    if (node.op == "Sub" || node.op == "Div" || node.op == "Pow")
        list->push_back({output + " has its inputs in another order", [=](SmallModel* model) {
                             std::swap(model->nodes[i].inputs[0], model->nodes[i].inputs[1]);
                         }});
    for (size_t input = 0; input < node.inputs.size(); ++input)
        if (node.inputs[input] == "x")
            list->push_back({output + " reads another input", [=](SmallModel* model) {
                                 model->inputs.push_back(make_input("z", 4));
                                 model->nodes[i].inputs[input] = "z";
                             }});
}

// A Clip takes bounds of any rank, which add no axis to its result.
bool is_bound(const SmallModel& form, const std::string& name)
{
    return std::any_of(form.nodes.begin(), form.nodes.end(), [&](const NamedNode& node) {
        return node.op == "Clip" && (node.inputs[1] == name || node.inputs[2] == name);
    });
}

void add_differences_of_constant(const SmallModel& form, const std::string& name,
                                 std::vector<Difference>* list)
{
    const bool is_free = name == "scale" || name == "epsilon" || name == "alpha";
    if (!is_free)
        list->push_back({name + " has another value", [=](SmallModel* model) {
                             double& value = model->constant(name).values[0];
                             value = value == 0 ? -0.25 : value * 1.0001;
                         }});
    list->push_back({name + " is an input", [=](SmallModel* model) {
                         model->inputs.push_back(model->constant(name));
                         model->constants.erase(std::find_if(
                             model->constants.begin(), model->constants.end(),
                             [&](const NamedTensor& each) { return each.name == name; }));
                     }});
    if (!is_bound(form, name))
        list->push_back({name + " adds an axis", [=](SmallModel* model) {
                             Dims& dims = model->constant(name).dims;
                             dims.insert(dims.begin(), 4 - dims.size(), 1);
                         }});
}

std::vector<Difference> list_differences(const SmallModel& form)
{
    std::vector<Difference> list;
    for (size_t i = 0; i < form.nodes.size(); ++i)
        add_differences_of_node(form, i, &list);
    for (const NamedTensor& constant : form.constants)
        add_differences_of_constant(form, constant.name, &list);
    return list;
}

TEST(Recognise, LookAlikesStayAsTheyAre)
{
    int number = 0;
    for (const Form& form : kForms) {
        const SmallModel model = make_model(form);
        for (const Difference& difference : list_differences(model)) {
            SCOPED_TRACE(std::string(form.nodes) + ": " + difference.name);
            SmallModel other = model;
            difference.make(&other);
            const Operators operators = recognise(other);
            EXPECT_EQ(std::count(operators.begin(), operators.end(), form.op), 0);
            ++number;
        }
    }
    EXPECT_GE(number, 74);
}

// Those that only one form may have.
const Difference kNormDifferences[] = {
    {"means of columns", [](SmallModel* model) { model->axes["m"] = model->axes["v"] = {1}; }},
    {"a mean of rows, a variance of columns", [](SmallModel* model) { model->axes["v"] = {1}; }},
    {"means of two axes",
     [](SmallModel* model) {
         model->axes["m"] = model->axes["v"] = {1, 2};
     }},
    {"a list of epsilons",
     [](SmallModel* model) {
         model->constant("epsilon") = {"epsilon", {3, 1}, {1e-5, 0.1, 1}};
     }},
    {"a scale of rows",
     [](SmallModel* model) {
         model->constant("scale") = {"scale", {3, 1}, {1, 2, 3}};
     }},
    {"one scale for all",
     [](SmallModel* model) {
         model->constant("scale") = {"scale", {1}, {2}};
     }},
    {"a scale of elements",
     [](SmallModel* model) {
         model->constant("scale") = {"scale", {3, kColumns}, draw_numbers(3 * kColumns, 1, 2, 5)};
     }},
    {"a scale of as many rows as there are columns",
     [](SmallModel* model) {
         model->inputs[0].dims = {1, kRows, kColumns};
         model->constant("scale") = {"scale", {kRows, 1}, draw_numbers(kRows, 1, 2, 5)};
     }},
    {"double", [](SmallModel* model) { model->data_type = TENGINE_DT_FP64; }},
};

TEST(Recognise, OtherAxesShapesAndTypesStay)
{
    for (const Difference& difference : kNormDifferences) {
        SCOPED_TRACE(difference.name);
        SmallModel model = make_model(kLayerNormForm);
        difference.make(&model);
        const Operators operators = recognise(model);
        EXPECT_EQ(std::count(operators.begin(), operators.end(), "LayerNormalization"), 0);
    }
    for (const Form& form : kForms) {
        SCOPED_TRACE(form.nodes);
        SmallModel model = make_model(form);
        model.data_type = TENGINE_DT_FP64;
        EXPECT_EQ(recognise(model).size(), model.nodes.size());
    }
}

// Rows of one element, whose deviations are 0 whatever they are.
TEST(Recognise, RowsOfOneElementStay)
{
    SmallModel model = make_model(kLayerNormForm);
    model.inputs[0] = {"x", {4, 1}, {1, 2, 3, 4}};
    model.constant("scale") = {"scale", {1}, {2}};
    EXPECT_EQ(recognise(model).size(), model.nodes.size());
}

// Square matrices, in which means without their axis broadcast along the other one.
TEST(Recognise, MeansWithoutTheirAxisStay)
{
    SmallModel model = make_model(kLayerNormForm);
    model.inputs[0] = {"x", {kColumns, kColumns}, draw_numbers(kColumns * kColumns, -5, 5, 6)};
    EXPECT_EQ(recognise(model), Operators{"LayerNormalization"});
    model.node("v").ints = {{"keepdims", 0}};
    EXPECT_EQ(recognise(model).size(), model.nodes.size());
}

TEST(Recognise, OtherHardSigmoidsStay)
{
    const char* form = "s = HardSigmoid x; y = Mul x s";
    for (const std::map<std::string, double>& floats :
         {std::map<std::string, double>{{"alpha", 0.2}, {"beta", 0.5}},
          std::map<std::string, double>{{"alpha", 1.0f / 6}, {"beta", 0.25}}}) {
        SmallModel model = make_model({"HardSwish", form});
        model.node("s").floats = floats;
        EXPECT_EQ(recognise(model), (Operators{"HardSigmoid", "Mul"}));
    }
}

TEST(Recognise, ANodeMayLackItsFirstOutput)
{
    IrBuilder builder;
    builder.input("x", {2, 3, 4});
    builder.floats("w", {1, 5, 4}, std::vector<float>(20, 0.5f));
    builder.floats("r", {1, 5, 5}, std::vector<float>(25, 0.25f));
    ASSERT_EQ(set_node_int(builder.add("RNN", {"x", "w", "r"}, {"", "y"}), "hidden_size", 5),
              TENGINE_OK);
    builder.outputs({"y"});
    const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(builder.get()),
                                                        destroy_ir_graph);
    ASSERT_TRUE(made) << tengine_error_message();
    EXPECT_EQ(list_operators(*made), Operators{"RNN"});
}

// A bias that is not a list of the columns leaves the form before it.
TEST(Recognise, ASumWithMoreThanAListStaysAfterANormalisation)
{
    const Operators expected = {"LayerNormalization", "Add"};
    SmallModel model = make_model(kBiasedLayerNormForm);
    model.constant("bias") = {"bias", {3, kColumns}, draw_numbers(3 * kColumns, 1, 2, 5)};
    EXPECT_EQ(recognise(model), expected);
    model.constant("bias") = {"bias", {1}, {0.5}};
    EXPECT_EQ(recognise(model), expected);
    model = make_model(kBiasedLayerNormForm);
    model.outputs.push_back("s");
    EXPECT_EQ(recognise(model), expected);
}

TEST(Recognise, ListsMayHaveMoreAxes)
{
    SmallModel model = make_model(kBiasedLayerNormForm);
    model.constant("scale").dims = {1, 1, kColumns};
    model.constant("bias").dims = {1, kColumns};
    EXPECT_EQ(recognise(model), Operators{"LayerNormalization"});
}

}  // namespace
}  // namespace tengine::test
