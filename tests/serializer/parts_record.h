// SPDX-License-Identifier: Apache-2.0
// Changed records of the compiled parts of a tmfile, with the digest for them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "base/sha256.h"
#include "serializer/tmfile/format.h"

namespace tengine::test {

// Returns the file with another record at a place.
template <class Record>
std::string with_record(const std::string& bytes, uint32_t offset, const Record& changed)
{
    using tmfile::PartsRecord;
    std::string result = bytes;
    uint32_t root;
    PartsRecord lists;
    std::memcpy(&root, &bytes[8], sizeof root);
    std::memcpy(&lists, &bytes[root - sizeof lists], sizeof lists);
    std::memcpy(&result[offset], &changed, sizeof changed);
    sha256_t hash;
    start_sha256(&hash);
    update_sha256(&hash, &lists.begin, sizeof lists - offsetof(PartsRecord, begin));
    update_sha256(&hash, &result[lists.begin], lists.size);
    finish_sha256(&hash, lists.digest);
    std::memcpy(&result[root - sizeof lists], &lists, sizeof lists);
    return result;
}

}  // namespace tengine::test
