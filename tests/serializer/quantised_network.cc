// SPDX-License-Identifier: Apache-2.0
#include "serializer/quantised_network.h"

#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "serializer/onnx_text.h"

namespace tengine::test {
namespace {

// Numbers of a linear congruential generator, which are the same everywhere.
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

// A quantised tensor: what it stands for, its bytes, and how they are to be read.
struct Value
{
    std::string real, bytes, scale, zero;
    bool is_signed;
};

using Values = std::vector<Value>;

class Maker
{
  public:
    explicit Maker(unsigned seed)
        : dice_(seed), batch_(dice_.whole(1, 2)), opset_(kOpsets[dice_.whole(0, 5)])
    {
    }

    QuantisedNetwork run()
    {
        add_inputs();
        const int number = dice_.whole(2, 6);
        for (int i = 0; i < number; ++i)
            add_layer();
        add_outputs();
        return {text_, opset_};
    }

  private:
    struct Layer
    {
        int first_opset;
        void (Maker::*add)();
    };
    static constexpr int kOpsets[] = {10, 11, 13, 14, 17, 21};
    static const Layer kLayers[];

    // ---- text ----

    std::string fresh(const char* prefix) { return prefix + std::to_string(++last_name_); }

    void line(const std::string& statement) { text_ += statement + "\n"; }

    // A node with one output, whose name it returns.
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
    void finish_image(const std::string& real) { images_.push_back(quantise(real)); }
    void finish_words(const std::string& real) { words_.push_back(quantise(real)); }

    // Weights whose first dimension has the output channels.
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

    const Value& image() { return images_[dice_.whole(0, static_cast<int>(images_.size()) - 1)]; }
    const Value& words() { return words_[dice_.whole(0, static_cast<int>(words_.size()) - 1)]; }

    // ---- layers of images ----

    void add_conv()
    {
        const bool is_deep = dice_.one_in(4);
        const Value w = weights(is_deep ? "4,1,3,3" : "4,4,3,3", 4, is_deep ? 36 : 144);
        std::string inputs = image().real + " " + w.real;
        if (!dice_.one_in(3)) inputs += " " + bias(4);
        std::string result =
            node("Conv", inputs, std::string("pads=1,1,1,1 group=") + (is_deep ? "4" : "1"));
        if (dice_.one_in(2)) result = clamp(result);
        finish_image(result);
    }
    std::string clamp(const std::string& value)
    {
        if (opset_ < 11 || dice_.one_in(2)) return node("Relu", value);
        return node("Clip", value + " " + floats("-", 1, -0.5f, 0) + " " + floats("-", 1, 1, 6));
    }
    void add_sum()
    {
        const std::string sum =
            node(dice_.one_in(2) ? "Add" : "Mul", image().real + " " + image().real);
        finish_image(dice_.one_in(3) ? clamp(sum) : sum);
    }
    void add_pool()
    {
        finish_image(node(dice_.one_in(2) ? "MaxPool" : "AveragePool", image().real,
                          "kernel_shape=3,3 pads=1,1,1,1"));
    }
    void add_function()
    {
        static const char* const kOps[] = {"Sigmoid", "Tanh", "Relu", "LeakyRelu", "Elu"};
        finish_image(node(kOps[dice_.whole(0, 4)], image().real));
    }
    void add_hard_swish() { finish_image(node("HardSwish", image().real)); }
    std::string split_two(const std::string& value, int axis)
    {
        const std::string first = fresh("a"), second = fresh("b");
        line("Split " + value + " -> " + first + " " + second + " : axis=" + std::to_string(axis) +
             (opset_ >= 18 ? " num_outputs=2" : ""));
        return first + " " + second;
    }
    void add_join()
    {
        const std::string joined =
            quantise(node("Concat", image().real + " " + image().real, "axis=1")).real;
        const std::string halves = split_two(joined, 1);
        finish_image(halves.substr(0, halves.find(' ')));
        finish_image(halves.substr(halves.find(' ') + 1));
    }
    void add_turn()
    {
        std::string turned = node("Transpose", image().real, "perm=0,2,3,1");
        if (dice_.one_in(2)) turned = quantise(turned).real;
        if (dice_.one_in(2)) turned = node("Relu", turned);
        finish_image(node("Transpose", turned, "perm=0,3,1,2"));
    }
    void add_reshape()
    {
        std::string flat = node("Reshape", image().real + " " + shape({batch_, 4, 36}));
        if (dice_.one_in(2)) flat = quantise(flat).real;
        finish_image(node("Reshape", flat + " " + shape({batch_, 4, 6, 6})));
    }
    void add_slices()
    {
        const std::string real = image().real;
        const std::string low =
            node("Slice", real + " " + shape({0}) + " " + shape({3}) + " " + shape({2}));
        const std::string high =
            node("Slice", real + " " + shape({3}) + " " + shape({6}) + " " + shape({2}));
        finish_image(node("Concat", high + " " + low, "axis=2"));
    }
    void add_norm()
    {
        finish_image(node("BatchNormalization", image().real + " " + floats("4", 4, 0.5f, 2) + " " +
                                                    floats("4", 4, -1, 1) + " " +
                                                    floats("4", 4, -1, 1) + " " +
                                                    floats("4", 4, 0.5f, 2)));
    }
    void add_gate()
    {
        const Value x = image();
        const Value mean = quantise(node("GlobalAveragePool", x.real));
        const Value gate = quantise(node("Sigmoid", mean.real));
        finish_image(node("Mul", x.real + " " + gate.real));
    }

    // ---- operators on the bytes ----

    // Of `bytes`, which come from those of `of`.
    void finish_bytes(const std::string& bytes, const Value& of)
    {
        const bool keeps = dice_.one_in(2);
        images_.push_back(dequantise(bytes, keeps ? of.scale : floats("-", 1, 0.01f, 0.05f),
                                     of.zero, of.is_signed));
    }
    void add_other_reader()
    {
        const Value x = image();
        finish_bytes(x.bytes, x);
    }
    void add_negative()
    {
        const Value x = signed_image();
        finish_bytes(node("Neg", x.bytes), x);
    }
    Value signed_image()
    {
        for (const Value& value : images_)
            if (value.is_signed) return value;
        const std::string point = zero(true), scale = floats("-", 1, 0.01f, 0.05f);
        return dequantise(node("QuantizeLinear", image().real + " " + scale + " " + point), scale,
                          point, true);
    }
    void add_byte_sum()
    {
        const Value x = image();
        const std::string other =
            x.is_signed ? integers("int8", "4,1,1", 4, -9, 9) : integers("uint8", "4,1,1", 4, 0, 9);
        finish_bytes(node(dice_.one_in(2) ? "Add" : "Mul", x.bytes + " " + other), x);
    }
    void add_byte_relu()
    {
        const Value x = signed_image();
        finish_bytes(node(dice_.one_in(2) ? "Relu" : "Abs", x.bytes), x);
    }
    void add_cast()
    {
        const Value x = image();
        const std::string real = node("Cast", x.bytes, "to=1");
        finish_image(node("Mul", real + " " + floats("-", 1, 0.01f, 0.05f)));
    }
    void add_integers()
    {
        const Value x = image();
        const std::string wide = node("Cast", x.bytes, "to=6");
        const std::string sum = node("Add", wide + " " + integers("int32", "-", 1, -5, 5));
        finish_bytes(node("Cast", sum, x.is_signed ? "to=3" : "to=2"), x);
    }
    void add_byte_move()
    {
        const Value x = image();
        switch (dice_.whole(0, 3)) {
            case 0:
                return finish_bytes(node("Transpose", x.bytes, "perm=0,1,3,2"), x);
            case 1:
                return finish_bytes(
                    node("Reshape", node("Reshape", x.bytes + " " + shape({batch_, 2, 72})) + " " +
                                        shape({batch_, 4, 6, 6})),
                    x);
            case 2:
                return finish_bytes(node("Concat", split_two(x.bytes, 3), "axis=3"), x);
            default:
                return finish_bytes(node("Gather", x.bytes + " " + shape({3, 1, 0, 2}), "axis=1"),
                                    x);
        }
    }
    void add_byte_pool()
    {
        const Value x = image();
        finish_bytes(node("MaxPool", x.bytes, "kernel_shape=3,3 pads=1,1,1,1"), x);
    }
    void add_qlinear_conv()
    {
        const Value x = image(), w = weights("4,4,1,1", 4, 16), y = quantise(image().real);
        images_.push_back(dequantise(
            node("QLinearConv", x.bytes + " " + x.scale + " " + x.zero + " " + w.bytes + " " +
                                    w.scale + " " + w.zero + " " + y.scale + " " + y.zero),
            y.scale, y.zero, y.is_signed));
    }
    void add_qlinear_sum()
    {
        const Value x = image();
        images_.push_back(
            dequantise(node("com.microsoft:QLinearAdd", x.bytes + " " + x.scale + " " + x.zero +
                                                            " " + x.bytes + " " + x.scale + " " +
                                                            x.zero + " " + x.scale + " " + x.zero),
                       x.scale, x.zero, x.is_signed));
    }
    void add_conv_integer()
    {
        const Value x = image();
        const std::string sum =
            node("ConvInteger",
                 x.bytes + " " + integers("int8", "4,4,1,1", 16, -127, 127) + " " + x.zero);
        const std::string real = node("Cast", sum, "to=1");
        finish_image(node("Mul", real + " " + floats("-", 1, 0.0001f, 0.0003f)));
    }
    void add_dynamic()
    {
        const std::string bytes = fresh("d"), scale = fresh("d"), point = fresh("d");
        line("DynamicQuantizeLinear " + image().real + " -> " + bytes + " " + scale + " " + point);
        finish_image(node("DequantizeLinear", bytes + " " + scale + " " + point));
    }

    // ---- what Tengine has no operator for, and bodies ----

    void add_cumsum()
    {
        finish_image(node("CumSum", image().real + " " + integers("int64", "-", 1, 2, 2)));
    }
    void add_choice()
    {
        const Value x = image();
        const std::string output = fresh("t"), inner = fresh("t"), other = fresh("t");
        line("If flag -> " + output);
        line("body then_branch");
        line("Relu " + x.real + " -> " + inner);
        line("out " + inner);
        line("end");
        line("body else_branch");
        line("DequantizeLinear " + x.bytes + " " + x.scale + " " + x.zero + " -> " + other);
        line("out " + other);
        line("end");
        finish_image(output);
    }
    void add_loop()
    {
        const Value x = image();
        const std::string output = fresh("t"), i = fresh("n"), on = fresh("n"), v = fresh("n"),
                          u = fresh("n"), q = fresh("n"), r = fresh("n");
        const std::string number = integers("int64", "-", 1, 2, 2);
        line("Loop " + number + " _ " + x.real + " -> " + output);
        line("body body");
        line("in " + i + " int64 -");
        line("in " + on + " bool -");
        line("in " + v + " float " + image_dims());
        line("Mul " + v + " " + x.real + " -> " + u);
        line("QuantizeLinear " + u + " " + x.scale + " " + x.zero + " -> " + q);
        line("DequantizeLinear " + q + " " + x.scale + " " + x.zero + " -> " + r);
        line("out " + on + " " + r);
        line("end");
        finish_image(output);
    }

    // ---- layers of sequences ----

    std::string multiply(const std::string& real)
    {
        const std::string product = node("MatMul", real + " " + weights("8,8", 8, 64).real);
        return dice_.one_in(2) ? node("Add", product + " " + bias(8)) : product;
    }
    std::string project(const std::string& real) { return quantise(multiply(real)).real; }
    void add_product() { finish_words(multiply(words().real)); }
    void add_attention()
    {
        const std::string x = words().real;
        const std::string q = project(x), k = project(x), v = project(x);
        std::string turned = node("Transpose", k, "perm=0,2,1");
        if (dice_.one_in(2)) turned = quantise(turned).real;
        std::string weight = quantise(node("MatMul", q + " " + turned)).real;
        if (dice_.one_in(2)) weight = node("Mul", weight + " " + floats("-", 1, 0.3f, 0.5f));
        const std::string share = quantise(node("Softmax", weight, "axis=-1")).real;
        const std::string result = quantise(node("MatMul", share + " " + v)).real;
        finish_words(node("Add", project(result) + " " + x));
    }
    std::string to_heads(const std::string& value)
    {
        return node("Transpose", node("Reshape", value + " " + shape({batch_, 6, 2, 4})),
                    "perm=0,2,1,3");
    }
    void add_heads()
    {
        const std::string x = words().real;
        const std::string q = to_heads(project(x));
        const std::string k = node("Transpose", to_heads(project(x)), "perm=0,1,3,2");
        const std::string v = to_heads(project(x));
        const std::string weight = quantise(node("MatMul", q + " " + k)).real;
        const std::string share = quantise(node("Softmax", weight, "axis=-1")).real;
        const std::string mixed = quantise(node("MatMul", share + " " + v)).real;
        const std::string turned = node("Transpose", mixed, "perm=0,2,1,3");
        finish_words(node("Reshape", turned + " " + shape({batch_, 6, 8})));
    }
    void add_layer_norm()
    {
        const std::string x = words().real;
        const std::string norm =
            quantise(node("LayerNormalization",
                          x + " " + floats("8", 8, 0.5f, 2) + " " + floats("8", 8, -1, 1)))
                .real;
        finish_words(node("Add", project(norm) + " " + x));
    }
    void add_gelu() { finish_words(node("Gelu", words().real)); }
    void add_lstm()
    {
        const std::string x = node("Transpose", words().real, "perm=1,0,2");
        const std::string y = fresh("t");
        line("LSTM " + x + " " + weights("1,32,8", 1, 256).real + " " +
             weights("1,32,8", 1, 256).real + " " + floats("1,64", 64, -1, 1) + " -> " + y +
             " : hidden_size=8");
        finish_words(node("Transpose", squeeze(y, 1), "perm=1,0,2"));
    }
    void add_gemm()
    {
        const std::string rows = node("Reshape", words().real + " " + shape({batch_ * 6, 8}));
        const Value w = weights("8,8", 8, 64);
        const std::string sum = node("Gemm", rows + " " + w.real + " " + bias(8), "transB=1");
        finish_words(node("Reshape", quantise(sum).real + " " + shape({batch_, 6, 8})));
    }
    void add_conv_1d()
    {
        const std::string x = node("Transpose", words().real, "perm=0,2,1");
        std::string y = node("Conv", x + " " + weights("8,8,3", 8, 192).real, "pads=1,1");
        if (dice_.one_in(2)) y = node("AveragePool", quantise(y).real, "kernel_shape=3, pads=2,0");
        finish_words(node("Transpose", quantise(y).real, "perm=0,2,1"));
    }

    // ---- the whole ----

    void add_inputs()
    {
        line("in flag bool -");
        line("in words float " + words_dims());
        finish_words("words");
        const int kind = dice_.whole(0, 3);
        if (kind == 0) {
            const bool is_signed = dice_.whole(0, 1) == 1;
            line(std::string("in image ") + type_of(is_signed) + " " + image_dims());
            images_.push_back(
                dequantise("image", floats("-", 1, 0.01f, 0.05f), zero(is_signed), is_signed));
            return;
        }
        line("in image float " + image_dims());
        for (int i = 0; i < (kind == 1 ? 2 : 1); ++i)
            finish_image("image");
    }
    void add_layer();
    void add_outputs()
    {
        line("out " + images_.back().real);
        line("out " + words_.back().real);
        if (dice_.one_in(2)) line("out " + node("Relu", image().real));
        const std::string& bytes = images_[images_.size() / 2].bytes;
        if (dice_.one_in(3) && bytes != "image") line("out " + bytes);
        if (dice_.one_in(3) && words_.size() > 1) line("out " + words_[0].real);
    }

    Dice dice_;
    const int batch_, opset_;
    int last_name_ = 0;
    std::string text_;
    Values images_, words_;
};

constexpr int Maker::kOpsets[];

const Maker::Layer Maker::kLayers[] = {
    {10, &Maker::add_conv},         {10, &Maker::add_conv},         {10, &Maker::add_sum},
    {10, &Maker::add_pool},         {10, &Maker::add_function},     {14, &Maker::add_hard_swish},
    {10, &Maker::add_join},         {10, &Maker::add_turn},         {10, &Maker::add_reshape},
    {10, &Maker::add_slices},       {10, &Maker::add_norm},         {10, &Maker::add_gate},
    {10, &Maker::add_other_reader}, {10, &Maker::add_negative},     {14, &Maker::add_byte_sum},
    {14, &Maker::add_byte_relu},    {10, &Maker::add_cast},         {10, &Maker::add_integers},
    {10, &Maker::add_byte_move},    {12, &Maker::add_byte_pool},    {10, &Maker::add_qlinear_conv},
    {10, &Maker::add_qlinear_sum},  {10, &Maker::add_conv_integer}, {11, &Maker::add_dynamic},
    {11, &Maker::add_cumsum},       {11, &Maker::add_choice},       {11, &Maker::add_loop},
    {10, &Maker::add_product},      {10, &Maker::add_attention},    {10, &Maker::add_heads},
    {17, &Maker::add_layer_norm},   {20, &Maker::add_gelu},         {10, &Maker::add_lstm},
    {10, &Maker::add_gemm},         {10, &Maker::add_conv_1d},
};

void Maker::add_layer()
{
    const Layer& layer = kLayers[dice_.whole(0, static_cast<int>(std::size(kLayers)) - 1)];
    if (layer.first_opset <= opset_) (this->*layer.add)();
}

}  // namespace

std::string QuantisedNetwork::encode() const
{
    ::onnx::ModelProto model = parse_onnx_text(text);
    model.mutable_opset_import(0)->set_version(opset);
    return model.SerializeAsString();
}

QuantisedNetwork make_quantised_network(unsigned seed)
{
    return Maker(seed).run();
}

}  // namespace tengine::test
