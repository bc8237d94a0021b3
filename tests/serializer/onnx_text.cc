// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx_text.h"

#include <map>
#include <sstream>
#include <vector>

namespace tengine::test {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr const char* kDomains[] = {"ai.onnx.ml", "com.microsoft", "ai.onnx.preview", "local"};

// Returns types by their numbers: an older ONNX lacks some of the names.
int find_type(const std::string& name)
{
    static const std::map<std::string, int> kTypes = {
        {"float", 1},       {"uint8", 2},  {"int8", 3},          {"int16", 5},      {"int32", 6},
        {"int64", 7},       {"string", 8}, {"bool", 9},          {"uint4", 21},     {"int4", 22},
        {"float4e2m1", 23}, {"int2", 26},  {"float8e4m3fn", 17}, {"float8e5m2", 19}};
    return kTypes.at(name);
}

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
        parts.push_back(part);
    return parts;
}

class Parser
{
  public:
    ModelProto run(const std::string& text)
    {
        model_.set_ir_version(8);
        model_.add_opset_import()->set_version(24);
        for (const char* domain : kDomains) {
            model_.add_opset_import()->set_domain(domain);
            model_.mutable_opset_import()->rbegin()->set_version(domain == kDomains[0] ? 5 : 1);
        }
        scopes_.push_back({model_.mutable_graph(), nullptr, nullptr});
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            if (!line.empty()) read_line(line);
        return model_;
    }

  private:
    // A graph, or a function.
    struct Scope
    {
        GraphProto* graph;
        FunctionProto* function;
        NodeProto* node;  // the last one
    };

    void read_line(const std::string& line)
    {
        std::istringstream words(line);
        std::string word;
        words >> word;
        GraphProto* graph = scopes_.back().graph;
        if (word == "in") return read_input(words);
        if (word == "const") return read_constant(words, graph->add_initializer());
        if (word == "sparse") return read_sparse(words, graph->add_sparse_initializer());
        if (word == "body") return begin_body(words);
        if (word == "function") return begin_function(words);
        if (word == "end") return scopes_.pop_back();
        if (word != "out") return read_node(word, words);
        while (words >> word)
            graph->add_output()->set_name(word);
    }

    void read_input(std::istringstream& words)
    {
        std::string name, type, dims;
        words >> name >> type;
        ::onnx::ValueInfoProto* input = scopes_.back().graph->add_input();
        input->set_name(name);
        ::onnx::TypeProto* inner = input->mutable_type();
        if (type.compare(0, 3, "opt") == 0)
            inner = inner->mutable_optional_type()->mutable_elem_type();
        if (type.find("seq:") != std::string::npos)
            inner = inner->mutable_sequence_type()->mutable_elem_type();
        inner->mutable_tensor_type()->set_elem_type(find_type(type.substr(type.find(':') + 1)));
        if (!(words >> dims)) return;
        auto* shape = inner->mutable_tensor_type()->mutable_shape();
        for (const int64_t dim : read_dims(dims))
            shape->add_dim()->set_dim_value(dim);
    }

    static std::vector<int64_t> read_dims(const std::string& text)
    {
        std::vector<int64_t> dims;
        if (text == "-") return dims;
        for (const std::string& dim : split(text))
            dims.push_back(std::stoll(dim));
        return dims;
    }

    static void read_constant(std::istringstream& words, TensorProto* constant)
    {
        std::string name, type, dims, word;
        words >> name >> type >> dims >> word;
        constant->set_name(name);
        constant->set_data_type(find_type(type));
        for (const int64_t dim : read_dims(dims))
            constant->add_dims(dim);
        while (words >> word) {
            if (type == "float")
                constant->add_float_data(std::stof(word));
            else if (type == "int64")
                constant->add_int64_data(std::stoll(word));
            else if (type == "string")
                constant->add_string_data(word);
            else
                constant->add_int32_data(std::stoi(word));
        }
    }

    static void read_sparse(std::istringstream& words, ::onnx::SparseTensorProto* sparse)
    {
        std::string name, dims, word;
        words >> name >> dims >> word;
        for (const int64_t dim : read_dims(dims))
            sparse->add_dims(dim);
        TensorProto* values = sparse->mutable_values();
        TensorProto* indices = sparse->mutable_indices();
        values->set_name(name);
        values->set_data_type(TensorProto::FLOAT);
        indices->set_data_type(TensorProto::INT64);
        while (words >> word) {
            indices->add_int64_data(std::stoll(word));
            values->add_float_data(std::stof(word.substr(word.find(':') + 1)));
        }
        values->add_dims(values->float_data_size());
        indices->add_dims(values->float_data_size());
    }

    void read_node(const std::string& type, std::istringstream& words)
    {
        Scope& scope = scopes_.back();
        NodeProto* node = scope.function ? scope.function->add_node() : scope.graph->add_node();
        scope.node = node;
        const size_t colon = type.find(':');
        if (colon != std::string::npos) node->set_domain(type.substr(0, colon));
        node->set_op_type(type.substr(colon == std::string::npos ? 0 : colon + 1));
        std::string word;
        while (words >> word && word != "->")
            node->add_input(word == "_" ? "" : word);
        while (words >> word && word != ":")
            node->add_output(word);
        while (words >> word)
            read_attribute(word, node->add_attribute());
    }

    static void read_attribute(const std::string& word, AttributeProto* attribute)
    {
        const size_t sign = word.find('=');
        const std::string text = word.substr(sign + 1);
        attribute->set_name(word.substr(0, sign));
        if (text[0] == '@') {
            attribute->set_type(AttributeProto::FLOAT);
            return attribute->set_ref_attr_name(text.substr(1));
        }
        const size_t colon = text.find(':');
        if (text[0] != '\'' && colon != std::string::npos)
            return set_tensor(text.substr(0, colon), text.substr(colon + 1), attribute);
        const bool is_list = text.find(',') != std::string::npos;
        for (const std::string& part : split(text)) {
            if (part[0] == '\'')
                set_text(part.substr(1, part.size() - 2), is_list, attribute);
            else
                set_number(part, is_list, attribute);
        }
    }

    static void set_tensor(const std::string& type, const std::string& values,
                           AttributeProto* attribute)
    {
        attribute->set_type(AttributeProto::TENSOR);
        TensorProto* tensor = attribute->mutable_t();
        tensor->set_data_type(find_type(type));
        for (const std::string& value : split(values)) {
            if (type == "float")
                tensor->add_float_data(std::stof(value));
            else
                tensor->add_int32_data(std::stoi(value));
        }
        tensor->add_dims(tensor->float_data_size() + tensor->int32_data_size());
    }

    static void set_text(const std::string& text, bool is_list, AttributeProto* attribute)
    {
        attribute->set_type(is_list ? AttributeProto::STRINGS : AttributeProto::STRING);
        is_list ? attribute->add_strings(text) : attribute->set_s(text);
    }

    static void set_number(const std::string& text, bool is_list, AttributeProto* attribute)
    {
        if (text.find('.') == std::string::npos) {
            attribute->set_type(is_list ? AttributeProto::INTS : AttributeProto::INT);
            is_list ? attribute->add_ints(std::stoll(text)) : attribute->set_i(std::stoll(text));
        } else {
            attribute->set_type(is_list ? AttributeProto::FLOATS : AttributeProto::FLOAT);
            is_list ? attribute->add_floats(std::stof(text)) : attribute->set_f(std::stof(text));
        }
    }

    void begin_body(std::istringstream& words)
    {
        std::string name;
        words >> name;
        AttributeProto* attribute = scopes_.back().node->add_attribute();
        attribute->set_name(name);
        attribute->set_type(AttributeProto::GRAPH);
        attribute->mutable_g()->set_name(name);
        scopes_.push_back({attribute->mutable_g(), nullptr, nullptr});
    }

    void begin_function(std::istringstream& words)
    {
        FunctionProto* function = model_.add_functions();
        std::string word;
        words >> word;
        function->set_name(word);
        function->set_domain("local");
        *function->mutable_opset_import() = model_.opset_import();
        while (words >> word && word != "->")
            function->add_input(word);
        while (words >> word)
            function->add_output(word);
        scopes_.push_back({nullptr, function, nullptr});
    }

    ModelProto model_;
    std::vector<Scope> scopes_;
};

}  // namespace

ModelProto parse_onnx_text(const std::string& text)
{
    return Parser().run(text);
}

}  // namespace tengine::test
