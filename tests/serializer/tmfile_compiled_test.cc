// SPDX-License-Identifier: Apache-2.0
// What devices have compiled of a model, in its tmfile. A graph loads whatever is wrong with it.
#include <cstring>
#include <gtest/gtest.h>

#include "base/log.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "serializer/own_tmfile.h"
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
    Record record(uint32_t vector, size_t index) const
    {
        Record found;
        std::memcpy(&found, &bytes_[vector + sizeof(uint32_t) + index * sizeof found],
                    sizeof found);
        return found;
    }

    // The bytes with a record of both lists changed, and the lists' digest as it has to be.
    template <class Record>
    std::string with(uint32_t vector, size_t index, const Record& changed) const
    {
        std::string result = bytes_;
        std::memcpy(&result[vector + sizeof(uint32_t) + index * sizeof changed], &changed,
                    sizeof changed);
        sha256_t hash;
        start_sha256(&hash);
        update_sha256(&hash, &result[lists_.parts + sizeof(uint32_t)],
                      2 * sizeof(CompiledPartRecord));
        update_sha256(&hash, &result[lists_.constants + sizeof(uint32_t)],
                      sizeof(ConstantDigestRecord));
        PartsRecord lists = lists_;
        finish_sha256(&hash, lists.digest);
        std::memcpy(&result[root_ - sizeof lists], &lists, sizeof lists);
        return result;
    }

    const std::string bytes_ = make_own_tmfile("compiled");
    uint32_t root_ = 0;
    PartsRecord lists_;
};

std::string text_of(const ir_model_part_t& part)
{
    return std::string(part.device) + "; " + part.target + "; " +
           static_cast<const char*>(part.bytes);
}

TEST_F(TmfileCompiledTest, AreThereWhenItIsLoaded)
{
    const LoadedTmfile loaded(bytes_);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ASSERT_EQ(count_ir_model_parts(loaded.graph), 2);
    uint8_t fingerprint[SHA256_BYTES] = {9};
    const ir_model_part_t* found = find_ir_model_part(loaded.graph, fingerprint);
    ASSERT_TRUE(found);
    EXPECT_EQ(text_of(*found), "DSP; compiler of DSP; what a device has saved");
    EXPECT_EQ(found, get_ir_model_part(loaded.graph, 1));
    EXPECT_FALSE(get_ir_model_part(loaded.graph, 2));
    fingerprint[0] = 8;
    EXPECT_FALSE(find_ir_model_part(loaded.graph, fingerprint));
    for (const size_t i : {0, 1})
        EXPECT_EQ(record<CompiledPartRecord>(lists_.parts, i).data % kPartAlignment, 0u);
    const ir_digest_t* digest = loaded.tensor("a_weights")->core->digest;
    ASSERT_TRUE(digest && digest->found);
    EXPECT_FALSE(loaded.tensor("b_weights")->core->digest);
    EXPECT_EQ(warnings, 0);
}

TEST_F(TmfileCompiledTest, TheLastOfAFingerprintCounts)
{
    const LoadedTmfile loaded(bytes_);
    ir_model_part_t part = *get_ir_model_part(loaded.graph, 0);
    std::strcpy(part.target, "a newer compiler");
    ASSERT_EQ(add_ir_model_part(loaded.graph, &part), 0);
    EXPECT_EQ(count_ir_model_parts(loaded.graph), 2);
    EXPECT_STREQ(get_ir_model_part(loaded.graph, 0)->device, "DSP");
    EXPECT_STREQ(find_ir_model_part(loaded.graph, part.fingerprint)->target, "a newer compiler");
    const LoadedTmfile again(write_graph(loaded.graph));
    EXPECT_EQ(count_ir_model_parts(again.graph), 2);
}

// Wherever a byte of the lists or of what tells them is altered, one line says so, and there are
// none.
TEST_F(TmfileCompiledTest, AnAlteredByteOfTheListsIsNoticed)
{
    const size_t begin = lists_.parts, step = kEmulated ? 31 : 1;
    ASSERT_LT(begin, root_);
    for (size_t i = begin; i < root_; i += step) {
        std::string altered = bytes_;
        altered[i] = static_cast<char>(altered[i] ^ 1);
        warnings = 0;
        const LoadedTmfile loaded(altered);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        ASSERT_EQ(count_ir_model_parts(loaded.graph), 0) << "byte " << i;
        ASSERT_EQ(warnings, 1) << "byte " << i;
    }
}

// Those who make the hash right as well.
TEST_F(TmfileCompiledTest, HostileLists)
{
    auto part = record<CompiledPartRecord>(lists_.parts, 1);
    part.data = static_cast<uint32_t>(bytes_.size()) - part.size + 1;
    EXPECT_EQ(LoadedTmfile(with(lists_.parts, 1, part)).status, 0);
    part = record<CompiledPartRecord>(lists_.parts, 1);
    part.size = 0xffffffff;
    EXPECT_EQ(LoadedTmfile(with(lists_.parts, 1, part)).status, 0);
    part = record<CompiledPartRecord>(lists_.parts, 1);
    std::memset(part.target, 'x', sizeof part.target);
    EXPECT_EQ(LoadedTmfile(with(lists_.parts, 1, part)).status, 0);
    auto constant = record<ConstantDigestRecord>(lists_.constants, 0);
    constant.tensor = 4000;
    EXPECT_EQ(LoadedTmfile(with(lists_.constants, 0, constant)).status, 0);
    EXPECT_EQ(warnings, 4);
    const auto same = record<CompiledPartRecord>(lists_.parts, 0);
    EXPECT_EQ(with(lists_.parts, 0, same), bytes_) << "the digest is made as the writer makes it";
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
