// SPDX-License-Identifier: Apache-2.0
#include "tools/recognised_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

std::vector<std::string> cut(const std::string& text, char at)
{
    std::istringstream words(text);
    std::vector<std::string> list;
    for (std::string each; std::getline(words, each, at);)
        list.push_back(each);
    return list;
}

std::vector<int64_t> read_list(const std::string& text, char at)
{
    std::vector<int64_t> list;
    for (const std::string& each : cut(text, at))
        list.push_back(std::stoll(each));
    return list;
}

std::vector<float> draw(const std::string& seed, int64_t number)
{
    std::minstd_rand random(static_cast<unsigned>(std::hash<std::string>()(seed)));
    std::uniform_real_distribution<float> values(-0.5f, 0.5f);
    std::vector<float> drawn;
    for (int64_t i = 0; i < number; ++i)
        drawn.push_back(values(random));
    return drawn;
}

std::vector<float> make_table(float (*function)(float), int64_t rows, int64_t columns)
{
    constexpr int64_t kPairs = 4;
    std::vector<float> table;
    for (int64_t i = 0; i < rows * columns; ++i) {
        const int64_t row = i / columns, pair = i % columns % kPairs;
        table.push_back(function(static_cast<float>(row + 1) / static_cast<float>(1 << pair)));
    }
    return table;
}

class Writer
{
  public:
    void add_constant(const std::string& word)
    {
        if (!known_.insert(word).second) return;
        if (word[0] == '[') {
            maker.integers(word, read_list(word.substr(1, word.size() - 2), ','));
        } else if (word[0] == '#') {
            const auto shape = read_list(word.substr(1, word.find_first_of("abcdefg") - 1), 'x');
            int64_t number = 1;
            for (const int64_t extent : shape)
                number *= extent;
            maker.constant(word, shape, draw(word, number));
        } else if (word.compare(0, 3, "cos") == 0 || word.compare(0, 3, "sin") == 0) {
            const auto shape = read_list(word.substr(3), 'x');
            maker.constant(word, shape,
                           make_table(word[0] == 'c' ? cosf : sinf, shape[0], shape[1]));
        } else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
            maker.constant(word, {}, {std::stof(word)});
        }
    }

    void add_node(const std::string& line)
    {
        std::istringstream words(line);
        std::string outputs, word, op;
        words >> outputs >> word >> op;
        std::vector<std::string> inputs, attributes;
        while (words >> word)
            (word.find('=') == std::string::npos ? inputs : attributes).push_back(word);
        for (const std::string& input : inputs)
            add_constant(input);
        const std::vector<std::string> names = cut(outputs, ',');
        ::onnx::NodeProto* node = maker.node(op, inputs, names[0]);
        for (size_t i = 1; i < names.size(); ++i)
            node->add_output(names[i]);
        for (const std::string& attribute : attributes)
            add_attribute(node, attribute);
    }

    ModelMaker maker{{2, 6, 8}};

  private:
    static void add_attribute(::onnx::NodeProto* node, const std::string& text)
    {
        const size_t equals = text.find('=');
        const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
        if (name == "axes" || name == "perm")
            set_ints(node, name, read_list(value, ','));
        else
            set_int(node, name, std::stoll(value));
    }

    std::set<std::string> known_;
};

}  // namespace

const std::vector<RecognisedModel> kRecognisedModels = {
    {"gelu", "Gelu", "e",
     "h = MatMul x #8x8; d = Div h 1.41421356; e = Erf d; g = Add e 1; p = Mul h g; "
     "z = Mul p 0.5; y = MatMul z #8x8b"},
    {"gelu_tanh", "Gelu", "e",
     "h = MatMul x #8x8; c = Pow h 3; d = Mul c 0.044715; s = Add h d; t = Mul s 0.79788456; "
     "e = Tanh t; g = Add e 1; p = Mul h 0.5; z = Mul p g; y = MatMul z #8x8b"},
    {"swish", "Swish", "g", "h = MatMul x #8x8; g = Sigmoid h; z = Mul h g; y = MatMul z #8x8b"},
    {"hard_swish", "HardSwish", "p",
     "h = MatMul x #8x8; a = Add h 3; c = Clip a 0 6; p = Mul h c; z = Div p 6; "
     "y = MatMul z #8x8b"},
    {"layer_norm", "LayerNormalization", "r",
     "h = MatMul x #8x8; m = ReduceMean h axes=-1; c = Sub h m; q = Pow c 2; "
     "v = ReduceMean q axes=-1; a = Add v 0.00001; r = Sqrt a; n = Div c r; s = Mul n #8; "
     "z = Add s #8b; y = MatMul z #8x8b"},
    {"rms_norm", "RMSNormalization", "r",
     "h = MatMul x #8x8; q = Mul h h; v = ReduceMean q axes=-1; a = Add v 0.00001; r = Sqrt a; "
     "i = Reciprocal r; n = Mul h i; z = Mul #8 n; y = MatMul z #8x8b"},
    {"rotary", "RotaryEmbedding", "u",
     "h = MatMul x #8x8; f,b = Split h [4,4] axis=-1; n = Neg b; t = Concat n f axis=-1; "
     "u = Mul t sin6x8; v = Mul h cos6x8; z = Add v u; y = MatMul z #8x8b"},
    {"rotary_computed", "RotaryEmbedding", "u",
     "h = MatMul x #8x8; m = ReduceMean x axes=-1; g = Mul m #4; w = Concat g g axis=-1; "
     "k = Cos w; l = Sin w; f,b = Split h [4,4] axis=-1; n = Neg b; t = Concat n f axis=-1; "
     "u = Mul t l; v = Mul h k; z = Add v u; y = MatMul z #8x8b"},
    {"rotary_pairs", "RotaryEmbedding", "a",
     "h = MatMul x #8x8; e = Slice h [0] [99] [2] [2]; o = Slice h [1] [99] [2] [2]; "
     "p = Mul e cos6x4; q = Mul o sin6x4; r = Sub p q; k = Mul o cos6x4; l = Mul e sin6x4; "
     "m = Add k l; a = Unsqueeze r [3]; c = Unsqueeze m [3]; t = Concat a c axis=-1; "
     "z = Reshape t [2,6,8]; y = MatMul z #8x8b"},
    {"rotary_neighbours", "RotaryEmbedding", "a",
     "h = MatMul x #8x8; i = Reshape h [2,6,2,4]; j = Transpose i perm=0,2,1,3; "
     "e = Slice j [0] [99] [3] [2]; o = Slice j [1] [99] [3] [2]; p = Mul e cos6x2; "
     "q = Mul o sin6x2; r = Sub p q; k = Mul o cos6x2; l = Mul e sin6x2; m = Add k l; "
     "a = Unsqueeze r [4]; c = Unsqueeze m [4]; t = Concat a c axis=-1; "
     "z = Reshape t [2,2,6,4]; u = Transpose z perm=0,2,1,3; v = Reshape u [2,6,8]; "
     "y = MatMul v #8x8b"},
    {"attention", "Attention", "w",
     "h = MatMul x #8x8; i = MatMul x #8x8c; j = MatMul x #8x8d; q0 = Reshape h [2,6,2,4]; "
     "k0 = Reshape i [2,6,2,4]; v0 = Reshape j [2,6,2,4]; q = Transpose q0 perm=0,2,1,3; "
     "k = Transpose k0 perm=0,2,3,1; v = Transpose v0 perm=0,2,1,3; p = MatMul q k; "
     "d = Mul p 0.5; m = Add d #6x6; w = Softmax m axis=-1; z = MatMul w v; "
     "t = Transpose z perm=0,2,1,3; r = Reshape t [2,6,8]; y = MatMul r #8x8b"},
};

std::string write_recognised(const RecognisedModel& model, const std::string& folder)
{
    Writer writer;
    for (const std::string& line : cut(model.nodes, ';'))
        writer.add_node(line);
    return writer.maker.write(folder);
}

}  // namespace tengine::program
