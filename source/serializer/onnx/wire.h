// SPDX-License-Identifier: Apache-2.0
// Takes protobuf messages apart without copying their large fields: weights go straight from the
// file to their tensor and never through a protobuf object. Used by model.cc and tensor.cc.
#pragma once

#include <cstddef>
#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>
#include <string_view>
#include <vector>

#include "tengine/error.h"

namespace tengine {

// Bytes, not owned.
using Bytes = std::string_view;

// An encoded message and where it begins in the file, for messages.
struct Encoded
{
    Bytes bytes;
    size_t offset = 0;
};

// A message in an arena.
template <class Message>
Message* make_message(google::protobuf::Arena* arena)
{
    return google::protobuf::Arena::CreateMessage<Message>(arena);
}

// Splits `encoded`: the payloads of the length-delimited field `number` are handed out in order as
// views, all other fields are merged into `rest`. TENGINE_EFORMAT with the byte where it is
// truncated, damaged or nested too deeply; nothing is read outside `encoded`.
TENGINE_MUST_USE int split_message(const Encoded& encoded, int number,
                                   google::protobuf::MessageLite* rest,
                                   std::vector<Encoded>* out_payloads);

}  // namespace tengine
