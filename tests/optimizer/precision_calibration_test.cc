// SPDX-License-Identifier: Apache-2.0
// Float models that are computed in integers by calibration, and the options for it.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/log.h"
#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8, kUint8 = TENGINE_MODE_UINT8;

// x -> Conv c -> Relu r -> Add s (with a constant) -> Exp y.
struct FloatNet : PrecisionGraph
{
    explicit FloatNet(std::initializer_list<device*> devices = {}) : PrecisionGraph(devices)
    {
        input("x", {1, 2, 2, 2}, {-1, -0.5f, 0, 0.5f, 1, 0.25f, -0.75f, 0.9f});
        builder().floats("w", {2, 2, 1, 1}, {0.5f, -0.25f, 0.03f, 0.01f});
        builder().floats("b", {2}, {0.1f, -0.02f});
        builder().floats("k", {1, 2, 1, 1}, {-0.3f, 0.2f});
        builder().add("Conv", {"x", "w", "b"}, {"c"});
        builder().add("Relu", {"c"}, {"r"});
        builder().add("Add", {"r", "k"}, {"s"});
        builder().add("Exp", {"s"}, {"y"});
        builder().outputs({"y"});
    }
    void calibrate_all(int shift)
    {
        calibrate("x", 1.0f / 127, 0 + shift);
        calibrate("r", 1.0f / 255, -128 + shift);
        calibrate("s", 1.5f / 255, -77 + shift);
    }
};

TEST(PrecisionCalibration, AFloatModelInIntegers)
{
    for (const int precision : {kInt8, kUint8}) {
        FloatNet net;
        net.calibrate_all(precision == kUint8 ? 128 : 0);
        const Floats expected = net.run(kFloat);
        EXPECT_LE(steps_between(net.run(precision), expected, 0.02), 1);
        EXPECT_EQ(net.operators(), "QuantizeLinear QLinearConv QLinearAdd DequantizeLinear Exp");
        const tensor* weight = get_ir_node_input(net.find("c"), 3);
        const std::vector<int> bytes = {127, -64, 127, 42};  // each channel has its own scale
        for (int i = 0; i < 4; ++i)
            EXPECT_EQ(weight->i8[i], bytes[static_cast<size_t>(i)]);
        EXPECT_EQ(get_ir_node_output(net.find("c"), 0)->data_type,
                  precision == kUint8 ? TENGINE_DT_UINT8 : TENGINE_DT_INT8);
        EXPECT_EQ(net.builder().get()->node_num, 5) << "the model is as it was";
    }
}

TEST(PrecisionCalibration, WhatIsNotCalibratedStaysInFloat)
{
    FloatNet net;
    net.calibrate("x", 1.0f / 127, 0);
    const Floats expected = net.run(kFloat);
    EXPECT_EQ(net.run(kInt8), expected);
    EXPECT_EQ(net.operators(), "Conv Relu Add Exp");
}

TEST(PrecisionCalibration, ATensorIsQuantisedOnceForAllItsReaders)
{
    PrecisionGraph graph;
    graph.input("x", {1, 2}, {0.5f, -0.25f});
    graph.builder().add("Add", {"x", "x"}, {"a"});
    graph.builder().add("Mul", {"x", "a"}, {"m"});
    graph.builder().add("Add", {"m", "a"}, {"y"});
    graph.builder().outputs({"y"});
    for (const char* name : {"x", "a", "m", "y"})
        graph.calibrate(name, 0.02f, 0);
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 0.02), 2.01);
    EXPECT_EQ(graph.operators(),
              "QuantizeLinear QLinearAdd QLinearMul QLinearAdd DequantizeLinear");
}

TEST(PrecisionCalibration, ImpossibleParametersAreErrors)
{
    FloatNet net;
    net.calibrate("x", 0.1f, 200);
    EXPECT_EQ(net.prepare(kInt8), TENGINE_ERANGE);
    EXPECT_TRUE(says("tensor 'x' has the zero point 200, expected -128 to 127 for a run in int8"));
    EXPECT_EQ(net.prepare(kUint8), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(net.prepare(kFloat), TENGINE_OK) << tengine_error_message();
    net.calibrate("x", -0.1f, 0);
    EXPECT_EQ(net.prepare(kInt8), TENGINE_EINVAL);
    EXPECT_TRUE(says("scale -0.1"));
}

// ---- options ----

class KeepTest : public testing::TestWithParam<const char*>
{
};

TEST_P(KeepTest, KeepsNodesInFloat)
{
    FloatNet net;
    net.calibrate_all(0);
    net.calibrate("c", 1.0f / 127, 0);
    net.option("precision.keep_float", GetParam());
    net.run(kInt8);
    EXPECT_EQ(net.operators(),
              "QuantizeLinear QLinearConv DequantizeLinear Relu QuantizeLinear QLinearAdd "
              "DequantizeLinear Exp");
}

INSTANTIATE_TEST_SUITE_P(Nodes, KeepTest, testing::Values("r", "op:Relu", " r , y", "op:R*u"));

TEST(PrecisionOptions, APatternThatFitsNothingIsAWarning)
{
    static std::string log;
    log.clear();
    set_log_sink([](const char* line) { log += line; });
    FloatNet net;
    net.calibrate_all(0);
    net.option("precision.keep_float", "r,nonsense*,op:Nothing");
    net.run(kInt8);
    set_log_sink(nullptr);
    EXPECT_NE(log.find("'nonsense*' matches no node"), std::string::npos);
    EXPECT_NE(log.find("'op:Nothing' matches no node"), std::string::npos);
    EXPECT_EQ(log.find("'r' matches no node"), std::string::npos);
}

// Names of parametrised tests contain a /.
std::string file_name(std::string text)
{
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

class TableFile
{
  public:
    explicit TableFile(const std::string& text)
        : path_(testing::TempDir() + "precision_" +
                file_name(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".txt")
    {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TableFile() { std::remove(path_.c_str()); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

const std::string kTitle = "# tengine calibration table 1\n";

TEST(PrecisionTable, GivesScalesAndKeepsNodes)
{
    const TableFile file(kTitle +
                         "0.00787401575 0 x\r\n0.00392156863 -128 r\n\n0.00588235294 -77 s\n");
    FloatNet by_hand, by_table;
    by_hand.calibrate_all(0);
    by_table.option("precision.table", file.path());
    EXPECT_EQ(by_table.run(kInt8), by_hand.run(kInt8));
    EXPECT_EQ(by_table.operators(), by_hand.operators());
    EXPECT_EQ(by_table.run(kUint8), by_hand.run(kInt8)) << "zero points are those of int8";
    EXPECT_EQ(by_table.operators(), by_hand.operators());
    const TableFile keeping(kTitle + "0.0078 0 x\n0.0039 -128 r\n0.0059 -77 s\nkeep s\n");
    by_table.option("precision.table", keeping.path());
    by_table.run(kInt8);
    EXPECT_EQ(by_table.operators(), "QuantizeLinear QLinearConv DequantizeLinear Add Exp");
    by_table.run(kFloat);
    EXPECT_EQ(by_table.operators(), "Conv Relu Add Exp");
}

// x -> Reshape -> Conv c -> Reshape r -> Exp y, the form of a convolution of one axis in a tmfile.
struct ReshapedNet : PrecisionGraph
{
    ReshapedNet() : PrecisionGraph({})
    {
        input("x", {2, 4}, {-1, -0.5f, 0, 0.5f, 1, 0.25f, -0.75f, 0.9f});
        builder().floats("w", {2, 2, 1, 1}, {0.5f, -0.25f, 0.03f, 0.01f});
        builder().ints("image", {1, 2, 4, 1});
        builder().ints("rows", {2, 4});
        builder().add("Reshape", {"x", "image"}, {"before"});
        builder().add("Conv", {"before", "w"}, {"c"});
        builder().add("Reshape", {"c", "rows"}, {"r"});
        builder().add("Exp", {"r"}, {"y"});
        builder().outputs({"y"});
    }
};

TEST(PrecisionTable, IsForTheSameElementsInOtherShapesToo)
{
    const TableFile file(kTitle + "0.00787401575 0 x\n0.00588235294 0 r\n");
    ReshapedNet net;
    net.option("precision.table", file.path());
    const Floats expected = net.run(kFloat);
    EXPECT_LE(steps_between(net.run(kInt8), expected, 0.02), 1);
    EXPECT_EQ(net.operators(), "Reshape QuantizeLinear QLinearConv Reshape DequantizeLinear Exp");
    const TableFile keeping(kTitle + "0.00787401575 0 x\n0.00588235294 0 r\nkeep c\n");
    net.option("precision.table", keeping.path());
    net.run(kInt8);
    EXPECT_TRUE(net.operators().find("QLinearConv") == std::string::npos) << net.operators();
    EXPECT_TRUE(net.operators().find("Conv") != std::string::npos) << net.operators();
}

struct BadTable
{
    const char* text;
    const char* message;
};

class BadTableTest : public testing::TestWithParam<BadTable>
{
};

TEST_P(BadTableTest, IsAClearError)
{
    const TableFile file(GetParam().text);
    FloatNet net;
    net.option("precision.table", file.path());
    EXPECT_LT(net.prepare(kInt8), 0);
    EXPECT_TRUE(says(GetParam().message));
    EXPECT_TRUE(says(file.path()));
}

#define TITLE "# tengine calibration table 1\n"
INSTANTIATE_TEST_SUITE_P(
    Lines, BadTableTest,
    testing::Values(BadTable{"", "the file is empty"},
                    BadTable{"# tengine calibration table 2\n",
                             "line 1: '# tengine calibration table 2': expected '# "
                             "tengine calibration table 1'"},
                    BadTable{TITLE "0.1 0 x\n0.1 0 nonsense\n",
                             "line 3: tensor 'nonsense' is not in the model"},
                    BadTable{TITLE "0.1 x\n", "line 2: '0.1 x': expected '<scale>"},
                    BadTable{TITLE "0.1 0\n", "line 2: '0.1 0': expected '<scale>"},
                    BadTable{TITLE "0.1 0 \n", "expected '<scale>"},
                    BadTable{TITLE "nan 0 x\n", "expected '<scale>"},
                    BadTable{TITLE "1e999 0 x\n", "expected '<scale>"},
                    BadTable{TITLE "1e39 0 x\n", "the scale is not a positive number of fp32"},
                    BadTable{TITLE "1e-60 0 x\n", "the scale is not a positive number of fp32"},
                    BadTable{TITLE "0 0 x\n", "the scale is not a positive number of fp32"},
                    BadTable{TITLE "-1 0 x\n", "the scale is not a positive number of fp32"},
                    BadTable{TITLE "0.1 128 x\n",
                             "'x' has the zero point 128, expected -128 to 127"},
                    BadTable{TITLE "0.1 -129 x\n", "the zero point -129"},
                    BadTable{TITLE "0.1 99999999999999999999 x\n", "expected '<scale>"},
                    BadTable{TITLE "0.1 0 x\n0.2 0 x\n", "line 3: 'x' is given twice"}));

TEST(PrecisionTable, ThatCannotBeReadIsAnError)
{
    FloatNet net;
    net.option("precision.table", "/nonexistent/table");
    EXPECT_EQ(net.prepare(kInt8), TENGINE_EIO);
    EXPECT_TRUE(says("cannot read the calibration table '/nonexistent/table'"));
    net.option("precision.table", testing::TempDir());
    EXPECT_EQ(net.prepare(kInt8), TENGINE_EIO);
    const std::string pipe = testing::TempDir() + "precision_table_pipe";
    unlink(pipe.c_str());
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    net.option("precision.table", pipe);
    EXPECT_EQ(net.prepare(kInt8), TENGINE_EIO) << "which has no writer";
    unlink(pipe.c_str());
    net.option("precision.table", "/dev/zero");
    EXPECT_LT(net.prepare(kInt8), 0);
    EXPECT_EQ(net.prepare(TENGINE_MODE_BF16), TENGINE_OK) << "not checked";
}

}  // namespace
