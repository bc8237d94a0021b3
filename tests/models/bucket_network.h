// SPDX-License-Identifier: Apache-2.0
// A network from a file, run in a bucket and without one.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace tengine::models {

struct BucketShape
{
    const char* input;
    std::vector<int> request, bucket;
};

struct BucketRow
{
    const char* name;  // of the file
    std::vector<BucketShape> shapes;
    const char* reason;  // "": padding is exact; else a part of it
};

inline std::ostream& operator<<(std::ostream& out, const BucketRow& row)
{
    return out << row.name;
}

// Runs the network three times with random inputs of the request's shapes, and compares the results
// with those of the same file without buckets: the same integers, and floats within 1e-4 of the
// largest, since kernels that are chosen by shape add in another order.
void expect_bucket(const char* format, const std::string& path, const BucketRow& row);

}  // namespace tengine::models
