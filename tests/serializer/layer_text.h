// SPDX-License-Identifier: Apache-2.0
// The text of random quantised layers: nodes, constants, and the nodes that quantise.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace tengine::test {

// Numbers of a linear congruential generator, which are equal on all machines.
class Dice
{
  public:
    explicit Dice(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
    int whole(int low, int high) { return low + static_cast<int>(next() % (high - low + 1u)); }
    float real(float low, float high)
    {
        return low + (high - low) * static_cast<float>(next()) / 16777216.0f;
    }
    bool one_in(int number) { return whole(1, number) == 1; }

  private:
    unsigned next()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return state_ >> 8;
    }
    unsigned state_;
};

// A quantised tensor: its real values, its quantised values, and their scale.
struct Value
{
    std::string real, bytes, scale, zero;
    bool is_signed;
};

using Values = std::vector<Value>;

class LayerText
{
  protected:
    explicit LayerText(unsigned seed)
        : dice_(seed), batch_(dice_.whole(1, 2)), opset_(kOpsets[dice_.whole(0, 5)])
    {
    }

    // ---- text ----

    std::string fresh(const char* prefix) { return prefix + std::to_string(++last_name_); }

    void line(const std::string& statement) { text_ += statement + "\n"; }

    // Adds a node with one output, whose name it returns.
    std::string node(const std::string& op, const std::string& inputs,
                     const std::string& attributes = "")
    {
        const std::string output = fresh("t");
        line(op + " " + inputs + " -> " + output + " : " + attributes);
        return output;
    }

    std::string floats(const std::string& dims, int number, float low, float high)
    {
        const std::string name = fresh("f");
        std::string statement = "const " + name + " float " + dims + " =";
        for (int i = 0; i < number; ++i) {
            char value[32];
            std::snprintf(value, sizeof value, " %.9g", static_cast<double>(dice_.real(low, high)));
            statement += value;
        }
        line(statement);
        return name;
    }

    std::string integers(const char* type, const std::string& dims, int number, int low, int high)
    {
        const std::string name = fresh("i");
        std::string statement = std::string("const ") + name + " " + type + " " + dims + " =";
        for (int i = 0; i < number; ++i)
            statement += " " + std::to_string(dice_.whole(low, high));
        line(statement);
        return name;
    }

    std::string shape(const std::vector<int>& dims)
    {
        const std::string name = fresh("s");
        std::string statement = "const " + name + " int64 " + std::to_string(dims.size()) + " =";
        for (const int dim : dims)
            statement += " " + std::to_string(dim);
        line(statement);
        return name;
    }

    std::string image_dims() const { return std::to_string(batch_) + ",4,6,6"; }
    std::string words_dims() const { return std::to_string(batch_) + ",6,8"; }
    std::string squeeze(const std::string& value, int axis)
    {
        return opset_ < 13 ? node("Squeeze", value, "axes=" + std::to_string(axis) + ",")
                           : node("Squeeze", value + " " + shape({axis}));
    }

    // ---- quantisation ----

    static const char* type_of(bool is_signed) { return is_signed ? "int8" : "uint8"; }
    std::string zero(bool is_signed, bool is_weight = false)
    {
        if (is_weight && is_signed && !dice_.one_in(4)) return integers("int8", "-", 1, 0, 0);
        return is_signed ? integers("int8", "-", 1, -40, 40) : integers("uint8", "-", 1, 90, 170);
    }

    Value dequantise(const std::string& bytes, const std::string& scale, const std::string& zero,
                     bool is_signed)
    {
        return {node("DequantizeLinear", bytes + " " + scale + " " + zero), bytes, scale, zero,
                is_signed};
    }
    Value quantise(const std::string& real)
    {
        const bool is_signed = dice_.whole(0, 1) == 1;
        const std::string scale = floats("-", 1, 0.01f, 0.05f);
        const std::string point = zero(is_signed);
        const std::string bytes = node("QuantizeLinear", real + " " + scale + " " + point);
        return dequantise(bytes, scale, point, is_signed);
    }

    // Adds weights whose first dimension is the output channels.
    Value weights(const std::string& dims, int channels, int number)
    {
        const bool is_signed = dice_.whole(0, 2) > 0;
        const std::string bytes = is_signed ? integers("int8", dims, number, -127, 127)
                                            : integers("uint8", dims, number, 0, 255);
        if (opset_ < 13 || !is_signed || dice_.whole(0, 1) == 0)
            return dequantise(bytes, floats("-", 1, 0.001f, 0.003f), zero(is_signed, true),
                              is_signed);
        const std::string count = std::to_string(channels);
        const std::string scale = floats(count, channels, 0.001f, 0.003f);
        const std::string point = integers("int8", count, channels, 0, 0);
        return {node("DequantizeLinear", bytes + " " + scale + " " + point, "axis=0"), bytes, scale,
                point, true};
    }
    std::string bias(int channels)
    {
        const std::string count = std::to_string(channels);
        if (dice_.whole(0, 1) == 0) return floats(count, channels, -1, 1);
        const std::string words = integers("int32", count, channels, -2000, 2000);
        return node("DequantizeLinear", words + " " + floats("-", 1, 0.0001f, 0.0003f));
    }

    Dice dice_;
    const int batch_, opset_;
    std::string text_;

  private:
    static constexpr int kOpsets[] = {10, 11, 13, 14, 17, 21};

    int last_name_ = 0;
};

}  // namespace tengine::test
