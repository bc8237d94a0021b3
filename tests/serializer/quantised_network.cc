// SPDX-License-Identifier: Apache-2.0
#include "serializer/quantised_network.h"

#include <iterator>
#include <utility>
#include <vector>

#include "serializer/layer_text.h"
#include "serializer/onnx_text.h"

namespace tengine::test {
namespace {

class Maker : private LayerText
{
  public:
    explicit Maker(unsigned seed) : LayerText(seed) {}

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
    static const Layer kLayers[];

    void finish_image(const std::string& real) { images_.push_back(quantise(real)); }
    void finish_words(const std::string& real) { words_.push_back(quantise(real)); }

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

    std::string upscale()
    {
        const std::string name = fresh("f");
        line("const " + name + " float 4 = 1 1 2 2");
        return name;
    }
    void add_upsample()
    {
        const std::string large =
            node("Resize", image().real + " _ " + upscale(), "mode='nearest'");
        finish_image(node("MaxPool", large, "kernel_shape=2,2 strides=2,2"));
    }
    void add_deconv()
    {
        const Value w = weights("4,4,3,3", 4, 144);
        finish_image(node("ConvTranspose", image().real + " " + w.real, "pads=1,1,1,1"));
    }
    void add_pad()
    {
        const std::string pads = integers("int64", "8", 8, 1, 1);
        const std::string padded = node("Pad", image().real + " " + pads);
        finish_image(
            node("Slice", padded + " " + shape({1, 1, 1, 1}) + " " + shape({batch_ + 1, 5, 7, 7})));
    }
    void add_prelu()
    {
        finish_image(node("PRelu", image().real + " " + floats("4,1,1", 4, 0.1f, 0.5f)));
    }
    void add_wide()
    {
        const std::string scale = floats("-", 1, 0.001f, 0.002f);
        const std::string point = integers("int16", "-", 1, -300, 300);
        const std::string words = node("QuantizeLinear", image().real + " " + scale + " " + point);
        finish_image(node("Tanh", node("DequantizeLinear", words + " " + scale + " " + point)));
    }

    // ---- operators on the bytes ----

    // Dequantises `bytes`, whose scale is that of `of`.
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
    void add_qlinear_product()
    {
        const Value x = words(), w = weights("8,8", 1, 64), y = quantise(words().real);
        words_.push_back(dequantise(
            node("QLinearMatMul", x.bytes + " " + x.scale + " " + x.zero + " " + w.bytes + " " +
                                      w.scale + " " + w.zero + " " + y.scale + " " + y.zero),
            y.scale, y.zero, y.is_signed));
    }
    void add_product_of_integers()
    {
        const Value x = words();
        const std::string sum = node(
            "MatMulInteger", x.bytes + " " + integers("int8", "8,8", 64, -127, 127) + " " + x.zero);
        const std::string real = node("Cast", sum, "to=1");
        finish_words(node("Mul", real + " " + floats("-", 1, 0.0001f, 0.0003f)));
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
    void add_gru()
    {
        const std::string x = node("Transpose", words().real, "perm=1,0,2");
        const std::string y = fresh("t");
        line("GRU " + x + " " + weights("1,24,8", 1, 192).real + " " +
             weights("1,24,8", 1, 192).real + " " + floats("1,48", 48, -1, 1) + " -> " + y +
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

    Values images_, words_;
};

const Maker::Layer Maker::kLayers[] = {
    {10, &Maker::add_conv},
    {10, &Maker::add_conv},
    {10, &Maker::add_sum},
    {10, &Maker::add_pool},
    {10, &Maker::add_function},
    {14, &Maker::add_hard_swish},
    {10, &Maker::add_join},
    {10, &Maker::add_turn},
    {10, &Maker::add_reshape},
    {10, &Maker::add_slices},
    {10, &Maker::add_norm},
    {10, &Maker::add_gate},
    {10, &Maker::add_other_reader},
    {10, &Maker::add_negative},
    {14, &Maker::add_byte_sum},
    {14, &Maker::add_byte_relu},
    {10, &Maker::add_cast},
    {10, &Maker::add_integers},
    {10, &Maker::add_byte_move},
    {12, &Maker::add_byte_pool},
    {10, &Maker::add_qlinear_conv},
    {10, &Maker::add_qlinear_sum},
    {10, &Maker::add_conv_integer},
    {11, &Maker::add_dynamic},
    {11, &Maker::add_cumsum},
    {11, &Maker::add_choice},
    {11, &Maker::add_loop},
    {10, &Maker::add_product},
    {10, &Maker::add_attention},
    {10, &Maker::add_heads},
    {17, &Maker::add_layer_norm},
    {20, &Maker::add_gelu},
    {10, &Maker::add_lstm},
    {11, &Maker::add_upsample},
    {10, &Maker::add_deconv},
    {11, &Maker::add_pad},
    {10, &Maker::add_prelu},
    {21, &Maker::add_wide},
    {10, &Maker::add_qlinear_product},
    {10, &Maker::add_product_of_integers},
    {10, &Maker::add_gru},
    {10, &Maker::add_gemm},
    {10, &Maker::add_conv_1d},
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
