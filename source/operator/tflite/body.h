// SPDX-License-Identifier: Apache-2.0
// The functions of two values that a file has as subgraphs of one operator.
#pragma once

enum tfl_body
{
    TFL_BODY_ADD = 1,
    TFL_BODY_MULTIPLY,
    TFL_BODY_MAXIMUM,
    TFL_BODY_MINIMUM,
    TFL_BODY_AND,
    TFL_BODY_OR,
    TFL_BODY_LESS,     // whether the first is below the second, or equal
    TFL_BODY_GREATER,  // the opposite
    TFL_BODY_SECOND    // the second one, without an operator
};
