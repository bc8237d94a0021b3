// SPDX-License-Identifier: Apache-2.0
// Stamps: every operator in every opset, against the rows' own ranges and against the history of
// ONNX's operators beside the tree.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "module/module.h"
#include "operator/registry.h"
#include "serializer/onnx_builder.h"
#include "serializer/serializer.h"
#ifdef TENGINE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

namespace tengine::test {
namespace {

using OnnxOpsetTest = SerializerTest;

constexpr int kOldestStamp = 7;

// Returns the rows of ONNX's own operators, by name.
std::map<std::string, std::vector<const method*>> onnx_rows()
{
    std::map<std::string, std::vector<const method*>> rows;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method* row = find_op_method_via_index(i);
        if (!row->domain) rows[row->name].push_back(row);
    }
    for (auto& [name, list] : rows)
        std::sort(list.begin(), list.end(),
                  [](const method* a, const method* b) { return a->version < b->version; });
    return rows;
}

// Adds the graphs that the operator requires: each returns a value of the enclosing graph.
void add_bodies(const std::string& op, onnx::NodeProto* node)
{
    const method* row = find_op_method(get_op_type("", op.c_str()), 0);
    std::stringstream names(row && row->bodies ? row->bodies : "");
    for (std::string name; std::getline(names, name, '|');) {
        onnx::AttributeProto* attribute = node->add_attribute();
        attribute->set_name(name);
        attribute->set_type(onnx::AttributeProto::GRAPH);
        attribute->mutable_g()->add_output()->set_name("x");
    }
}

OnnxBuilder stamped_model(const std::string& op, int opset)
{
    OnnxBuilder builder;
    builder.model.mutable_opset_import(0)->set_version(opset);
    builder.model.set_ir_version(opset < 11 ? 3 : 13);
    builder.add_input("x", {2, 3});
    add_bodies(op, builder.add_node(op, {"x"}, {"y"}, "only"));
    builder.add_output("y");
    return builder;
}

// Loads the operator with a stamp: it has the row's meaning or, without a row, a message that names
// the opset of its next meaning.
bool check_stamp(const std::string& op, int opset, const std::vector<const method*>& rows)
{
    SCOPED_TRACE(op + " of opset " + std::to_string(opset));
    const Loaded loaded(stamped_model(op, opset));
    for (const method* row : rows) {
        if (opset < row->version || (row->until && opset > row->until)) continue;
        EXPECT_EQ(loaded.status, 0) << loaded.message;
        if (loaded.status != 0) return false;
        EXPECT_EQ(loaded.node("only")->op.method, row);
        EXPECT_EQ(loaded.node("only")->op.version, opset);
        return true;
    }
    const std::string stamp = op + " (opset " + std::to_string(opset);
    const method& last = *rows.back();
    if (opset < rows.front()->version) {
        const std::string first = std::to_string(rows.front()->version);
        const std::string sentence = stamp + ", known from opset " + first + " on: 'only')";
        expect_failure(loaded, TENGINE_EOPERATOR, {sentence.c_str()});
    } else {
        EXPECT_NE(last.ended_by, nullptr);
        const std::string sentence = stamp + ", changed by opset " +
                                     std::to_string(last.until + 1) + ", " + last.ended_by +
                                     ": 'only')";
        expect_failure(loaded, TENGINE_EOPERATOR, {sentence.c_str()});
    }
    return false;
}

TEST_F(OnnxOpsetTest, EveryOperatorWithEveryStamp)
{
    int loaded = 0, refused = 0;
    for (const auto& [op, rows] : onnx_rows())
        for (int opset = kOldestStamp; opset <= NEWEST_KNOWN_OPSET; ++opset)
            ++(check_stamp(op, opset, rows) ? loaded : refused);
    std::printf("%zu operators of ONNX with stamps %d to %d: %d load, %d are refused\n",
                onnx_rows().size(), kOldestStamp, NEWEST_KNOWN_OPSET, loaded, refused);
    RecordProperty("loaded", loaded);
    RecordProperty("refused", refused);
    EXPECT_GT(loaded, 3000);
}

// The rows of an operator have no gaps; if the last one ends, its end has a reason.
TEST_F(OnnxOpsetTest, RangesHaveNoGaps)
{
    for (const auto& [op, rows] : onnx_rows()) {
        for (size_t i = 0; i + 1 < rows.size(); ++i)
            EXPECT_EQ(rows[i]->until + 1, rows[i + 1]->version) << op;
        EXPECT_EQ(rows.back()->until != 0, rows.back()->ended_by != nullptr) << op;
    }
}

TEST_F(OnnxOpsetTest, NoOperatorIsBlamedForAnOpsetNobodyKnows)
{
    const Loaded loaded(stamped_model("Relu", NEWEST_KNOWN_OPSET + 1));
    expect_failure(loaded, TENGINE_ENOTSUP,
                   {"the model has opset 29", "newest supported one is 28"});
    EXPECT_EQ(loaded.message.find("Relu"), std::string::npos) << loaded.message;
}

// Returns the opset of the file that the graph is written to.
int64_t written_opset(const Loaded& loaded, int64_t ir_version = 10)
{
    const ScratchFolder folder;
    const std::string path = folder.path / "written.onnx";
    struct serializer* onnx = find_serializer_via_name("onnx");
    if (loaded.status != 0 || onnx->save_model(onnx, loaded.graph, path.c_str()) != 0) {
        ADD_FAILURE() << loaded.message << tengine_error_message();
        return 0;
    }
    ::onnx::ModelProto model;
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&file));
    EXPECT_EQ(model.ir_version(), ir_version);
    return model.opset_import(0).version();
}

// Files are written for as many readers as possible.
TEST_F(OnnxOpsetTest, StampOfAWrittenFile)
{
    EXPECT_EQ(written_opset(Loaded(stamped_model("Relu", 13))), 21);
    EXPECT_EQ(written_opset(Loaded(stamped_model("Relu", 26))), 21);
    EXPECT_EQ(written_opset(Loaded(stamped_model("Relu", NEWEST_KNOWN_OPSET))), 21);
    OnnxBuilder newer = stamped_model("DequantizeLinear", NEWEST_KNOWN_OPSET);
    EXPECT_EQ(written_opset(Loaded(newer)), 21);
    add_int(newer.graph().mutable_node(0), "output_dtype", 10);
    EXPECT_EQ(written_opset(Loaded(newer), 11), 23);
    // Types that an opset and a version of the format introduced.
    for (const auto& [type, opset, ir_version] : {std::array{22, 21, 10}, std::array{23, 23, 11},
                                                  std::array{24, 24, 12}, std::array{26, 25, 13}}) {
        OnnxBuilder typed = stamped_model("Identity", NEWEST_KNOWN_OPSET);
        typed.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
        EXPECT_EQ(written_opset(Loaded(typed), ir_version), opset);
    }
}

struct Change
{
    int opset;
    bool is_form;
};

using History = std::map<std::string, std::vector<Change>>;

// Returns the reason why there is none, "" otherwise.
std::string read_history(History* out_history)
{
#ifdef TENGINE_HAVE_JSON
    std::ifstream file(TENGINE_SHARED_DATA_DIR "/onnx_history.json");
    if (!file) return "../shared/data/onnx_history.json is missing";
    const nlohmann::json history = nlohmann::json::parse(file);
    for (const auto& [op, changes] : history.at("operators").items())
        for (const auto& change : changes)
            (*out_history)[op].push_back(
                {change.at("opset").get<int>(), change.at("change").get<std::string>() == "form"});
    return "";
#else
    (void)out_history;
    return "built without nlohmann-json";
#endif
}

// Whether a row or one of its attributes begins or ends with the opset.
bool is_known_to_rows(const std::vector<const method*>& rows, int opset)
{
    return std::any_of(rows.begin(), rows.end(), [=](const method* row) {
        const auto changes = [=](const op_field_t& field) {
            return field.since == opset || field.until == opset - 1;
        };
        return row->version == opset || row->until == opset - 1 ||
               std::any_of(row->fields, row->fields + row->field_num, changes);
    });
}

// Every stamp that a published operator may have: one with the row's meaning is loaded, and one
// with another meaning is refused.
TEST_F(OnnxOpsetTest, StampsOfTheHistory)
{
    History history;
    const std::string absence = read_history(&history);
    if (!absence.empty()) GTEST_SKIP() << absence;
    const auto rows = onnx_rows();
    int loaded = 0, refused = 0;
    for (const auto& [op, changes] : history) {
        const auto known = rows.find(op);
        if (known == rows.end()) continue;
        const int last = known->second.back()->until;
        for (int opset = kOldestStamp; opset <= 26; ++opset) {
            const bool means_ours = opset >= changes.front().opset && (last == 0 || opset <= last);
            EXPECT_EQ(check_stamp(op, opset, known->second), means_ours) << op << " " << opset;
            ++(means_ours ? loaded : refused);
        }
    }
    std::printf("%d stamps load, %d are refused\n", loaded, refused);
    RecordProperty("loaded", loaded);
    RecordProperty("refused", refused);
    EXPECT_GT(loaded, 2500);
}

// The rows have the changes of form that opset 18 and later made to supported operators.
TEST_F(OnnxOpsetTest, ChangesOfFormAreInTheRows)
{
    // Changes that a row does not show: a new optional input, or a new type of one.
    const std::set<std::pair<std::string, int>> inputs_only = {
        {"Pad", 18}, {"DequantizeLinear", 19}, {"OptionalHasElement", 18}, {"Attention", 24}};
    History history;
    const std::string absence = read_history(&history);
    if (!absence.empty()) GTEST_SKIP() << absence;
    const auto rows = onnx_rows();
    int changes_read = 0;
    for (const auto& [op, changes] : history) {
        const auto known = rows.find(op);
        if (known == rows.end()) continue;
        for (const Change& change : changes) {
            if (!change.is_form || change.opset < 18 || change.opset > NEWEST_KNOWN_OPSET) continue;
            ++changes_read;
            EXPECT_TRUE(is_known_to_rows(known->second, change.opset) ||
                        inputs_only.count({op, change.opset}))
                << op << " changed at opset " << change.opset;
        }
    }
    EXPECT_GT(changes_read, 25);
}

}  // namespace
}  // namespace tengine::test
