// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/variants.h"

#include <cstring>

#include "base/containers.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "graph/variant.h"
#include "tengine/vector.h"

namespace tengine::tmfile {
namespace {

// ---- reading ----

struct Texts
{
    String name, devices, chip, driver, precision;
};

int read_text(Reading& reading, uint32_t place, const String& what, String* out_text)
{
    if (place == 0) return TENGINE_OK;
    std::string_view text;
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(place, what, &text));
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(2 * text.size()));
    *out_text = String(text);
    return TENGINE_OK;
}

int read_texts(Reading& reading, const VariantRecord& record, const String& what, Texts* texts)
{
    TENGINE_RETURN_IF_ERROR(read_text(reading, record.name, what + "'s name", &texts->name));
    TENGINE_RETURN_IF_ERROR(
        read_text(reading, record.devices, what + "'s devices", &texts->devices));
    TENGINE_RETURN_IF_ERROR(read_text(reading, record.chip, what + "'s chip", &texts->chip));
    TENGINE_RETURN_IF_ERROR(read_text(reading, record.driver, what + "'s driver", &texts->driver));
    TENGINE_RETURN_IF_ERROR(
        read_text(reading, record.precision, what + "'s precision", &texts->precision));
    if (texts->name.empty() || texts->devices.empty())
        return tengine_error_set(TENGINE_EFORMAT, "%s has no %s", what.c_str(),
                                 texts->name.empty() ? "name" : "devices");
    if (find_ir_precision(texts->precision.c_str()) >= 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "%s has the precision %s, expected fp32, int8 etc.",
                             what.c_str(), quote(texts->precision).c_str());
}

int read_options(Reading& reading, const VariantRecord& record, const String& what,
                 ir_variant_t* variant)
{
    constexpr uint32_t kMostOptions = 64;
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(record.options, sizeof(VariantOptionRecord),
                                                     what + "'s options", &list));
    if (list.count() > kMostOptions)
        return tengine_error_set(TENGINE_EFORMAT, "%s has %u options, expected at most %u",
                                 what.c_str(), list.count(), kMostOptions);
    for (uint32_t i = 0; i < list.count(); ++i) {
        const auto option = list.get<VariantOptionRecord>(i);
        String key, value;
        TENGINE_RETURN_IF_ERROR(read_text(reading, option.key, what + "'s option", &key));
        TENGINE_RETURN_IF_ERROR(read_text(reading, option.value, what + "'s value", &value));
        TENGINE_RETURN_IF_ERROR(set_ir_key_value(&variant->options, key.c_str(), value.c_str()));
    }
    return TENGINE_OK;
}

int read_part_list(Reading& reading, const VariantRecord& record, const String& what,
                   ir_variant_t* variant)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(record.parts, kDigestBytes, what + "'s parts", &list));
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(2 * kDigestBytes * uint64_t{list.count()}));
    Vector<uint8_t> fingerprints(kDigestBytes * size_t{list.count()});
    for (uint32_t i = 0; i < list.count(); ++i) {
        const auto part = list.get<FingerprintRecord>(i);
        std::memcpy(&fingerprints[kDigestBytes * size_t{i}], part.fingerprint, kDigestBytes);
    }
    return add_ir_variant_parts(variant, fingerprints.data(), list.count());
}

int check_name(Reading& reading, const String& what, const String& name)
{
    for (int i = 0; i < count_ir_variants(reading.graph); ++i)
        if (name == get_ir_variant(reading.graph, i)->name)
            return tengine_error_set(TENGINE_EFORMAT, "%s is called %s, as another", what.c_str(),
                                     quote(name).c_str());
    return TENGINE_OK;
}

int fill_variant(Reading& reading, const VariantRecord& record, const String& what,
                 ir_variant_t* variant)
{
    Texts texts;
    TENGINE_RETURN_IF_ERROR(read_texts(reading, record, what, &texts));
    TENGINE_RETURN_IF_ERROR(check_name(reading, what, texts.name));
    TENGINE_RETURN_IF_ERROR(init_ir_variant(variant, texts.name.c_str(), texts.devices.c_str(),
                                            texts.chip.c_str(), texts.driver.c_str()));
    variant->precision = find_ir_precision(texts.precision.c_str());
    TENGINE_RETURN_IF_ERROR(read_options(reading, record, what, variant));
    return read_part_list(reading, record, what, variant);
}

int read_variant(Reading& reading, const VariantRecord& record, uint32_t index)
{
    const String what = "variant " + to_string(index);
    int place;
    ir_variant_t variant = {};
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(2 * sizeof variant));
    const int status = fill_variant(reading, record, what, &variant);
    if (status == TENGINE_OK) return put_ir_variant(reading.graph, &variant, &place);
    release_ir_variant(&variant);
    return status;
}

// ---- writing ----

uint32_t write_options(FileBuilder& builder, const ir_variant_t& variant)
{
    Vector<VariantOptionRecord> records;
    for (int i = 0; i < get_vector_num(variant.options); ++i) {
        const auto* option =
            static_cast<const ir_key_value_t*>(get_vector_data(variant.options, i));
        records.push_back({builder.add_string(option->key), builder.add_string(option->value)});
    }
    return records.empty() ? 0 : builder.add_vector(records);
}

uint32_t write_part_list(FileBuilder& builder, const ir_variant_t& variant)
{
    const int number = get_vector_num(variant.parts);
    const auto* first = static_cast<const FingerprintRecord*>(get_vector_data(variant.parts, 0));
    return number == 0 ? 0 : builder.add_vector(first, static_cast<size_t>(number));
}

uint32_t write_text(FileBuilder& builder, const char* text)
{
    return *text ? builder.add_string(text) : 0;
}

VariantRecord write_variant(FileBuilder& builder, const ir_variant_t& variant)
{
    VariantRecord record = {};
    record.name = builder.add_string(variant.name);
    record.devices = builder.add_string(variant.devices);
    record.chip = write_text(builder, variant.chip);
    record.driver = write_text(builder, variant.driver);
    record.precision = builder.add_string(get_ir_precision_name(variant.precision));
    record.options = write_options(builder, variant);
    record.parts = write_part_list(builder, variant);
    return record;
}

}  // namespace

int read_variants(Reading& reading, const PartsRecord& lists)
{
    VariantsRecord record;
    if (IS_MINIMAL || lists.size < sizeof record) return TENGINE_OK;
    const uint32_t place = lists.begin + lists.size - uint32_t{sizeof record};
    TENGINE_RETURN_IF_ERROR(reading.file.read(place, "the variants", &record));
    if (std::memcmp(record.mark, kVariantsMark, sizeof kVariantsMark) != 0) return TENGINE_OK;
    VectorView list;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_vector(record.variants, sizeof(VariantRecord), "the variants", &list));
    if (list.count() > IR_MOST_VARIANTS)
        return tengine_error_set(TENGINE_EFORMAT, "there are %u variants, expected at most %d",
                                 list.count(), IR_MOST_VARIANTS);
    for (uint32_t i = 0; i < list.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_variant(reading, list.get<VariantRecord>(i), i));
    return TENGINE_OK;
}

void write_variants(FileBuilder& builder, const struct graph& graph)
{
    Vector<VariantRecord> records;
    for (int i = 0; i < count_ir_variants(&graph); ++i)
        records.push_back(write_variant(builder, *get_ir_variant(&graph, i)));
    if (records.empty()) return;
    VariantsRecord record = {};
    std::memcpy(record.mark, kVariantsMark, sizeof record.mark);
    record.variants = builder.add_vector(records);
    builder.add(record);
}

}  // namespace tengine::tmfile
