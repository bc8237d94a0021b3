// SPDX-License-Identifier: Apache-2.0
// Splits protobuf messages without copying their large fields: weights are read from the file into
// their tensor without a protobuf object. Used by model.cc and tensor.cc.
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

// Splits `encoded`: returns the payloads of the length-delimited field `number` in order as views,
// and merges all other fields into `rest`. TENGINE_EFORMAT with the byte at which it is truncated,
// damaged or nested too deeply; no byte outside `encoded` is read.
TENGINE_MUST_USE int split_message(const Encoded& encoded, int number,
                                   google::protobuf::MessageLite* rest,
                                   std::vector<Encoded>* out_payloads);

}  // namespace tengine
