// SPDX-License-Identifier: Apache-2.0
#include "operator/plain_data.h"

bool is_plain_data(const struct tensor* constant)
{
    switch (constant->data_type) {
        case TENGINE_DT_INT32:
        case TENGINE_DT_UINT32:
        case TENGINE_DT_INT64:
        case TENGINE_DT_UINT64:
        case TENGINE_DT_BOOL:
            return false;
        default:
            return constant->elem_num > OP_MOST_FLOATS;
    }
}
