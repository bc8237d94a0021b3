// SPDX-License-Identifier: Apache-2.0
// Kernels of tengine.SignalRfft and tengine.SignalIrfft (operator/onnx/fixed_signal_ops.c): the
// arithmetic of kissfft in fixed point, which tflite-micro has (M. Borgerding, kiss_fft.c and
// kiss_fftr.c with FIXED_POINT 16 or 32). A real transform of 2n points is a complex one of n. Each
// stage of radix p divides by p; every product is rounded to nearest, ties up; sums wrap around.
#include <cmath>
#include <cstring>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "operator/onnx/fixed_signal_param.h"

namespace tengine::cpu {
namespace {

// T: elements, with sizeof(T) * 8 - 1 bits of fraction. Wide: their products.
template <class T, class Wide>
class FixedTransform
{
  public:
    struct Complex
    {
        T real, imaginary;
    };

    // `memory` is of count_memory(length) bytes.
    FixedTransform(int length, bool inverse, void* memory) : half_(length / 2), inverse_(inverse)
    {
        roots_ = static_cast<Complex*>(memory);
        real_roots_ = roots_ + half_;
        packed_ = real_roots_ + half_ / 2;
        result_ = packed_ + half_;
        column_ = result_ + half_;
        for (int i = 0; i < half_; ++i)
            roots_[i] = make_root(2 * kPi * i / half_);
        for (int i = 0; i < half_ / 2; ++i)
            real_roots_[i] = make_root(kPi * ((i + 1.0) / half_ + 0.5));
    }

    static uint64_t count_memory(int length)
    {
        return (uint64_t{4} * static_cast<uint64_t>(length / 2) +
                static_cast<uint64_t>(length / 4)) *
               sizeof(Complex);
    }

    // `out` has length / 2 + 1 frequencies.
    void analyse(const T* samples, int number, T* out)
    {
        std::memset(static_cast<void*>(packed_), 0, sizeof(Complex) * static_cast<size_t>(half_));
        std::memcpy(static_cast<void*>(packed_), samples, sizeof(T) * static_cast<size_t>(number));
        transform(packed_, result_);
        const Complex first = divide(result_[0], 2);
        set(out, 0, {wrap(Wide{first.real} + first.imaginary), 0});
        set(out, half_, {wrap(Wide{first.real} - first.imaginary), 0});
        for (int k = 1; k <= half_ / 2; ++k) {
            const Complex low = divide(result_[k], 2);
            const Complex high = divide(conjugate(result_[half_ - k]), 2);
            const Complex sum = add(low, high);
            const Complex turned = multiply(subtract(low, high), real_roots_[k - 1]);
            set(out, k,
                {wrap((Wide{sum.real} + turned.real) >> 1),
                 wrap((Wide{sum.imaginary} + turned.imaginary) >> 1)});
            set(out, half_ - k,
                {wrap((Wide{sum.real} - turned.real) >> 1),
                 wrap((Wide{turned.imaginary} - sum.imaginary) >> 1)});
        }
    }

    void synthesise(const T* frequencies, T* out)
    {
        const Complex first = get(frequencies, 0), last = get(frequencies, half_);
        packed_[0] =
            divide({wrap(Wide{first.real} + last.real), wrap(Wide{first.real} - last.real)}, 2);
        for (int k = 1; k <= half_ / 2; ++k) {
            const Complex low = divide(get(frequencies, k), 2);
            const Complex high = divide(conjugate(get(frequencies, half_ - k)), 2);
            const Complex sum = add(low, high);
            const Complex turned = multiply(subtract(low, high), real_roots_[k - 1]);
            packed_[k] = add(sum, turned);
            packed_[half_ - k] = conjugate(subtract(sum, turned));
        }
        transform(packed_, result_);
        std::memcpy(out, result_, sizeof(Complex) * static_cast<size_t>(half_));
    }

  private:
    static constexpr double kPi = 3.14159265358979323846;
    static constexpr int kFraction = std::numeric_limits<T>::digits;

    static T wrap(Wide value) { return static_cast<T>(value); }
    static T round(Wide product)
    {
        return wrap((product + (Wide{1} << (kFraction - 1))) >> kFraction);
    }
    static T scale(T value, T factor) { return round(Wide{value} * factor); }
    static Complex get(const T* list, int place) { return {list[2 * place], list[2 * place + 1]}; }
    static void set(T* list, int place, Complex value)
    {
        list[2 * place] = value.real;
        list[2 * place + 1] = value.imaginary;
    }
    static Complex add(Complex a, Complex b)
    {
        return {wrap(Wide{a.real} + b.real), wrap(Wide{a.imaginary} + b.imaginary)};
    }
    static Complex subtract(Complex a, Complex b)
    {
        return {wrap(Wide{a.real} - b.real), wrap(Wide{a.imaginary} - b.imaginary)};
    }
    static Complex conjugate(Complex a) { return {a.real, wrap(-Wide{a.imaginary})}; }
    static Complex multiply(Complex a, Complex b)
    {
        return {round(Wide{a.real} * b.real - Wide{a.imaginary} * b.imaginary),
                round(Wide{a.real} * b.imaginary + Wide{a.imaginary} * b.real)};
    }
    static Complex divide(Complex a, int divisor)
    {
        const T factor = static_cast<T>(std::numeric_limits<T>::max() / divisor);
        return {scale(a.real, factor), scale(a.imaginary, factor)};
    }

    Complex make_root(double angle) const
    {
        constexpr double kMost = std::numeric_limits<T>::max();
        const double turn = inverse_ ? angle : -angle;
        return {static_cast<T>(std::floor(0.5 + kMost * std::cos(turn))),
                static_cast<T>(std::floor(0.5 + kMost * std::sin(turn)))};
    }

    // Fours come first, then twos, threes and larger primes.
    static int find_radix(int points)
    {
        if (points % 4 == 0) return 4;
        if (points % 2 == 0) return 2;
        int radix = 3;
        while (points % radix != 0) {
            radix += 2;
            if (radix > points / radix) return points;
        }
        return radix;
    }

    void transform(const Complex* in, Complex* out) { transform(in, 1, half_, out); }

    // `points` elements that are `step` apart.
    void transform(const Complex* in, int step, int points, Complex* out)
    {
        const int radix = find_radix(points), part = points / radix;
        for (int i = 0; i < radix; ++i) {
            if (part == 1)
                out[i] = in[i * step];
            else
                transform(in + i * step, step * radix, part, out + i * part);
        }
        for (int i = 0; i < part; ++i) {
            Complex* column = out + i;
            for (int j = 0; j < radix; ++j)
                column[j * part] = divide(column[j * part], radix);
            join(column, i, part, step, radix);
        }
    }

    void join(Complex* column, int place, int part, int step, int radix)
    {
        switch (radix) {
            case 2:
                return join_2(column, place, part, step);
            case 3:
                return join_3(column, place, part, step);
            case 4:
                return join_4(column, place, part, step);
            case 5:
                return join_5(column, place, part, step);
            default:
                return join_any(column, place, part, step, radix);
        }
    }

    void join_2(Complex* column, int place, int part, int step)
    {
        const Complex second = multiply(column[part], roots_[place * step]);
        column[part] = subtract(column[0], second);
        column[0] = add(column[0], second);
    }

    void join_3(Complex* column, int place, int part, int step)
    {
        const T sine = roots_[step * part].imaginary;
        const Complex second = multiply(column[part], roots_[place * step]);
        const Complex third = multiply(column[2 * part], roots_[2 * place * step]);
        const Complex sum = add(second, third), difference = subtract(second, third);
        const Complex middle = {wrap(Wide{column[0].real} - (sum.real >> 1)),
                                wrap(Wide{column[0].imaginary} - (sum.imaginary >> 1))};
        const Complex turned = {scale(difference.imaginary, sine), scale(difference.real, sine)};
        column[0] = add(column[0], sum);
        column[2 * part] = {wrap(Wide{middle.real} + turned.real),
                            wrap(Wide{middle.imaginary} - turned.imaginary)};
        column[part] = {wrap(Wide{middle.real} - turned.real),
                        wrap(Wide{middle.imaginary} + turned.imaginary)};
    }

    void join_4(Complex* column, int place, int part, int step)
    {
        const Complex second = multiply(column[part], roots_[place * step]);
        const Complex third = multiply(column[2 * part], roots_[2 * place * step]);
        const Complex fourth = multiply(column[3 * part], roots_[3 * place * step]);
        const Complex even = add(column[0], third), other = subtract(column[0], third);
        const Complex sum = add(second, fourth), difference = subtract(second, fourth);
        column[0] = add(even, sum);
        column[2 * part] = subtract(even, sum);
        const Complex plus = {wrap(Wide{other.real} + difference.imaginary),
                              wrap(Wide{other.imaginary} - difference.real)};
        const Complex minus = {wrap(Wide{other.real} - difference.imaginary),
                               wrap(Wide{other.imaginary} + difference.real)};
        column[part] = inverse_ ? minus : plus;
        column[3 * part] = inverse_ ? plus : minus;
    }

    // The second and fifth result, then with the other root the third and fourth.
    void join_5(Complex* column, int place, int part, int step)
    {
        const Complex first = column[0];
        Complex turned[5];
        for (int i = 1; i < 5; ++i)
            turned[i] = multiply(column[i * part], roots_[i * place * step]);
        const Complex outer = add(turned[1], turned[4]), inner = add(turned[2], turned[3]);
        const Complex outer_rest = subtract(turned[1], turned[4]);
        const Complex inner_rest = subtract(turned[2], turned[3]);
        const Complex a = roots_[step * part], b = roots_[2 * step * part];
        column[0] = {wrap(Wide{first.real} + outer.real + inner.real),
                     wrap(Wide{first.imaginary} + outer.imaginary + inner.imaginary)};
        const auto level = [&](T cosine_1, T cosine_2) -> Complex {
            return {
                wrap(Wide{first.real} + scale(outer.real, cosine_1) + scale(inner.real, cosine_2)),
                wrap(Wide{first.imaginary} + scale(outer.imaginary, cosine_1) +
                     scale(inner.imaginary, cosine_2))};
        };
        const Complex outer_level = level(a.real, b.real), inner_level = level(b.real, a.real);
        const Complex outer_turn = {
            wrap(Wide{scale(outer_rest.imaginary, a.imaginary)} +
                 scale(inner_rest.imaginary, b.imaginary)),
            wrap(-Wide{scale(outer_rest.real, a.imaginary)} - scale(inner_rest.real, b.imaginary))};
        const Complex inner_turn = {
            wrap(-Wide{scale(outer_rest.imaginary, b.imaginary)} +
                 scale(inner_rest.imaginary, a.imaginary)),
            wrap(Wide{scale(outer_rest.real, b.imaginary)} - scale(inner_rest.real, a.imaginary))};
        column[part] = subtract(outer_level, outer_turn);
        column[4 * part] = add(outer_level, outer_turn);
        column[2 * part] = add(inner_level, inner_turn);
        column[3 * part] = subtract(inner_level, inner_turn);
    }

    void join_any(Complex* column, int place, int part, int step, int radix)
    {
        for (int i = 0; i < radix; ++i)
            column_[i] = column[i * part];
        for (int i = 0; i < radix; ++i) {
            const int turn = step * (place + i * part);
            Complex sum = column_[0];
            for (int j = 1, root = 0; j < radix; ++j) {
                root += turn;
                if (root >= half_) root -= half_;
                sum = add(sum, multiply(column_[j], roots_[root]));
            }
            column[i * part] = sum;
        }
    }

    int half_;
    bool inverse_;
    Complex* roots_;       // exp(∓2πi·k/half) for k in [0, half)
    Complex* real_roots_;  // those that join the even and the odd samples
    Complex* packed_;
    Complex* result_;
    Complex* column_;  // of the largest radix
};

template <class T, class Wide>
int run_lines(const KernelContext& context, bool inverse)
{
    const tensor* input = context.input(0);
    tensor* output = context.output(0);
    const int length = context.param<fixed_dft_param>().fft_length;
    const int given = input->dims[input->dim_num - 1];
    const int made = output->dims[output->dim_num - 1];
    FixedTransform<T, Wide> transform(length, inverse, context.scratch);
    const auto* from = static_cast<const T*>(input->data);
    auto* to = static_cast<T*>(output->data);
    const int64_t lines = made > 0 ? output->elem_num / made : 0;
    for (int64_t i = 0; i < lines; ++i) {
        if (inverse)
            transform.synthesise(from + i * given, to + i * made);
        else
            transform.analyse(from + i * given, given, to + i * made);
    }
    return TENGINE_OK;
}

int run_transform(const KernelContext& context, bool inverse)
{
    if (context.input(0)->data_type == TENGINE_DT_INT16)
        return run_lines<int16_t, int32_t>(context, inverse);
    return run_lines<int32_t, int64_t>(context, inverse);
}

int prepare(KernelContext& context)
{
    const int length = context.param<fixed_dft_param>().fft_length;
    context.scratch_size = FixedTransform<int32_t, int64_t>::count_memory(length);
    return TENGINE_OK;
}

int run_rfft(KernelContext& context)
{
    return run_transform(context, false);
}

int run_irfft(KernelContext& context)
{
    return run_transform(context, true);
}

constexpr Kernel fixed_dft_rows[] = {
    {.op = "tengine.SignalIrfft", .name = "reference", .run = run_irfft, .prepare = prepare},
    {.op = "tengine.SignalRfft", .name = "reference", .run = run_rfft, .prepare = prepare},
};

}  // namespace

extern const KernelTable fixed_dft_reference;
const KernelTable fixed_dft_reference = make_table<fixed_dft_rows>();

}  // namespace tengine::cpu
