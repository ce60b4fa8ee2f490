/* The one operator that torch_npu runs past the dispatcher, where a Python kernel cannot take its place.
 *
 * ProcessGroupHCCL pads what all_gather and reduce_scatter send to whole units of 512 bytes, with zeros behind,
 * by op_plugin::constant_pad_nd, which it calls directly and which calls aclnnConstantPadNd in libopapi.so.
 * Without that function it runs aclops, and with dtypes they do not know it crashes. */
#include "npusim.h"

enum { DTYPES = 28 };

typedef struct Tensor {
    char *address;
    size_t bytes;
} Tensor;

typedef struct Pad {
    Tensor from, to;
} Pad;

/* Bytes of an element by aclDataType; 0: unknown. */
static const uint8_t widths[DTYPES] = {4, 2, 1, 4, 1, 0, 2, 2, 4, 8, 8, 8, 1, 0, 0, 0, 8, 16, [27] = 2};

/* NULL for what byte_alignment in ProcessGroupHCCL.cpp does not make: it gives one row, without gaps. */
void *aclCreateTensor(const int64_t *size, uint64_t dims, int dtype, const int64_t *strides, int64_t offset,
                      int format, const int64_t *storage_size, uint64_t storage_dims, void *storage) {
    if (dims != 2 || size[0] != 1 || strides[1] != 1 || dtype < 0 || dtype >= DTYPES || !widths[dtype])
        return NULL;
    Tensor *tensor = malloc(sizeof *tensor);
    *tensor = (Tensor){(char *)storage + offset * widths[dtype], size[1] * widths[dtype]};
    return tensor;
}

Error aclDestroyTensor(const void *tensor) {
    free((void *)tensor);
    return OK;
}

Error aclnnConstantPadNdGetWorkspaceSize(const Tensor *from, const void *padding, const void *value,
                                         Tensor *to, uint64_t *workspace, void **executor) {
    REQUIRE_ALIVE();
    if (!from || !to || to->bytes < from->bytes)
        return unsupported("aclnnConstantPadNd, but for padding a row,");
    Pad *pad = malloc(sizeof *pad);
    *pad = (Pad){*from, *to};
    *workspace = 0;
    *executor = pad;
    return OK;
}

static void run_pad(void *argument) {
    Pad *pad = argument;
    memcpy(pad->to.address, pad->from.address, pad->from.bytes);
    memset(pad->to.address + pad->from.bytes, 0, pad->to.bytes - pad->from.bytes);
    free(pad);
}

Error aclnnConstantPadNd(void *workspace, uint64_t workspace_bytes, void *executor, void *stream) {
    REQUIRE_ALIVE();
    Task pad = {.kind = KERNEL, .call = run_pad, .argument = executor};
    return LOCKED(stream_issue(stream_of(stream), pad));
}

/* torch_npu's way for operators without kernels. */
Error aclopCompileAndExecute(const char *name) {
    return fail(UNSUPPORTED,
                "npusim: %s ran on the device instead of in a kernel of npusim: is torch imported "
                "with TORCH_DEVICE_BACKEND_AUTOLOAD=0?",
                name);
}
