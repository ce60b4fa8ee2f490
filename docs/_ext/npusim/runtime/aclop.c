/* The two aclops that torch_npu runs past the dispatcher, where Python kernels cannot take their place.
 *
 * ProcessGroupHCCL pads the inputs of all_gather and reduce_scatter to 512 bytes with
 * op_plugin::constant_pad_nd, which it calls directly; without libopapi.so that runs the aclops Fill and
 * PadV3. No other operator is known. */
#include "npusim.h"

enum { MAX_DIMS = 8, INT64_DTYPE = 9, DTYPES = 28 };

typedef struct Description {
    int dtype, dims;
    int64_t size[MAX_DIMS];
} Description;

typedef struct Buffer {
    void *address;
    size_t bytes;
} Buffer;

typedef struct Pad {
    Description from, to;
    int64_t before[MAX_DIMS]; /* elements of padding before `from`, by dimension */
    const char *source;       /* NULL: fill only */
    char *target;
    char value[16];
    size_t width; /* bytes of an element */
} Pad;

/* By aclDataType; 0: unknown. */
static const uint8_t widths[DTYPES] = {4, 2, 1, 4, 1, 0, 2, 2, 4, 8, 8, 8, 1, 0, 0, 0, 8, 16, [27] = 2};

void *aclCreateTensorDesc(int dtype, int dims, const int64_t *size, int format) {
    Description *description = calloc(1, sizeof *description);
    description->dtype = dtype;
    description->dims = dims < MAX_DIMS ? dims : MAX_DIMS;
    if (size)
        memcpy(description->size, size, description->dims * sizeof *size);
    return description;
}

void aclDestroyTensorDesc(const void *description) { free((void *)description); }

void *aclCreateDataBuffer(void *address, size_t bytes) {
    Buffer *buffer = malloc(sizeof *buffer);
    *buffer = (Buffer){address, bytes};
    return buffer;
}

Error aclDestroyDataBuffer(const void *buffer) {
    free((void *)buffer);
    return OK;
}

static size_t elements(const Description *description, int dims) {
    size_t n = 1;
    for (int i = 0; i < dims; i++)
        n *= description->size[i];
    return n;
}

/* Where row `row` of pad->from starts in pad->to, in elements; a row lies along the last dimension. */
static size_t row_start(const Pad *pad, size_t row) {
    int last = pad->from.dims - 1;
    size_t start = pad->before[last], step = pad->to.size[last];
    for (int i = last - 1; i >= 0; i--) {
        start += (row % pad->from.size[i] + pad->before[i]) * step;
        step *= pad->to.size[i];
        row /= pad->from.size[i];
    }
    return start;
}

static void run_pad(void *argument) {
    Pad *pad = argument;
    size_t width = pad->width, n = elements(&pad->to, pad->to.dims);
    for (size_t i = 0; i < n; i++)
        memcpy(pad->target + i * width, pad->value, width);
    if (pad->source && pad->from.dims == 0) {
        memcpy(pad->target, pad->source, width);
    } else if (pad->source) {
        int last = pad->from.dims - 1;
        size_t rows = elements(&pad->from, last), row_bytes = pad->from.size[last] * width;
        for (size_t row = 0; row < rows; row++)
            memcpy(pad->target + row_start(pad, row) * width, pad->source + row * row_bytes, row_bytes);
    }
    free(pad);
}

/* The paddings input of PadV3: (before, after) by dimension. */
static void read_padding(Pad *pad, const Description *description, const void *values) {
    for (int i = 0; i < pad->from.dims; i++)
        pad->before[i] = description->dtype == INT64_DTYPE ? ((const int64_t *)values)[2 * i]
                                                           : ((const int32_t *)values)[2 * i];
}

Error aclopCompileAndExecute(const char *name, int inputs, Description *const *input, Buffer *const *in,
                             int outputs, Description *const *output, Buffer *const *out,
                             const void *attributes, int engine, int flag, const char *path, void *stream) {
    REQUIRE_ALIVE();
    int is_fill = !strcmp(name, "Fill") && inputs == 2;
    int is_pad = !strcmp(name, "PadV3") && inputs == 3;
    if ((!is_fill && !is_pad) || outputs != 1)
        return fail(UNSUPPORTED,
                    "npusim: %s ran on the device instead of in a kernel of npusim: is torch imported "
                    "with TORCH_DEVICE_BACKEND_AUTOLOAD=0?",
                    name);
    int dtype = output[0]->dtype;
    if (dtype < 0 || dtype >= DTYPES || !widths[dtype] || input[inputs - 1]->dtype != dtype ||
        !in[inputs - 1]->address)
        return unsupported(name);

    Pad *pad = calloc(1, sizeof *pad);
    pad->to = *output[0];
    pad->target = out[0]->address;
    pad->width = widths[dtype];
    memcpy(pad->value, in[inputs - 1]->address, pad->width);
    if (is_pad) {
        pad->from = *input[0];
        pad->source = in[0]->address;
        read_padding(pad, input[1], in[1]->address);
    }
    pthread_mutex_lock(&state_lock);
    Error error = stream_issue(stream_of(stream), (Task){.kind = KERNEL, .call = run_pad, .argument = pad});
    pthread_mutex_unlock(&state_lock);
    return error;
}
