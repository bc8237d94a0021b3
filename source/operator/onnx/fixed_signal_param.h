// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in fixed_signal_ops.c.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct fixed_dft_param
{
    int fft_length;  // real samples, an even number
};

struct filter_bank_param
{
    int num_channels;
};

struct gain_control_param
{
    int snr_shift;
};

struct filter_bank_log_param
{
    int output_scale;
    int input_correction_bits;
};

enum
{
    FIXED_DFT_MOST_POINTS = 1 << 20,
    // Three numbers for each power of 2, and one for each of 0, 1 and 2.
    GAIN_TABLE_SIZE = 125
};

TENGINE_EXTERN_C_END
