// SPDX-License-Identifier: Apache-2.0
// A plug-in whose library has a constructor that throws.
#include <stdexcept>

#include "tengine/plugin.h"

struct Board
{
    Board() { throw std::runtime_error("the board is not there"); }
};

static Board board;

static int init()
{
    return 0;
}

TENGINE_PLUGIN("throwing constructor", "1.0", init, nullptr);
