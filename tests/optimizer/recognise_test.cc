// SPDX-License-Identifier: Apache-2.0
// Operators that the pass recognise writes for nodes, and nodes that only look as if they were
// such. The values of both are compared with those that double arithmetic gives.
#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>

#include "graph/context.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/affinity.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "optimizer/recognise_model.h"
#include "support/test_device.h"

namespace tengine::test {
namespace {

constexpr float kRoot2 = 1.41421356f, kRootHalf = 0.707106781f, kRoot2ByPi = 0.797884561f;

// Nodes that compute `op` of x, the last one writes y. Constants are named as their values.
struct Form
{
    const char* op;
    const char* nodes;
};

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

const Form kLayerNorm = {
    "LayerNormalization",
    "m = ReduceMean x; c = Sub x m; q = Pow c two; v = ReduceMean q; a = Add v epsilon; "
    "r = Sqrt a; n = Div c r; y = Mul n scale"};

// With a bias, the nodes before the sum are a form, too.
const Form kBiasedLayerNorm = {
    "LayerNormalization",
    "m = ReduceMean x; c = Sub x m; q = Pow c two; v = ReduceMean q; a = Add v epsilon; "
    "r = Sqrt a; n = Div c r; s = Mul n scale; y = Add s bias"};

std::vector<double> noise(int number, double low, double high, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(low, high);
    std::vector<double> made;
    for (int i = 0; i < number; ++i)
        made.push_back(values(random));
    return made;
}

constexpr int kRows = 6, kColumns = 8;
const Dims kDims = {2, 3, kColumns};

NamedTensor make_input(const std::string& name, unsigned seed)
{
    return {name, kDims, noise(kRows * kColumns, -5, 5, seed)};
}

SmallModel make_model(const Form& form)
{
    SmallModel model;
    model.inputs = {make_input("x", 1)};
    model.add_nodes(form.nodes);
    const NamedTensor constants[] = {
        {"zero", {}, {0}},
        {"one", {}, {1}},
        {"two", {}, {2}},
        {"three", {}, {3}},
        {"six", {}, {6}},
        {"half", {}, {0.5}},
        {"sixth", {}, {1.0f / 6}},
        {"alpha", {}, {1.702}},
        {"root_2", {}, {kRoot2}},
        {"root_half", {}, {kRootHalf}},
        {"root_2_by_pi", {}, {kRoot2ByPi}},
        {"cubic", {}, {0.044715}},
        {"epsilon", {}, {1e-5}},
        {"scale", {kColumns}, noise(kColumns, 0.5, 2, 2)},
        {"bias", {kColumns}, noise(kColumns, -1, 1, 3)},
    };
    for (const NamedNode& node : model.nodes) {
        for (const NamedTensor& constant : constants)
            if (std::count(node.inputs.begin(), node.inputs.end(), constant.name) != 0 &&
                std::none_of(model.constants.begin(), model.constants.end(),
                             [&](const NamedTensor& known) { return known.name == constant.name; }))
                model.constants.push_back(constant);
        if (node.op == "ReduceMean") model.axes[node.output] = {-1};
    }
    return model;
}

void expect_values(const SmallModel& model, IrBuilder& builder)
{
    const std::vector<NamedTensor> expected = compute(model), found = run(model, builder);
    for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(found[i].dims, expected[i].dims);
        for (size_t k = 0; k < expected[i].values.size(); ++k) {
            const double value = expected[i].values[k];
            const double result = found[i].values[k];
            const bool is_near = std::fabs(result - value) <= 2e-5 * (1 + std::fabs(value));
            ASSERT_TRUE(is_near || result == value || (std::isnan(value) && std::isnan(result)))
                << result << " for " << value;
        }
    }
}

std::vector<std::string> recognise(const SmallModel& model)
{
    IrBuilder builder;
    build(model, &builder);
    expect_values(model, builder);
    return list_operators(*builder.get()->core->execution);
}

using Operators = std::vector<std::string>;

TEST(Recognise, EveryFormBecomesItsOperator)
{
    for (const Form& form : kForms) {
        SCOPED_TRACE(form.nodes);
        EXPECT_EQ(recognise(make_model(form)), Operators{form.op});
    }
    EXPECT_EQ(recognise(make_model(kBiasedLayerNorm)), Operators{"LayerNormalization"});
}

// ---- what only looks like a form ----

// One difference to a form.
struct Difference
{
    std::string name;
    std::function<void(SmallModel*)> make;
};

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

SmallModel make_layer_norm()
{
    return make_model(kLayerNorm);
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
         model->constant("scale") = {"scale", {3, kColumns}, noise(3 * kColumns, 1, 2, 5)};
     }},
    {"a scale of as many rows as there are columns",
     [](SmallModel* model) {
         model->inputs[0].dims = {1, kRows, kColumns};
         model->constant("scale") = {"scale", {kRows, 1}, noise(kRows, 1, 2, 5)};
     }},
    {"double", [](SmallModel* model) { model->data_type = TENGINE_DT_FP64; }},
};

TEST(Recognise, OtherAxesShapesAndTypesStay)
{
    for (const Difference& difference : kNormDifferences) {
        SCOPED_TRACE(difference.name);
        SmallModel model = make_layer_norm();
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
    SmallModel model = make_layer_norm();
    model.inputs[0] = {"x", {4, 1}, {1, 2, 3, 4}};
    model.constant("scale") = {"scale", {1}, {2}};
    EXPECT_EQ(recognise(model).size(), model.nodes.size());
}

// Square matrices, in which means without their axis broadcast along the other one.
TEST(Recognise, MeansWithoutTheirAxisStay)
{
    SmallModel model = make_layer_norm();
    model.inputs[0] = {"x", {kColumns, kColumns}, noise(kColumns * kColumns, -5, 5, 6)};
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

// A bias that is not a list of the columns leaves the form before it.
TEST(Recognise, ASumWithMoreThanAListStaysAfterANormalisation)
{
    const Operators expected = {"LayerNormalization", "Add"};
    SmallModel model = make_model(kBiasedLayerNorm);
    model.constant("bias") = {"bias", {3, kColumns}, noise(3 * kColumns, 1, 2, 5)};
    EXPECT_EQ(recognise(model), expected);
    model.constant("bias") = {"bias", {1}, {0.5}};
    EXPECT_EQ(recognise(model), expected);
    model = make_model(kBiasedLayerNorm);
    model.outputs.push_back("s");
    EXPECT_EQ(recognise(model), expected);
}

TEST(Recognise, ListsMayHaveMoreAxes)
{
    SmallModel model = make_model(kBiasedLayerNorm);
    model.constant("scale").dims = {1, 1, kColumns};
    model.constant("bias").dims = {1, kColumns};
    EXPECT_EQ(recognise(model), Operators{"LayerNormalization"});
}

// ---- devices, precisions ----

const Form& kGelu = kForms[0];

class RecogniseForDevice : public testing::Test
{
  protected:
    RecogniseForDevice() { option("split.report", "none"); }

    void option(const char* key, const char* value)
    {
        ASSERT_EQ(set_ir_context_option(context_.get(), key, value), TENGINE_OK)
            << tengine_error_message();
    }

    void use(TestDevice& device)
    {
        ASSERT_EQ(add_ir_context_device(context_.get(), device.get(), nullptr, 0), TENGINE_OK);
    }

    // "Gelu:A", in the order of the graph.
    std::vector<std::string> place(const SmallModel& model, int precision = TENGINE_MODE_FP32)
    {
        IrBuilder builder(context_.get());
        build(model, &builder);
        if (!pinned_.empty()) {
            EXPECT_EQ(add_ir_graph_affinity(builder.get(), pinned_.c_str(), "A"), TENGINE_OK);
        }
        ir_run_options_t options = {};
        options.num_thread = 1;
        options.precision = precision;
        graph* made = nullptr;
        EXPECT_EQ(create_execution_graph(builder.get(), &options, &made), TENGINE_OK)
            << tengine_error_message();
        std::vector<std::string> places;
        for (int i = 0; made && i < made->node_num; ++i) {
            const node& node = *made->node_list[i];
            if (std::string(get_ir_node_op(&node)) != "Cast")
                places.push_back(std::string(get_ir_node_op(&node)) + ":" + node.device->name);
        }
        destroy_ir_graph(made);
        return places;
    }

    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_{create_ir_context("recognise"),
                                                                    destroy_ir_context};
    std::string pinned_;
};

using Places = std::vector<std::string>;
const Places kNodesOnA = {"Div:A", "Erf:A", "Add:A", "Mul:A", "Mul:A"};

TEST_F(RecogniseForDevice, ADeviceGetsTheOperatorThatItHas)
{
    TestDevice a("A", {"Gelu"});
    use(a);
    EXPECT_EQ(place(make_model(kGelu)), Places{"Gelu:A"});
}

TEST_F(RecogniseForDevice, TheNodesStayWhereADeviceTakesThemAndNotTheOperator)
{
    TestDevice a("A", {"Div", "Erf", "Add", "Mul"});
    use(a);
    EXPECT_EQ(place(make_model(kGelu)), kNodesOnA);
    EXPECT_EQ(place(make_layer_norm()), Places{"LayerNormalization:CPU"});
}

TEST_F(RecogniseForDevice, TheVerdictCountsNotTheList)
{
    TestDevice a("A", {"Div", "Erf", "Add", "Mul", "Gelu"});
    use(a);
    EXPECT_EQ(place(make_model(kGelu)), Places{"Gelu:A"});
    a.refusal = [](const node& node) {
        return std::string(get_ir_node_op(&node)) == "Gelu" ? "it has no room" : "";
    };
    EXPECT_EQ(place(make_model(kGelu)), kNodesOnA);
}

// Three of five nodes on another device would be four copies.
TEST_F(RecogniseForDevice, ADeviceWithoutAllNodesLosesThemToTheOperator)
{
    TestDevice a("A", {"Div", "Add", "Mul"});
    use(a);
    EXPECT_EQ(place(make_model(kGelu)), Places{"Gelu:CPU"});
}

TEST_F(RecogniseForDevice, ASurveySeesTheOperator)
{
    TestDevice a("A", {"Gelu"});
    a.use_survey();
    use(a);
    Operators seen;
    a.on_survey = [&](const graph& graph) {
        seen = list_operators(graph);
        return int{TENGINE_OK};
    };
    EXPECT_EQ(place(make_model(kGelu)), Places{"Gelu:A"});
    EXPECT_EQ(seen, Operators{"Gelu"});
    EXPECT_EQ(a.surveys, 1);
}

// The list of a device that lists everything tells nothing: its survey decides.
TEST_F(RecogniseForDevice, ADeviceWithAllOperatorsSurveysTheNodes)
{
    std::vector<std::string> all;
    for (int i = 0; i < get_op_count(); ++i) {
        const ir_method_t& method = *find_op_via_index(i);
        all.push_back((method.domain ? std::string(method.domain) + "." : "") + method.name);
    }
    TestDevice a("A", all);
    a.use_survey();
    use(a);
    Operators seen;
    std::string taken;
    a.on_survey = [&](const graph& graph) {
        seen = list_operators(graph);
        return int{TENGINE_OK};
    };
    a.refusal = [&](const node& node) { return taken == get_ir_node_op(&node) ? "" : "other"; };
    for (const char* each : {"Gelu", "Erf"}) {
        taken = each;
        EXPECT_EQ(place(make_model(kGelu)), Places{taken == "Gelu" ? "Gelu:A" : "Gelu:CPU"});
        EXPECT_EQ(seen, (Operators{"Div", "Erf", "Add", "Mul", "Mul"}));
    }
    a.refusal = [&](const node& node) { return *get_ir_node_op(&node) == 'G' ? "other" : ""; };
    EXPECT_EQ(place(make_model(kGelu)), kNodesOnA);
}

TEST_F(RecogniseForDevice, NodesThatTheUserTellsApartStay)
{
    TestDevice a("A", {"Div", "Gelu"});
    use(a);
    pinned_ = "d";
    EXPECT_EQ(place(make_model(kGelu)),
              (Places{"Div:A", "Erf:CPU", "Add:CPU", "Mul:CPU", "Mul:CPU"}));
    pinned_ = "*";
    EXPECT_EQ(place(make_model(kGelu)), Places{"Gelu:A"});
    pinned_ = "";
    option("precision.keep_float", "e");
    EXPECT_EQ(place(make_model(kGelu), TENGINE_MODE_FP16).size(), 5u);
    option("precision.keep_float", "*");
    EXPECT_EQ(place(make_model(kGelu), TENGINE_MODE_FP16), Places{"Gelu:A"});
}

TEST_F(RecogniseForDevice, EveryPrecisionHasTheOperator)
{
    option("precision.float", "allow");
    for (const int precision : {TENGINE_MODE_FP16, TENGINE_MODE_BF16, TENGINE_MODE_INT8,
                                TENGINE_MODE_UINT8, TENGINE_MODE_HYBRID_INT8}) {
        SCOPED_TRACE(precision);
        EXPECT_EQ(place(make_model(kGelu), precision), Places{"Gelu:CPU"});
        EXPECT_EQ(place(make_model(kBiasedLayerNorm), precision), Places{"LayerNormalization:CPU"});
    }
}

TEST(Recognise, TheOperatorIsKnownByTheLastNode)
{
    IrBuilder builder;
    build(make_model(kGelu), &builder);
    const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(builder.get()),
                                                        destroy_ir_graph);
    ASSERT_EQ(made->node_num, 1);
    EXPECT_STREQ(made->node_list[0]->name, "y");
    EXPECT_EQ(made->node_list[0]->core->source_index, find_node(builder.get(), "y")->index);
    EXPECT_STREQ(get_ir_node_output(made->node_list[0], 0)->name, "y");
}

}  // namespace
}  // namespace tengine::test
