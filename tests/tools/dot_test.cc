// SPDX-License-Identifier: Apache-2.0
// The picture of a placement: a handmade report is drawn, and Graphviz accepts the picture.
#include "dot.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;
using testing::Not;
using tools::PlacedNode;
using tools::Report;
using tools::Value;

size_t count(const std::string& text, const std::string& word)
{
    size_t number = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        ++number;
    return number;
}

bool has_graphviz()
{
    return std::system("command -v dot >/dev/null") == 0;
}

// Returns Graphviz's messages, "" if there are none.
std::string complaints(const std::string& text)
{
    if (!has_graphviz()) return "";
    const std::string folder = scratch_folder();
    tools::write_file(folder + "/graph.dot", text);
    const std::string command = "dot -Tsvg -o '" + folder + "/graph.svg' '" + folder +
                                "/graph.dot' 2>'" + folder + "/said'";
    const int status = std::system(command.c_str());
    const std::string said = tools::read_file(folder + "/said");
    return status == 0 ? said : "failed: " + said;
}

class Dot : public testing::Test
{
  protected:
    Dot()
    {
        report.model = "models/net.onnx";
        report.devices = {"A", "CPU"};
        report.inputs = {tensor("x")};
        report.outputs = {value("y", -1)};
    }

    static tools::Tensor tensor(const std::string& name)
    {
        tools::Tensor made;
        made.name = name;
        made.shape = {1, 3};
        return made;
    }
    static Value value(const std::string& name, int producer)
    {
        Value made;
        made.name = name;
        made.shape = {1, 3};
        made.has_rank = true;
        made.bytes = 12;
        made.producer = producer;
        return made;
    }
    // Adds a node that reads the results of these nodes, -1: the input "x".
    int add(const std::string& op, const std::string& name, int part, std::vector<int> producers)
    {
        PlacedNode node;
        node.name = name;
        node.op = op;
        node.part = part;
        node.device = report.parts.at(static_cast<size_t>(part)).device;
        for (const int producer : producers)
            node.inputs.push_back(
                value(producer < 0 ? "x" : report.nodes.at(static_cast<size_t>(producer)).name,
                      producer));
        report.nodes.push_back(node);
        ++report.parts[static_cast<size_t>(part)].nodes;
        return static_cast<int>(report.nodes.size()) - 1;
    }
    void add_part(const std::string& device)
    {
        tools::Part part;
        part.device = device;
        report.parts.push_back(part);
    }
    std::string draw(int result)
    {
        report.results = {
            value(result < 0 ? "x" : report.nodes[static_cast<size_t>(result)].name, result)};
        return to_dot(report);
    }

    Report report;
};

TEST_F(Dot, AChainIsOneBoxInItsPart)
{
    add_part("A");
    const int first = add("Conv", "/stem/conv/Conv", 0, {-1});
    const int last = add("Relu", "/stem/Relu", 0, {first});
    const std::string text = draw(last);
    EXPECT_EQ(count(text, "<table"), 2u) << "the legend and the box: " << text;
    EXPECT_EQ(count(text, "subgraph cluster_part"), 1u);
    EXPECT_LT(text.find("<b>Conv</b>  <font point-size=\"9\">stem/conv</font>"),
              text.find("<b>Relu</b>  <font point-size=\"9\">stem</font>"));
    EXPECT_THAT(text, HasSubstr("in0 -> box0;"));
    EXPECT_THAT(text, HasSubstr("box0 -> out0;"));
    EXPECT_EQ(count(text, " -> "), 2u);
    EXPECT_EQ(complaints(text), "");
}

TEST_F(Dot, BranchesAreBoxesOfTheirOwn)
{
    add_part("A");
    const int stem = add("Conv", "stem", 0, {-1});
    const int left = add("Relu", "left", 0, {stem});
    const int right = add("Tanh", "right", 0, {stem});
    const int last = add("Add", "sum", 0, {left, right});
    const std::string text = draw(last);
    EXPECT_EQ(count(text, "[label=<<table"), 4u) << text;
    for (const char* edge : {"box0 -> box1;", "box0 -> box2;", "box1 -> box3;", "box2 -> box3;"})
        EXPECT_THAT(text, HasSubstr(edge));
    EXPECT_EQ(complaints(text), "");
}

// A result, or a value with two readers, ends a chain; a constant does not.
TEST_F(Dot, WhatEndsAChain)
{
    add_part("A");
    const int first = add("Relu", "first", 0, {-1});
    const int second = add("Mul", "second", 0, {first});
    Value constant = value("scale", -1);
    constant.is_constant = true;
    report.nodes.back().inputs.push_back(constant);
    const int third = add("Exp", "third", 0, {second});
    report.results = {value("second", second), value("third", third)};
    report.outputs = report.results;
    const std::string text = to_dot(report);
    EXPECT_EQ(count(text, "[label=<<table"), 2u) << text;
    EXPECT_THAT(text, HasSubstr("box0 -> out0;"));
    EXPECT_THAT(text, HasSubstr("box0 -> box1;"));
    EXPECT_THAT(text, HasSubstr("box1 -> out1;"));
    EXPECT_THAT(text, Not(HasSubstr("scale")));
    EXPECT_EQ(complaints(text), "");
}

TEST_F(Dot, WhatMovesBetweenDevicesIsThickAndWrittenOnce)
{
    add_part("A");
    add_part("CPU");
    const int stem = add("Conv", "stem", 0, {-1});
    const int left = add("Exp", "left", 1, {stem});
    const int right = add("Tanh", "right", 1, {stem});
    const int last = add("Add", "sum", 1, {left, right});
    const std::string text = draw(last);
    EXPECT_EQ(count(text, "penwidth"), 2u) << text;
    EXPECT_EQ(count(text, "label=\"  1x3\\l  12 B\\l\""), 1u) << text;
    EXPECT_EQ(count(text, "subgraph cluster_part"), 2u);
    EXPECT_EQ(complaints(text), "");
}

TEST_F(Dot, TheLegendSaysWhichColourIsWhose)
{
    add_part("A");
    add_part("CPU");
    const int stem = add("Conv", "stem", 0, {-1});
    const int last = add("Exp", "last", 1, {stem});
    const std::string text = draw(last);
    EXPECT_THAT(text, HasSubstr("<b>net.onnx</b>"));
    std::vector<std::string> colours;
    for (const std::string& device : report.devices) {
        const std::string ending = "\"><b>" + device + "</b>";
        const size_t end = text.find(ending);
        ASSERT_NE(end, std::string::npos) << text;
        colours.push_back(text.substr(end - 7, 7));
        EXPECT_EQ(count(text, colours.back()), 2u) << "in the legend and at the node: " << text;
    }
    EXPECT_NE(colours[0], colours[1]);
    EXPECT_EQ(complaints(text), "");
}

TEST_F(Dot, TellsPartsApart)
{
    add_part("A");
    report.parts[0].macs = 1200000;
    report.parts[0].predicted_ms = 0.25;
    const std::string text = draw(add("Conv", "stem", 0, {-1}));
    EXPECT_THAT(text, HasSubstr("<b>part 0: A</b>"));
    EXPECT_THAT(text, HasSubstr("1 node, 1.2 M MACs, 0.250 ms"));
}

TEST_F(Dot, AnyNameWillDo)
{
    add_part("A");
    report.inputs[0].name = "in\"&<";
    report.outputs[0].name = std::string("out\xff\x01\n");
    int last = -1;
    for (const std::string name : {"a<b>&\"c\"\\", "", "\xff\xfe", "line\nend\\N\\G", "</b>", "-->",
                                   "  ", "\t", "/Relu", "\xc3\xa4"})
        last = add("Relu", name, 0, {last});
    const std::string text = draw(last);
    EXPECT_THAT(text, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;\\"));
    EXPECT_THAT(text, HasSubstr("&lt;/b&gt;"));
    EXPECT_THAT(text, HasSubstr("\xc3\xa4"));
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_EQ(complaints(text), "");
}

TEST_F(Dot, LongNamesKeepTheirEnd)
{
    add_part("A");
    const std::string umlauts =
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
    const std::string name = std::string(40, 'b') + umlauts + "e";
    const std::string text = draw(add("Relu", name, 0, {-1}));
    EXPECT_THAT(text, HasSubstr(">...\xc3\xa4"));
    EXPECT_THAT(text, HasSubstr("\xc3\xa4"
                                "e<"));
    EXPECT_THAT(text, Not(HasSubstr("b\xc3")));
    EXPECT_EQ(complaints(text), "");
}

TEST_F(Dot, WhatRunsThroughHasNoNodes)
{
    const std::string text = draw(-1);
    EXPECT_THAT(text, HasSubstr("in0 -> out0;"));
    EXPECT_EQ(complaints(text), "");
}

TEST(DotOption, DrawsAModel)
{
    const Finished finished = run({"inspect", data_file("digits.onnx"), "--dot", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.output.compare(0, 8, "digraph "), 0) << finished.output;
    EXPECT_EQ(count(finished.output, "{"), count(finished.output, "}"));
    EXPECT_EQ(count(finished.output, "<b>Conv</b>"), 5u);
    EXPECT_THAT(finished.output, HasSubstr("<b>image</b>"));
    EXPECT_THAT(finished.output, HasSubstr("<b>probabilities</b>"));
    EXPECT_EQ(complaints(finished.output), "");
}

TEST(DotOption, WritesAFileBesideTheText)
{
    const std::string file = scratch_folder() + "/digits.dot";
    const Finished finished = run({"inspect", data_file("digits.onnx"), "--dot", file});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("reason"));
    EXPECT_EQ(tools::read_file(file).compare(0, 8, "digraph "), 0);
}

TEST(DotOption, StandardOutputIsForOne)
{
    const Finished finished =
        run({"inspect", data_file("digits.onnx"), "--dot", "-", "--json", "-"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr("--dot"));
}

}  // namespace
}  // namespace tengine::program
