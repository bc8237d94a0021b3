// SPDX-License-Identifier: Apache-2.0
// Records of variants in a tmfile: hostile ones are left out with a message, and the model and its
// compiled parts stay.
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "base/log.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "graph/variant.h"
#include "serializer/own_tmfile.h"
#include "serializer/parts_record.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile_model.h"
#include "tengine/vector.h"

namespace tengine::test {
namespace {

using namespace tmfile;
using testing::HasSubstr;

std::string warning;

class TmfileVariantTest : public TmfileTest
{
  protected:
    void SetUp() override
    {
        set_log_sink([](const char* line) {
            if (std::strstr(line, "compiled parts in the model's file are not used"))
                warning = line;
        });
        bytes_ = make_own_tmfile("variants");
        uint32_t root;
        PartsRecord lists;
        std::memcpy(&root, &bytes_[8], sizeof root);
        std::memcpy(&lists, &bytes_[root - sizeof lists], sizeof lists);
        place_ = lists.begin + lists.size - static_cast<uint32_t>(sizeof(VariantsRecord));
        std::memcpy(&list_, &bytes_[place_], sizeof list_);
        std::memcpy(&first_, &bytes_[list_.variants + 4], sizeof first_);
    }
    void TearDown() override { set_log_sink(nullptr); }

    // The file with another record at a place.
    template <class Record>
    std::string with(uint32_t offset, const Record& changed) const
    {
        return with_record(bytes_, offset, changed);
    }
    std::string with_first(const VariantRecord& record) const
    {
        return with(list_.variants + 4, record);
    }

    static void expect_refusal(const std::string& bytes, const char* message)
    {
        warning = "";
        const LoadedTmfile loaded(bytes);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_EQ(count_ir_variants(loaded.graph), 0);
        EXPECT_EQ(count_ir_model_parts(loaded.graph), 2);
        EXPECT_THAT(warning, HasSubstr(message));
    }

    std::string bytes_;
    uint32_t place_ = 0;
    VariantsRecord list_;
    VariantRecord first_;
};

TEST_F(TmfileVariantTest, AreReadAsTheyWereWritten)
{
    warning = "";
    const LoadedTmfile loaded(bytes_);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ASSERT_EQ(count_ir_variants(loaded.graph), 2);
    const ir_variant_t& variant = *get_ir_variant(loaded.graph, 1);
    EXPECT_STREQ(variant.name, "second");
    EXPECT_STREQ(variant.devices, "DSP,CPU");
    EXPECT_STREQ(variant.chip, "A1");
    EXPECT_STREQ(variant.driver, "");
    EXPECT_EQ(variant.precision, 4);
    EXPECT_STREQ(find_ir_key_value(variant.options, "DSP.mode"), "quick");
    for (const int part : {0, 1})
        EXPECT_EQ(has_ir_variant_part(&variant,
                                      get_ir_model_part(loaded.graph, part)->bytes->fingerprint),
                  part == 1);
    EXPECT_EQ(warning, "");
    EXPECT_EQ(write_graph(loaded.graph), bytes_);
}

TEST_F(TmfileVariantTest, HostileRecordsAreRefused)
{
    VariantRecord record = first_;
    record.name = 0;
    expect_refusal(with_first(record), "variant 0 has no name");
    record = first_;
    record.devices = 0;
    expect_refusal(with_first(record), "variant 0 has no devices");
    record = first_;
    record.precision = record.name;
    expect_refusal(with_first(record), "variant 0 has the precision 'first', expected");
    for (uint32_t VariantRecord::*member :
         {&VariantRecord::name, &VariantRecord::devices, &VariantRecord::chip,
          &VariantRecord::driver, &VariantRecord::precision, &VariantRecord::options,
          &VariantRecord::parts}) {
        record = first_;
        for (const uint32_t place : {uint32_t(bytes_.size()), uint32_t(bytes_.size()) - 2, ~0u}) {
            record.*member = place;
            expect_refusal(with_first(record), "variant 0's");
        }
    }
}

TEST_F(TmfileVariantTest, HostileListsAreRefused)
{
    for (const uint32_t count : {3u, 257u, 0x7fffffffu, ~0u})
        expect_refusal(with(list_.variants, count), count < 300 ? "variant" : "the variants");
    for (const uint32_t count : {65u, ~0u})
        expect_refusal(with(first_.options, count), "variant 0's options");
    for (const uint32_t count : {1000u, ~0u})
        expect_refusal(with(first_.parts, count), "variant 0's parts");
    VariantRecord second;
    std::memcpy(&second, &bytes_[list_.variants + 4 + sizeof second], sizeof second);
    second.name = first_.name;
    expect_refusal(with(list_.variants + 4 + static_cast<uint32_t>(sizeof second), second),
                   "variant 1 is called 'first', as another");
    VariantsRecord list = list_;
    list.variants = ~0u;
    expect_refusal(with(place_, list), "the variants");
}

// Another record at this place is that of a writer that knows no variants.
TEST_F(TmfileVariantTest, WithoutTheMarkThereAreNone)
{
    VariantsRecord list = list_;
    list.mark[3] ^= 1;
    warning = "";
    const LoadedTmfile loaded(with(place_, list));
    EXPECT_EQ(count_ir_variants(loaded.graph), 0);
    EXPECT_EQ(count_ir_model_parts(loaded.graph), 2);
    EXPECT_EQ(warning, "");
}

// Each bit of the records, without a new hash.
TEST_F(TmfileVariantTest, AlteredBitsAreNoticed)
{
    for (uint32_t i = list_.variants; i < place_ + sizeof list_; ++i) {
        std::string altered = bytes_;
        altered[i] = static_cast<char>(altered[i] ^ (1 << i % 8));
        const LoadedTmfile loaded(altered);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        ASSERT_EQ(count_ir_variants(loaded.graph), 0) << i;
    }
}

}  // namespace
}  // namespace tengine::test
