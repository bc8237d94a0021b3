// SPDX-License-Identifier: Apache-2.0
// Bytes that are not a tmfile, or a malicious one: loading ends with a status and a message, reads
// nothing outside the bytes, and allocates a small multiple of the file's size. This file is most
// useful with the address sanitizer.
#include <algorithm>
#include <cstring>
#include <random>

#include "base/log.h"
#include "serializer/own_tmfile.h"
#include "serializer/tmfile/file_view.h"
#include "serializer/tmfile_model.h"
#include "support/allocation_count.h"
#include "support/emulated.h"

namespace tengine::test {
namespace {

// The memory for an empty graph and for a file of any size.
constexpr long kBaseBytes = 32768;

class TmfileHostileTest : public TmfileTest
{
  protected:
    void SetUp() override
    {
        set_log_sink([](const char*) {});  // about constants without values
    }
    void TearDown() override
    {
        set_log_sink(nullptr);
        if (loads > 0)
            std::printf(
                "%ld loads: %ld accepted, %ld rejected; at most %.1f times the file's size\n",
                loads, accepted, loads - accepted, worst);
        RecordProperty("loads", static_cast<int>(loads));
        RecordProperty("accepted", static_cast<int>(accepted));
    }

    void try_load(const std::string& bytes)
    {
        const long before = measure_live_memory().bytes;
        reset_peak_memory();
        ++loads;
        {
            const LoadedTmfile loaded(bytes);
            accepted += loaded.status == 0;
            if (loaded.status != 0) {
                EXPECT_LT(loaded.status, 0);
                EXPECT_NE(loaded.status, TENGINE_EINTERNAL) << loaded.message;
                EXPECT_FALSE(loaded.message.empty());
            }
        }
        if (!can_count_allocations()) return;
        // The loaded copy is not the loader's.
        const long taken = measure_peak_memory() - before - static_cast<long>(bytes.size());
        EXPECT_LE(taken, 16 * static_cast<long>(bytes.size()) + kBaseBytes);
        worst = std::max(
            worst, static_cast<double>(taken - kBaseBytes) / static_cast<double>(bytes.size() + 1));
    }

    long loads = 0;
    long accepted = 0;
    double worst = 0;
};

// ---- files of the library's writer and the samples ----

class TmfileDamageTest : public TmfileHostileTest, public testing::WithParamInterface<std::string>
{
  protected:
    void SetUp() override
    {
        TmfileHostileTest::SetUp();
        bytes = make_own_tmfile(GetParam());
        if (!bytes.empty()) return;
        const auto file = find_sample(GetParam());
        if (file.empty()) GTEST_SKIP() << "files of ../shared/data/tmfile are missing";
        bytes = read_bytes(file);
    }

    std::string bytes;
};

TEST_P(TmfileDamageTest, EveryByteOfTheFirst4096Flipped)
{
    // An emulator is slow: it tests every 61st byte, which varies within words. So is a sanitizer:
    // every third byte, of large networks every 11th, with other patterns every 24th.
    const size_t sanitized_step = bytes.size() > 16384 ? 11 : 3;
    const size_t step = kEmulated ? 61 : can_count_allocations() ? 1 : sanitized_step;
    const size_t other_step = can_count_allocations() ? 1 : 24;
    const size_t end = std::min<size_t>(bytes.size(), 4096);
    for (size_t i = 0; i < end; i += step)
        for (const char pattern : {'\xff', '\x01', '\x80'}) {
            if (pattern != '\xff' && i % other_step != 0) continue;
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ pattern);
            try_load(changed);
        }
}

// Records refer to each other from the end of the file on: the containers are there.
TEST_P(TmfileDamageTest, BytesAtTheEndFlipped)
{
    const size_t begin = bytes.size() - std::min<size_t>(bytes.size(), 512);
    for (size_t i = begin; i < bytes.size(); i += kEmulated ? 5 : 1) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0xff);
        try_load(changed);
    }
}

TEST_P(TmfileDamageTest, EveryTruncationInSteps)
{
    // The root is at the end, so that no truncated file is complete.
    const size_t step = std::max<size_t>(1, bytes.size() / 2000);
    for (size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : step)
        try_load(bytes.substr(0, length));
    EXPECT_EQ(accepted, 0);
}

TEST_P(TmfileDamageTest, RandomDamage)
{
    std::mt19937 random(5);
    for (int round = 0; round < (kEmulated ? 100 : 500); ++round) {
        std::string changed = bytes;
        for (int i = 0; i <= static_cast<int>(random() % 8); ++i) {
            const size_t place = random() % (changed.size() / 4) * 4;
            const uint32_t values[] = {0, 1, 0xffffffff, 0x7fffffff,
                                       static_cast<uint32_t>(random() % changed.size())};
            std::memcpy(&changed[place], &values[random() % 5], sizeof(uint32_t));
        }
        try_load(changed);
    }
}

INSTANTIATE_TEST_SUITE_P(Own, TmfileDamageTest, testing::ValuesIn(own_tmfile_names()));
INSTANTIATE_TEST_SUITE_P(Files, TmfileDamageTest, testing::ValuesIn(sample_names()));

// ---- made to harm ----

TEST_F(TmfileHostileTest, NotATmfile)
{
    expect_failure(LoadedTmfile(std::string()), TENGINE_EFORMAT, {"0 bytes"});
    expect_failure(LoadedTmfile(std::string("\x02\0\0", 3)), TENGINE_EFORMAT, {"3 bytes"});
    expect_failure(LoadedTmfile(std::string(64, '\xff')), TENGINE_EFORMAT, {"version 65535"});
    expect_failure(LoadedTmfile(std::string("\x02", 1) + std::string(63, '\0')), TENGINE_EFORMAT,
                   {"the model is missing"});
    expect_failure(LoadedTmfile(std::filesystem::path("/nowhere.tmfile")), TENGINE_EIO,
                   {"/nowhere.tmfile"});
    expect_failure(LoadedTmfile(std::filesystem::path("")), TENGINE_EINVAL, {"file name"});
    try_load("x");
}

std::string patched(const RawModel& model, uint32_t from_root, uint32_t value)
{
    std::string bytes = model.encode();
    uint32_t root;
    std::memcpy(&root, bytes.data() + 8, sizeof(root));
    std::memcpy(&bytes[root + from_root], &value, sizeof(value));
    return bytes;
}

TEST_F(TmfileHostileTest, OffsetsOutsideTheFile)
{
    const RawModel model = single_model(21, {});
    for (const uint32_t value : {0xfffffffcu, 0x7ffffffcu, 1u << 20})
        expect_failure(LoadedTmfile(patched(model, 8, value)), TENGINE_EFORMAT,
                       {"list of subgraphs", "ends at"});
    expect_failure(LoadedTmfile(patched(model, 8, 13)), TENGINE_EFORMAT,
                   {"expected a multiple of 4"});
    expect_failure(LoadedTmfile(patched(model, 8, 0)), TENGINE_EFORMAT, {"no subgraph"});
    // The header as a list: its first word is 2, the second, garbage, is an offset.
    expect_failure(LoadedTmfile(patched(model, 12, 0xfffffff0)), TENGINE_EFORMAT, {"name"});
}

TEST_F(TmfileHostileTest, IndicesOutsideTheirLists)
{
    RawModel model = single_model(21, {});
    model.nodes[1].inputs = {9};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"'y'", "tensor 9", "expected one of 2"});
    model.nodes[1].inputs = {0};
    model.nodes[1].outputs = {2};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"output 0", "tensor 2"});
    model.nodes[1].outputs = {};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"no outputs"});
    model = single_model(21, {});
    model.outputs = {2};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"output nodes", "node 2"});
    model.outputs = {1, 1};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"twice"});
    model.outputs = {};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"no output nodes"});
    model.outputs = {1};
    model.inputs = {1};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"'y'", "inputs of its own"});
}

TEST_F(TmfileHostileTest, TensorsThatContradictThemselves)
{
    RawModel model = single_model(21, {});
    model.add_constant("w", {2}, {1, 2});
    model.outputs = {1};
    model.tensors[2].dims = {3};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"'w'", "8 bytes", "12"});
    model.tensors[2].dims = {1 << 30, 1 << 30, 1 << 30};
    expect_failure(LoadedTmfile(model), TENGINE_ERANGE, {"'w'", "more than 2^"});
    model.tensors[2].dims = {1, 1, 1, 1, 1, 1, 1, 1, 2};
    expect_failure(LoadedTmfile(model), TENGINE_ERANGE, {"9 dimensions"});
    model.tensors[2].dims = {-2};
    expect_failure(LoadedTmfile(model), TENGINE_ERANGE, {"-2"});
    model.tensors[2].dims = {2};
    model.tensors[2].buffer = 1;
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"buffer 1", "1 buffers"});
    model.tensors[2].buffer = 0;
    model.tensors[2].data_type = 99;
    expect_failure(LoadedTmfile(model), TENGINE_EDTYPE, {"99"});
    for (const int data_type : {TENGINE_DT_UNKNOWN, TENGINE_DT_SEQUENCE + TENGINE_DT_STRING,
                                TENGINE_DT_OPTIONAL + TENGINE_DT_FP32})
        for (const bool has_dims : {true, false}) {
            model.tensors[2].data_type = data_type;
            model.tensors[2].has_dims = has_dims;
            expect_failure(LoadedTmfile(model), TENGINE_EDTYPE, {"'w' has no data type"});
        }
    // 8 bytes are 15 or 16 elements of 4 bits.
    model.tensors[2].has_dims = true;
    model.tensors[2].data_type = TENGINE_DT_INT4;
    for (const int elements : {15, 16}) {
        model.tensors[2].dims = {elements};
        EXPECT_EQ(LoadedTmfile(model).status, TENGINE_OK);
    }
    model.tensors[2].dims = {17};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"'w'", "8 bytes", "9"});
    model.tensors[2].dims = {2};
    model.tensors[2].data_type = 0;
    model.tensors[2].type = 5;
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"type 5"});
    model.tensors[2].type = TENSOR_TYPE_VAR;
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"does not have the type of constants"});
}

// Packed elements are not permuted: the file has fewer bytes than elements.
TEST_F(TmfileHostileTest, ImagesOfFewBitsInNhwc)
{
    RawModel model = single_model(21, {});
    model.graph_layout = model.model_layout = TENGINE_LAYOUT_NHWC;
    model.add_constant("w", {1, 2, 2, 4}, {1, 2});
    model.outputs = {1};
    model.tensors[2].data_type = TENGINE_DT_UINT4;
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"'w'", "NHWC of uint4"});
}

TEST_F(TmfileHostileTest, GraphsThatAreNone)
{
    RawModel model = single_model(21, {});
    model.nodes[1].inputs = {1};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"cycle"});
    model = single_model(21, {});
    model.nodes[0].outputs = {1};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"'y'", "written by node 'x'"});
    model = single_model(21, {});
    model.nodes[1].outputs = {1, 1};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"twice"});
    model = single_model(21, {});
    model.tensors.push_back({"loose", {1}});
    model.nodes[1].inputs = {2};
    expect_failure(LoadedTmfile(model), TENGINE_EGRAPH, {"no node writes", "'loose'"});
    expect_failure(LoadedTmfile(single_model(5, {})), TENGINE_EFORMAT, {"no parameters", "56"});
}

// 20,000 nodes and tensors share one record each, with one name of 1,000 letters.
TEST_F(TmfileHostileTest, RecordsUsedAgainAndAgainAreBounded)
{
    RawModel model;
    model.add_input(std::string(1000, 'n'), {1});
    model.add_node("y", 21, {0});
    std::string bytes = model.encode();
    uint32_t root, list, subgraph;
    std::memcpy(&root, bytes.data() + 8, 4);
    std::memcpy(&list, bytes.data() + root + 8, 4);
    std::memcpy(&subgraph, bytes.data() + list + 4, 4);
    for (const uint32_t field : {20u, 24u}) {
        uint32_t old_list, record;
        std::memcpy(&old_list, bytes.data() + subgraph + field, 4);
        std::memcpy(&record, bytes.data() + old_list + 4, 4);
        const auto place = static_cast<uint32_t>(bytes.size());
        std::vector<uint32_t> words(20001, record);
        words[0] = 20000;
        bytes.append(reinterpret_cast<const char*>(words.data()), words.size() * 4);
        std::memcpy(&bytes[subgraph + field], &place, 4);
        try_load(bytes);
        expect_failure(LoadedTmfile(bytes), TENGINE_ELIMIT, {"many times its own size"});
    }
    EXPECT_EQ(accepted, 0);
}

// All nodes' parameters share one list of 100,000 numbers.
TEST_F(TmfileHostileTest, OneListForAllNodesIsBounded)
{
    RawModel model = single_model(23, {0, 0, 0, 0});
    model.nodes[1].vectors[2] = Words(100000, 1);
    for (int i = 0; i < 300; ++i)
        model.add_node("n" + std::to_string(i), 23, {0}, {0, 0, 0, 0});
    std::string bytes = model.encode();
    // The offset of the first node's list: its record starts with the two zero words of the offset.
    const size_t count = bytes.find(std::string("\xa0\x86\x01\0\x01\0\0\0", 8));
    ASSERT_NE(count, std::string::npos);
    const auto place = static_cast<uint32_t>(count);
    size_t patched_nodes = 0;
    for (size_t i = count + 400004; i + 28 <= bytes.size(); i += 4) {
        const std::string empty(16, '\0');
        const char op[] = {1, 0, 0, 0, 23, 0, 0, 0};
        if (bytes.compare(i, 16, empty) != 0 || std::memcmp(&bytes[i + 16], op, 8) != 0) continue;
        std::memcpy(&bytes[i + 8], &place, 4);
        ++patched_nodes;
    }
    ASSERT_EQ(patched_nodes, 300u);
    try_load(bytes);
    expect_failure(LoadedTmfile(bytes), TENGINE_ELIMIT, {"many times"});
}

// The budget also grows if ten times the file's size exceeds a size_t.
TEST(TmfileBudget, GrowsWithTheFile)
{
    Budget budget(size_t{512} << 20);
    for (int i = 0; i < 4; ++i)
        ASSERT_EQ(budget.charge(uint64_t{1} << 30), TENGINE_OK) << i;
    EXPECT_EQ(budget.charge(uint64_t{2} << 30), TENGINE_ELIMIT);
    EXPECT_EQ(budget.charge(uint64_t{1} << 29), TENGINE_OK);
}

}  // namespace
}  // namespace tengine::test
