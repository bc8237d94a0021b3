// SPDX-License-Identifier: Apache-2.0
// Nodes that only look like a rotation: they differ in one thing from a form of RotaryEmbedding.
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "optimizer/rotation_model.h"

namespace tengine::test {
namespace {

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
    in_nodes("pairs half a head apart",
             {"[2,3,6,4,2]", "[2,3,6,2,4]", "axis=-1", "axis=3", "axis=4", "axis=3"}),
    in_nodes("halves of the result",
             {"Unsqueeze n [-1]", "Unsqueeze n [3]", "Unsqueeze e [4]", "Unsqueeze e [3]",
              "Concat a c axis=-1", "Concat a c axis=3"}),
};

const Change kChangesOfReshapes[] = {
    in_nodes("halves of the result",
             {"Reshape n [0,0,0,4,1]", "Reshape n [0,0,0,1,4]", "Reshape e [0,0,0,4,1]",
              "Reshape e [0,0,0,1,4]", "Concat a c axis=-1", "Concat a c axis=3"}),
    in_nodes("rows in other places", {"Reshape n [0,0,0,4,1]", "Reshape n [2,6,3,4,1]",
                                      "Reshape e [0,0,0,4,1]", "Reshape e [2,6,3,4,1]"}),
};

const Change kChangesOfReshapedSlices[] = {
    in_nodes("the other neighbour", {"o1 [1]", "o1 [0]", "e1 [0]", "e1 [1]"}),
    in_nodes("a neighbour twice", {"o1 [1]", "o1 [0]"}),
    in_nodes("halves", {"o1 [1] [99] [1] [2]", "o1 [4] [99] [1] [1]", "e1 [0] [99] [1] [2]",
                        "e1 [0] [4] [1] [1]"}),
    in_nodes("rows", {"o1 [1] [99] [1]", "o1 [1] [99] [0]", "e1 [0] [99] [1]", "e1 [0] [99] [0]"}),
    in_nodes("every other pair", {"[36,8,1,1]", "[72,2,2,1]", "[36,8,1,1]", "[72,2,2,1]"}),
};

const Change kChangesOfReshapedGathers[] = {
    in_nodes("the other neighbour", {"o1 [1]", "o1 [0]", "e1 [0]", "e1 [1]"}),
    in_nodes("a neighbour twice", {"e1 [0]", "e1 [1]"}),
    in_nodes("every other pair", {"[144,2,1,1]", "[72,2,2,1]", "[144,2,1,1]", "[72,2,2,1]"}),
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
    ("w0 = Concat angles angles axis=-1; i = Cos w0; j = Sin w0; cos = Gather i "
     "[0,1,2,3,4,5,6,0] axis=2; sin = Identity j"),
    "w0 = Concat angles angles axis=1; w = Reshape w0 [1,6,8]; cos = Cos w; sin = Sin w",
};

// Whether the nodes stay, and their results have the same bits as where each is an output.
void expect_nodes(const Rotation& rotation, int* number)
{
    RotationModel model(rotation), nodes(show_results(rotation));
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
    for (const Change& change : kChangesOfReshapes)
        expect_nodes(kRotations[8], change, &number);
    for (const Change& change : kChangesOfReshapedSlices)
        expect_nodes(kReshapedRotations[0], change, &number);
    for (const Change& change : kChangesOfReshapedGathers)
        expect_nodes(kReshapedRotations[1], change, &number);
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

}  // namespace
}  // namespace tengine::test
