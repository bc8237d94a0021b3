// SPDX-License-Identifier: Apache-2.0
// Parts that devices have compiled, in the model's tmfile. A graph is loaded even if they are
// damaged.
#include <cstring>
#include <gtest/gtest.h>
#include <set>

#include "base/log.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "serializer/own_tmfile.h"
#include "serializer/parts_record.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile_model.h"
#include "support/emulated.h"

namespace tengine::test {
namespace {

using namespace tmfile;

int warnings = 0;

class TmfileCompiledTest : public TmfileTest
{
  protected:
    void SetUp() override
    {
        warnings = 0;
        set_log_sink([](const char* line) {
            warnings += std::strstr(line, "compiled parts in the model's file are not used") != 0;
        });
        std::memcpy(&root_, &bytes_[8], sizeof root_);
        std::memcpy(&lists_, &bytes_[root_ - sizeof lists_], sizeof lists_);
    }
    void TearDown() override { set_log_sink(nullptr); }

    template <class Record>
    Record record(uint32_t offset) const
    {
        Record found;
        std::memcpy(&found, &bytes_[offset], sizeof found);
        return found;
    }
    uint32_t part_at(uint32_t index) const
    {
        return lists_.parts + 4 + index * static_cast<uint32_t>(sizeof(CompiledPartRecord));
    }

    // The file with another record at a place.
    template <class Record>
    std::string with(uint32_t offset, const Record& changed) const
    {
        return with_record(bytes_, offset, changed);
    }

    const std::string bytes_ = make_own_tmfile("compiled");
    uint32_t root_ = 0;
    PartsRecord lists_;
};

std::string text_of(const ir_model_part_t& part)
{
    return std::string(part.device) + "; " + part.bytes->target + "; " +
           static_cast<const char*>(part.bytes->data);
}

TEST_F(TmfileCompiledTest, AreThereWhenItIsLoaded)
{
    const LoadedTmfile loaded(bytes_);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ASSERT_EQ(count_ir_model_parts(loaded.graph), 2);
    uint8_t fingerprint[SHA256_BYTES] = {9};
    const ir_model_part_t* found = get_ir_model_part(loaded.graph, 1);
    ASSERT_TRUE(found);
    EXPECT_EQ(text_of(*found), "DSP; compiler of DSP; what a device has saved");
    EXPECT_EQ(find_ir_model_bytes(loaded.graph, fingerprint), found->bytes);
    EXPECT_FALSE(get_ir_model_part(loaded.graph, 2));
    fingerprint[0] = 8;
    EXPECT_FALSE(find_ir_model_bytes(loaded.graph, fingerprint));
    for (const uint32_t i : {0, 1})
        EXPECT_EQ(record<CompiledPartRecord>(part_at(i)).data % kPartAlignment, 0u);
    const ir_digest_t* digest = loaded.tensor("a_weights")->core->digest;
    ASSERT_TRUE(digest && digest->found);
    EXPECT_FALSE(loaded.tensor("b_weights")->core->digest);
    EXPECT_EQ(warnings, 0);
}

// A part is added again in place of the first, and an equal one elsewhere.
TEST_F(TmfileCompiledTest, TheLastBytesOfAFingerprintCountForAllItsParts)
{
    const LoadedTmfile loaded(bytes_);
    const ir_model_part_t* first = get_ir_model_part(loaded.graph, 0);
    const std::vector<int32_t> nodes(first->nodes, first->nodes + first->node_num);
    ir_model_bytes_t bytes = *first->bytes;
    std::strcpy(bytes.target, "a newer compiler");
    const auto add = [&](const std::vector<int32_t>& of) {
        ir_model_part_t part = {};
        std::strcpy(part.device, "NPU");
        EXPECT_EQ(set_ir_model_part_nodes(&part, of.data(), static_cast<int>(of.size())), 0);
        EXPECT_EQ(add_ir_model_part(loaded.graph, &part, &bytes, nullptr), 0);
        return count_ir_model_parts(loaded.graph);
    };
    EXPECT_EQ(add(nodes), 2);
    EXPECT_STREQ(get_ir_model_part(loaded.graph, 0)->bytes->target, "a newer compiler");
    std::strcpy(bytes.target, "the newest");
    EXPECT_EQ(add({loaded.node("c")->index}), 3);
    EXPECT_STREQ(get_ir_model_part(loaded.graph, 0)->bytes->target, "the newest");
    const LoadedTmfile again(write_graph(loaded.graph));
    ASSERT_EQ(count_ir_model_parts(again.graph), 3);
    for (const int i : {0, 2})
        EXPECT_STREQ(get_ir_model_part(again.graph, i)->bytes->target, "the newest");
}

// The keys are kept in ascending order, with the options that the device had.
TEST_F(TmfileCompiledTest, KeysOfNodesAreKept)
{
    const LoadedTmfile loaded(bytes_);
    ir_model_part_t part = {};
    std::strcpy(part.device, "NPU");
    part.options = 77;
    const uint64_t keys[] = {UINT64_C(0xfedcba9876543210), UINT64_C(0x8000000000000001)};
    ASSERT_EQ(set_ir_model_part_keys(&part, keys, 2), 0);
    ASSERT_EQ(
        add_ir_model_part(loaded.graph, &part, get_ir_model_part(loaded.graph, 0)->bytes, nullptr),
        0);
    const LoadedTmfile again(write_graph(loaded.graph));
    ASSERT_EQ(count_ir_model_parts(again.graph), 3);
    const ir_model_part_t* found = get_ir_model_part(again.graph, 2);
    ASSERT_EQ(found->key_num, 2);
    EXPECT_EQ(found->keys[0], keys[1]);
    EXPECT_EQ(found->keys[1], keys[0]);
    EXPECT_EQ(found->options, 77u);
    EXPECT_EQ(get_ir_model_part(again.graph, 0)->key_num, 0);
}

TEST_F(TmfileCompiledTest, TheNodesOfPartsAreKnown)
{
    const LoadedTmfile loaded(bytes_);
    struct graph* execution = create_ir_graph(nullptr);
    ASSERT_NE(execution, nullptr);
    execution->core->source = loaded.graph;
    struct node* node = create_ir_node(execution, "", get_op_type("", "Relu"), 0);
    const auto find_part = [&](const char* name, const char* device_name) {
        struct device device;
        init_ir_device(&device, device_name);
        node->core->source_index = loaded.node(name)->index;
        return get_ir_node_compiled_part(node, &device);
    };
    EXPECT_NE(find_part("b", "NPU"), 0);
    EXPECT_EQ(find_part("d", "NPU"), 0);
    EXPECT_NE(find_part("d", "DSP"), 0);
    EXPECT_NE(find_part("d", "DSP"), find_part("b", "NPU"));
    EXPECT_EQ(find_part("d", "GPU"), 0);
    node->core->source_index = -1;
    struct device npu;
    init_ir_device(&npu, "NPU");
    EXPECT_EQ(get_ir_node_compiled_part(node, &npu), 0);
    execution->core->source = nullptr;
    destroy_ir_graph(execution);
}

// An altered bit of their list logs one line, and no part is loaded.
TEST_F(TmfileCompiledTest, AnAlteredBitIsNoticed)
{
    const auto record = static_cast<uint32_t>(root_ - sizeof lists_);
    const std::pair<uint32_t, uint32_t> ranges[] = {{lists_.begin, lists_.begin + lists_.size},
                                                    {record, root_}};
    const uint32_t step = kEmulated ? 31 : 1;
    for (const auto& [begin, end] : ranges) {
        for (uint32_t i = begin; i < end; i += step) {
            for (int bit = 0; bit < 8; ++bit) {
                std::string altered = bytes_;
                altered[i] = static_cast<char>(altered[i] ^ (1 << bit));
                warnings = 0;
                const LoadedTmfile loaded(altered);
                ASSERT_EQ(loaded.status, 0) << loaded.message;
                ASSERT_EQ(count_ir_model_parts(loaded.graph), 0) << "byte " << i << ", bit " << bit;
                ASSERT_EQ(warnings, 1) << "byte " << i << ", bit " << bit;
            }
        }
    }
}

// Parts for several shapes often have equal bytes.
TEST_F(TmfileCompiledTest, EqualBytesAreWrittenOnce)
{
    const auto write_again = [](const char* other_bytes, uint8_t other_hash) {
        const LoadedTmfile loaded(make_own_tmfile("compiled"));
        ir_model_part_t part = {};
        std::strcpy(part.device, "DSP");
        ir_model_bytes_t bytes = *get_ir_model_part(loaded.graph, 1)->bytes;
        bytes.fingerprint[1] = 1;  // a third
        if (other_bytes) bytes.data = other_bytes;
        bytes.digest[0] ^= other_hash;
        EXPECT_EQ(add_ir_model_part(loaded.graph, &part, &bytes, nullptr), 0);
        std::string file = write_graph(loaded.graph);
        const LoadedTmfile again(file);
        EXPECT_EQ(count_ir_model_parts(again.graph), 3);
        std::set<const void*> places;
        for (const int i : {0, 1, 2})
            places.insert(get_ir_model_part(again.graph, i)->bytes->data);
        return std::make_pair(places.size(), file.size());
    };
    const auto first = record<CompiledPartRecord>(part_at(0));
    EXPECT_EQ(first.data, record<CompiledPartRecord>(part_at(1)).data);
    EXPECT_EQ(std::string(&bytes_[first.data]), "what a device has saved");
    const auto [places, size] = write_again(nullptr, 0);
    EXPECT_EQ(places, 1u);
    EXPECT_LT(size, bytes_.size() + 1000);
    const auto [others, larger] = write_again("what a device has SAVED", 0);
    EXPECT_EQ(others, 2u) << "the hash of the part is not that of its bytes";
    EXPECT_GT(larger, bytes_.size() + kPartAlignment - 1000);
    EXPECT_EQ(write_again(nullptr, 1).first, 2u) << "the hash is another";
}

// A byte of two parts is read by both, and each checks the hash of its own range.
TEST_F(TmfileCompiledTest, PartsMayOverlap)
{
    auto part = record<CompiledPartRecord>(part_at(1));
    part.data += 5;
    part.size -= 5;
    const LoadedTmfile loaded(with(part_at(1), part));
    ASSERT_EQ(count_ir_model_parts(loaded.graph), 2);
    EXPECT_EQ(warnings, 0);
    EXPECT_EQ(text_of(*get_ir_model_part(loaded.graph, 0)),
              "NPU; compiler of NPU; what a device has saved");
    EXPECT_EQ(text_of(*get_ir_model_part(loaded.graph, 1)),
              "DSP; compiler of DSP; a device has saved");
}

// The hash is corrected as well. Parts that were read before the fault stay.
TEST_F(TmfileCompiledTest, HostileRecords)
{
    const auto expect_warning = [](const std::string& bytes, int parts) {
        warnings = 0;
        const LoadedTmfile loaded(bytes);
        EXPECT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_EQ(warnings, 1);
        EXPECT_EQ(count_ir_model_parts(loaded.graph), parts);
    };
    const auto good = record<CompiledPartRecord>(part_at(1));
    EXPECT_EQ(with(part_at(1), good), bytes_) << "the digest is made as the writer makes it";
    auto part = good;
    part.data = static_cast<uint32_t>(bytes_.size()) - part.size + 1;
    expect_warning(with(part_at(1), part), 1);
    part = good;
    part.size = 0xffffffff;
    expect_warning(with(part_at(1), part), 1);
    part = good;
    part.target = 0x7ffffffc;
    expect_warning(with(part_at(1), part), 1);
    expect_warning(with(lists_.parts, uint32_t{1}), 0);
    expect_warning(with(lists_.constants + 4, uint32_t{4000}), 0);
    // The first list of nodes follows the offset of the list of keys and the record of checksums:
    // its count, then the nodes.
    const auto first = lists_.begin + 4 + static_cast<uint32_t>(sizeof(ChecksumsRecord));
    ASSERT_EQ(record<uint32_t>(first), 2u);
    expect_warning(with(first + 4, uint32_t{4000}), 0);
    auto sums = record<ChecksumsRecord>(lists_.begin + 4);
    ASSERT_EQ(record<uint32_t>(sums.checksums), 2u);
    expect_warning(with(sums.checksums, uint32_t{1}), 0);
    sums.checksums = 0xfffffffc;
    expect_warning(with(lists_.begin + 4, sums), 0);
    const auto keys = record<uint32_t>(lists_.begin);
    ASSERT_EQ(record<uint32_t>(keys), 2u);
    expect_warning(with(lists_.begin, static_cast<uint32_t>(bytes_.size())), 0);
    expect_warning(with(keys, uint32_t{1}), 0);
    expect_warning(with(keys + 4, PartNodesRecord{0xfffffffc, 0}), 0);
}

// A file without keys, as older versions wrote it.
TEST_F(TmfileCompiledTest, AFileWithoutKeysIsRead)
{
    const LoadedTmfile loaded(with(lists_.begin, uint32_t{0}));
    EXPECT_EQ(warnings, 0);
    ASSERT_EQ(count_ir_model_parts(loaded.graph), 2);
    EXPECT_EQ(get_ir_model_part(loaded.graph, 0)->node_num, 2);
}

TEST_F(TmfileCompiledTest, AChangedGraphKeepsNoHashes)
{
    const LoadedTmfile loaded(bytes_);
    ++loaded.graph->core->revision;  // as the C API does
    const LoadedTmfile again(write_graph(loaded.graph));
    EXPECT_EQ(count_ir_model_parts(again.graph), 2);
    EXPECT_FALSE(again.tensor("a_weights")->core->digest);
}

}  // namespace
}  // namespace tengine::test
