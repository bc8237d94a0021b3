// SPDX-License-Identifier: Apache-2.0
// C API: pictures as the values of an input or a buffer.
#include <math.h>
#include <string.h>

#include "api/check.h"
#include "api/image.h"
#include "base/alloc.h"
#include "base/text.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "image/plain.h"
#include "image/values.h"

enum
{
    IMAGE_DIM_NUM = 4
};

// Checks a picture by itself.
static int check_picture(const struct tengine_image* image, int index, const char* function)
{
    const int pixel = image_pixel_bytes(image->format);
    if (!image->pixels)
        return tengine_error_set(TENGINE_EINVAL, "%s: picture %d has no pixels", function, index);
    if (pixel == 0 || image->orientation < 0 || image->orientation > 8)
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: picture %d has format %d and orientation %d, expected a "
                                 "TENGINE_IMAGE_* and 0 to 8",
                                 function, index, image->format, image->orientation);
    if (image->width < 1 || image->height < 1 ||
        (int64_t)image->width * image->height > MOST_IMAGE_PIXELS)
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: picture %d has %d x %d pixels, expected 1 to %d of them",
                                 function, index, image->width, image->height, MOST_IMAGE_PIXELS);
    const size_t least = (size_t)image->width * (size_t)pixel;
    if (image->row_bytes != 0 &&
        (image->row_bytes < least || image->row_bytes > PTRDIFF_MAX / (size_t)image->height))
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: picture %d has %zu bytes from row to row, expected 0, or at "
                                 "least %zu",
                                 function, index, image->row_bytes, least);
    return TENGINE_OK;
}

static int check_pictures(const struct tengine_image images[], int number,
                          const struct tengine_image_settings* settings,
                          const image_values_t* values, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(images, function, "images"));
    if (number != values->number)
        return tengine_error_set(TENGINE_EINVAL, "%s: %d pictures, expected %d, the batch",
                                 function, number, values->number);
    for (int i = 0; i < number; ++i) {
        TENGINE_RETURN_IF_ERROR(check_picture(&images[i], i, function));
        TENGINE_RETURN_IF_ERROR(check_image(&images[i], settings, values));
    }
    return TENGINE_OK;
}

// Checks type and quantisation; `subject` is the tensor or the buffer in messages.
static int check_type(const image_values_t* values, const char* function, const char* subject)
{
    const bool is_byte =
        values->data_type == TENGINE_DT_UINT8 || values->data_type == TENGINE_DT_INT8;
    if (image_element_bytes(values->data_type) == 0 ||
        (values->data_type == TENGINE_DT_INT8 && values->scale == 0))
        return tengine_error_set(TENGINE_EDTYPE,
                                 "%s: %s is %s%s: expected fp32, fp16, bf16, fp64, uint8, or int8 "
                                 "with a scale",
                                 function, subject, get_data_type_name(values->data_type),
                                 is_byte ? " without a scale" : "");
    const int lowest = values->data_type == TENGINE_DT_INT8 ? -128 : 0;
    if (is_byte &&
        (!isfinite(values->scale) || values->scale < 0 ||
         (values->scale > 0 && (values->zero_point < lowest || values->zero_point > lowest + 255))))
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: %s has the scale %g and the zero point %d: expected a "
                                 "positive scale and a zero point of 8 bits",
                                 function, subject, (double)values->scale, values->zero_point);
    return TENGINE_OK;
}

static int read_dims(const int dims[], int dim_num, int layout, const char* function,
                     const char* subject, image_values_t* out_values)
{
    if (dim_num == IMAGE_DIM_NUM && read_image_dims(dims, layout, out_values)) return TENGINE_OK;
    text_t text = {0};
    for (int i = 0; i < dim_num; ++i)
        append_text(&text, i == 0 ? "%d" : "x%d", dims[i]);
    const int status = tengine_error_set(
        TENGINE_EINVAL, "%s: %s has shape %s: expected Nx1xHxW, Nx3xHxW, NxHxWx1 or NxHxWx3%s",
        function, subject, text.data ? text.data : "scalar",
        layout == TENGINE_IMAGE_NCHW   ? ", of these one in NCHW"
        : layout == TENGINE_IMAGE_NHWC ? ", of these one in NHWC"
                                       : "");
    free_text(&text);
    return status;
}

static int write_images(const struct tengine_image images[],
                        const struct tengine_image_settings* settings, const image_values_t* values,
                        void* out_values)
{
    for (int i = 0; i < values->number; ++i)
        TENGINE_RETURN_IF_ERROR(write_image(&images[i], settings, values, i, out_values));
    return TENGINE_OK;
}

static size_t count_bytes(const image_values_t* values)
{
    size_t bytes = (size_t)image_element_bytes(values->data_type);
    const int factors[] = {values->number, values->channels, values->height, values->width};
    for (int i = 0; i < IMAGE_DIM_NUM; ++i)
        if (!checked_multiply(bytes, (size_t)factors[i], &bytes)) return SIZE_MAX;
    return bytes;
}

// ---- a buffer ----

static int read_target(const struct tengine_image_target* target, size_t size, int layout,
                       const char* function, image_values_t* out_values)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(target, function, "target"));
    TENGINE_RETURN_IF_ERROR(
        read_dims(target->dims, IMAGE_DIM_NUM, layout, function, "the target", out_values));
    out_values->data_type = target->data_type;
    out_values->scale = target->scale;
    out_values->zero_point = target->scale != 0 ? target->zero_point : 0;
    TENGINE_RETURN_IF_ERROR(check_type(out_values, function, "the target"));
    const size_t needed = count_bytes(out_values);
    if (size == needed && needed < SIZE_MAX) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: size is %zu, expected %zu bytes", function, size,
                             needed);
}

static int convert(const struct tengine_image images[], int number,
                   const struct tengine_image_settings* settings,
                   const struct tengine_image_target* target, void* out_values, size_t size,
                   const char* function)
{
    struct tengine_image_settings known;
    image_values_t values;
    TENGINE_RETURN_IF_ERROR(check_pointer(out_values, function, "out_values"));
    TENGINE_RETURN_IF_ERROR(take_image_settings(settings, function, &known));
    TENGINE_RETURN_IF_ERROR(read_target(target, size, known.layout, function, &values));
    TENGINE_RETURN_IF_ERROR(check_pictures(images, number, &known, &values, function));
    return write_images(images, &known, &values, out_values);
}

int tengine_image_convert(const struct tengine_image images[], int number,
                          const struct tengine_image_settings* settings,
                          const struct tengine_image_target* target, void* out_values, size_t size)
{
    return api_result(convert(images, number, settings, target, out_values, size, __func__));
}

// ---- an input ----

static int check_is_input(const struct tensor* tensor, const char* function)
{
    if (tensor->tensor_type == TENSOR_TYPE_INPUT) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: tensor '%s' is not an input of the graph",
                             function, tensor->name);
}

static int read_quantisation(const struct tensor* tensor, const char* function,
                             image_values_t* out_values)
{
    out_values->scale = 0;
    out_values->zero_point = 0;
    if (tensor->quant_param_num == 0 || image_element_bytes(tensor->data_type) != 1)
        return TENGINE_OK;
    if (tensor->quant_param_num > 1)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "%s: tensor '%s' has %d scales, expected one for all channels",
                                 function, tensor->name, tensor->quant_param_num);
    return get_ir_tensor_quantization_parameter(tensor, &out_values->scale, &out_values->zero_point,
                                                1);
}

static int read_input(const struct tensor* tensor, int layout, const char* function,
                      image_values_t* out_values)
{
    text_t subject = {0};
    append_text(&subject, "tensor '%s'", tensor->name);
    const char* name = subject.data ? subject.data : "the tensor";
    int status = read_dims(tensor->dims, tensor->dim_num, layout, function, name, out_values);
    out_values->data_type = tensor->data_type;
    if (status == TENGINE_OK) status = read_quantisation(tensor, function, out_values);
    if (status >= TENGINE_OK) status = check_type(out_values, function, name);
    free_text(&subject);
    return status;
}

static int set_input(struct tensor* tensor, const api_graph_t* owner,
                     const struct tengine_image images[], int number,
                     const struct tengine_image_settings* settings, const char* function)
{
    struct tengine_image_settings known;
    image_values_t values;
    TENGINE_RETURN_IF_ERROR(check_is_input(tensor, function));
    TENGINE_RETURN_IF_ERROR(check_data_idle(owner, tensor, function));
    TENGINE_RETURN_IF_ERROR(take_image_settings(settings, function, &known));
    TENGINE_RETURN_IF_ERROR(check_shape_known(tensor, function));
    TENGINE_RETURN_IF_ERROR(read_input(tensor, known.layout, function, &values));
    TENGINE_RETURN_IF_ERROR(check_pictures(images, number, &known, &values, function));
    if (!tensor->data) TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    return write_images(images, &known, &values, tensor->data);
}

int tengine_image_set_input(tensor_t input, const struct tengine_image images[], int number,
                            const struct tengine_image_settings* settings)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(input, __func__, &owner);
    if (!target || set_input(target, owner, images, number, settings, __func__) < 0)
        return api_failure();
    return 0;
}

// ---- free dimensions ----

static int replace_free(const struct tengine_image* image, int number,
                        const struct tengine_image_settings* settings, int dims[IMAGE_DIM_NUM])
{
    int height, width;
    image_values_t values;
    TENGINE_RETURN_IF_ERROR(find_plain_size(image, settings, &height, &width));
    read_image_dims(dims, settings->layout, &values);
    const int rows = values.channels_last ? 1 : 2;
    if (dims[0] < 0) dims[0] = number;
    if (dims[rows] < 0) dims[rows] = settings->height > 0 ? settings->height : height;
    if (dims[rows + 1] < 0) dims[rows + 1] = settings->width > 0 ? settings->width : width;
    return TENGINE_OK;
}

static int fill_shape(const struct tengine_image* image, int number,
                      const struct tengine_image_settings* settings, const char* function,
                      const int dims[], int dim_num, int out_dims[IMAGE_DIM_NUM])
{
    struct tengine_image_settings known;
    image_values_t values;
    TENGINE_RETURN_IF_ERROR(take_image_settings(settings, function, &known));
    TENGINE_RETURN_IF_ERROR(check_pointer(image, function, "image"));
    if (number < 1)
        return tengine_error_set(TENGINE_EINVAL, "%s: number is %d, expected 1 or more", function,
                                 number);
    TENGINE_RETURN_IF_ERROR(check_picture(image, 0, function));
    if (dim_num != IMAGE_DIM_NUM)
        return read_dims(dims, dim_num, known.layout, function, "the input", &values);
    int filled[IMAGE_DIM_NUM];
    memcpy(filled, dims, sizeof filled);
    TENGINE_RETURN_IF_ERROR(replace_free(image, number, &known, filled));
    TENGINE_RETURN_IF_ERROR(
        read_dims(filled, IMAGE_DIM_NUM, known.layout, function, "the input", &values));
    memcpy(out_dims, filled, sizeof filled);
    return TENGINE_OK;
}

int tengine_image_fill_shape(const struct tengine_image* image, int number,
                             const struct tengine_image_settings* settings, int dims[4])
{
    if (check_pointer(dims, __func__, "dims") < 0) return api_failure();
    return api_result(fill_shape(image, number, settings, __func__, dims, IMAGE_DIM_NUM, dims));
}

int tengine_image_set_input_shape(tensor_t input, const struct tengine_image* image, int number,
                                  const struct tengine_image_settings* settings)
{
    int filled[IMAGE_DIM_NUM];
    const struct tensor* target = find_tensor(input, __func__, NULL);
    if (!target || check_is_input(target, __func__) < 0) return api_failure();
    const bool is_declared = is_ir_shape_declared(target);
    const int dim_num = is_declared ? target->core->declaration->dim_num : target->dim_num;
    const int* dims = is_declared ? target->core->declaration->dims : target->dims;
    if (fill_shape(image, number, settings, __func__, dims, dim_num, filled) < 0)
        return api_failure();
    return set_tensor_shape(input, filled, IMAGE_DIM_NUM);
}
