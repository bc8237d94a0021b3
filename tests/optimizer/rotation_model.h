// SPDX-License-Identifier: Apache-2.0
// Models of rotations for the pass recognise: built from a text, and computed in double by their
// definition.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimizer/recognise_model.h"

namespace tengine::test {

constexpr int kBatch = 2, kHeads = 3, kTokens = 6, kSize = 8, kHalf = kSize / 2;

// Dimensions of x.
extern const Dims kHeadsFirst, kTokensFirst, kOneHead;

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

extern const std::vector<Rotation> kRotations;  // all forms
// The forms that tmfiles make of neighbours, for x of kHeadsFirst.
extern const std::vector<Rotation> kReshapedRotations;

// The error of a cosine that the CPU computes.
constexpr double kErrorOfCosine = 2e-7;

std::string exchange(std::string text, const std::string& from, const std::string& to);
std::vector<std::string> cut(const std::string& text, char at);

class RotationModel
{
  public:
    explicit RotationModel(const Rotation& rotation, context* context = nullptr);

    graph* get() { return builder_.get(); }

    // The values of y, none where it is not fp32.
    std::vector<float> run(int precision = TENGINE_MODE_FP32);

    // The execution graph's, after a run.
    Operators operators();
    bool is_recognised();

  private:
    void add_input(const std::string& name, const Dims& dims, const std::vector<float>& values);
    void add_constant(const std::string& name, const Dims& dims, const std::vector<float>& values);
    void add_tables();
    void add_nodes(const std::string& text);
    std::string find_or_make(const std::string& word);

    const Rotation rotation_;
    IrBuilder builder_;
};

// Compares with the definition, in double. The bound of an error is `unit` times the magnitudes of
// both products, and that of the table.
void expect_rotation(const Rotation& rotation, const std::vector<float>& found,
                     double error_of_table, double unit = 2.001 * 0x1p-24);

// The same with all results as outputs, so that the nodes stay.
Rotation show_results(Rotation rotation);

}  // namespace tengine::test
