// SPDX-License-Identifier: Apache-2.0
// The operators of the schema, by their codes: those that docs/tflite.md lists are not read, all
// others are. The types of options are those of the files of the shared data.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "schema_generated.h"
#include "serializer/tflite/model_test.h"
#include "serializer/tflite/writing.h"

namespace tengine::test {
namespace {

constexpr int kOperators = 210;  // of the schema

std::string read_text(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// "| 15 | LSH_PROJECTION |": the names by the codes.
std::map<int, std::string> list_documented()
{
    const std::string text = read_text(TENGINE_SOURCE_DIR "/docs/tflite.md");
    const std::regex row("\\n\\| ([0-9]+) \\| ([A-Z0-9_]+) \\|");
    std::map<int, std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match)
        names[std::stoi((*match)[1])] = (*match)[2];
    return names;
}

class TfliteOperatorListTest : public TfliteModelTest
{
};

TEST_F(TfliteOperatorListTest, AllButTheListedOnesAreRead)
{
    const std::map<int, std::string> listed = list_documented();
    EXPECT_EQ(listed.size(), 7U);
    for (int code = 0; code <= kOperators; ++code) {
        SCOPED_TRACE(code);
        TfliteModel model;
        model.tensors = {{"x", {1}}, {"y", {1}}};
        model.operators = {{code, {0}, {1}}};
        model.inputs = {0};
        model.outputs = {1};
        const bool is_loaded = load(model);
        const std::string message = is_loaded ? "" : get_tengine_error();
        const bool is_refused = message.find("which is not supported") != std::string::npos;
        const auto known = listed.find(code);
        EXPECT_EQ(is_refused, known != listed.end() || code == kOperators) << message;
        const std::string name = known == listed.end() ? "" : "is " + known->second + " (code ";
        EXPECT_THAT(message, testing::HasSubstr(name));
    }
}

// Files of converters have the types of the schema; those that the data's author made may not.
TEST_F(TfliteOperatorListTest, OptionsHaveTheTypesOfFiles)
{
    std::map<int, int> found;
    for (const char* folder : {"tflite/models", "tflite/operators"}) {
        const std::string path = std::string(TENGINE_SHARED_DATA_DIR "/") + folder;
        if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is missing";
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            if (entry.path().filename().string().rfind("own_", 0) == 0) continue;
            const std::string bytes = read_text(entry.path());
            const tflite::file::Model* model = tflite::file::GetModel(bytes.data());
            for (const tflite::file::Subgraph* subgraph : *model->subgraphs())
                for (uint32_t i = 0; i < tflite::count(subgraph->operators()); ++i) {
                    const tflite::file::Operator& record = *subgraph->operators()->Get(i);
                    const tflite::file::OperatorCode& code = *model->codes()->Get(record.code());
                    const int number = std::max<int>(code.old_code(), code.code());
                    const tflite::OptionsType type = tflite::find_options_type(number);
                    const int first = record.options_type(), later = record.options_2_type();
                    // Options may be absent.
                    if (first == 0 && later == 0) continue;
                    EXPECT_EQ(first, type.is_later ? 0 : type.number) << entry << ' ' << number;
                    EXPECT_EQ(later, type.is_later ? type.number : 0) << entry << ' ' << number;
                    ++found[number];
                }
        }
    }
    EXPECT_GT(found.size(), 50U);
}

}  // namespace
}  // namespace tengine::test
