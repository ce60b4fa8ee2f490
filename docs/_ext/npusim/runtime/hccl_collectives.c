/* The collective operations of HCCL, each put together from messages. Counts are in elements of a dtype. */
#include "hccl.h"

#define FOR_OTHERS(communicator, peer)                           \
    for (uint32_t peer = 0; peer < (communicator)->size; peer++) \
        if (peer != (communicator)->rank)

static void set_local_copy(Operation *operation, void *target, const void *source, size_t bytes) {
    if (target == source)
        return;
    operation->local_source = source;
    operation->local = (Output){.target = target, .bytes = bytes};
}

static void set_result(Operation *operation, void *target) {
    operation->result = (Output){.target = target, .bytes = hccl_bytes(operation->count, operation->dtype)};
}

static Operation *begin_reduction(void *communicator, const char *name, int dtype, int reduction,
                                  const void *own, void *result, uint64_t count) {
    Operation *operation =
        hccl_reducible(reduction, dtype) ? operation_begin(communicator, name, dtype) : NULL;
    if (!operation)
        return NULL;
    operation->reduction = reduction;
    operation->dtype = dtype;
    operation->own = own;
    operation->count = count;
    set_result(operation, result);
    return operation;
}

/* ---- one to all, all to all ---- */

int HcclBroadcast(void *data, uint64_t count, int dtype, uint32_t root, void *handle, void *stream) {
    Communicator *communicator = handle;
    if (!communicator_has(communicator, root))
        return H_PARAMETER;
    Operation *operation = operation_begin(communicator, "broadcast", dtype);
    if (!operation)
        return hccl_refused("broadcast of this dtype");
    size_t bytes = hccl_bytes(count, dtype);
    if (communicator->rank != root)
        operation_receive(operation, root, data, bytes);
    else
        FOR_OTHERS(communicator, peer) operation_send(operation, peer, data, bytes);
    return operation_issue(operation, stream);
}

int HcclScatter(void *source, void *target, uint64_t count, int dtype, uint32_t root, void *handle,
                void *stream) {
    Communicator *communicator = handle;
    Operation *operation = operation_begin(communicator, "scatter", dtype);
    if (!operation)
        return hccl_refused("scatter of this dtype");
    size_t bytes = hccl_bytes(count, dtype);
    if (communicator->rank != root) {
        operation_receive(operation, root, target, bytes);
    } else {
        FOR_OTHERS(communicator, peer) operation_send(operation, peer, (char *)source + peer * bytes, bytes);
        set_local_copy(operation, target, (char *)source + root * bytes, bytes);
    }
    return operation_issue(operation, stream);
}

int HcclAllGatherV(void *source, uint64_t count, void *target, const uint64_t *counts, const uint64_t *starts,
                   int dtype, void *handle, void *stream) {
    Communicator *communicator = handle;
    Operation *operation = operation_begin(communicator, "all_gather", dtype);
    if (!operation)
        return hccl_refused("all_gather of this dtype");
    size_t bytes = hccl_bytes(count, dtype);
    FOR_OTHERS(communicator, peer) {
        operation_send(operation, peer, source, bytes);
        operation_receive(operation, peer, (char *)target + hccl_bytes(starts[peer], dtype),
                          hccl_bytes(counts[peer], dtype));
    }
    set_local_copy(operation, (char *)target + hccl_bytes(starts[communicator->rank], dtype), source, bytes);
    return operation_issue(operation, stream);
}

/* The counts and starts of equal parts. */
static void equal_parts(uint32_t n, uint64_t count, uint64_t *counts, uint64_t *starts) {
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = count;
        starts[i] = i * count;
    }
}

int HcclAllGather(void *source, void *target, uint64_t count, int dtype, void *communicator, void *stream) {
    uint32_t n = ((Communicator *)communicator)->size;
    uint64_t counts[n], starts[n];
    equal_parts(n, count, counts, starts);
    return HcclAllGatherV(source, count, target, counts, starts, dtype, communicator, stream);
}

int HcclAlltoAllV(const void *source, const uint64_t *send_counts, const uint64_t *send_starts,
                  int send_dtype, void *target, const uint64_t *receive_counts,
                  const uint64_t *receive_starts, int receive_dtype, void *handle, void *stream) {
    Communicator *communicator = handle;
    uint32_t rank = communicator->rank;
    Operation *operation =
        hccl_dtype_known(receive_dtype) ? operation_begin(communicator, "all_to_all", send_dtype) : NULL;
    if (!operation)
        return hccl_refused("all_to_all of this dtype");
    FOR_OTHERS(communicator, peer) {
        operation_send(operation, peer, (const char *)source + hccl_bytes(send_starts[peer], send_dtype),
                       hccl_bytes(send_counts[peer], send_dtype));
        operation_receive(operation, peer, (char *)target + hccl_bytes(receive_starts[peer], receive_dtype),
                          hccl_bytes(receive_counts[peer], receive_dtype));
    }
    set_local_copy(operation, (char *)target + hccl_bytes(receive_starts[rank], receive_dtype),
                   (const char *)source + hccl_bytes(send_starts[rank], send_dtype),
                   hccl_bytes(send_counts[rank], send_dtype));
    return operation_issue(operation, stream);
}

int HcclAlltoAll(const void *source, uint64_t send_count, int send_dtype, void *target,
                 uint64_t receive_count, int receive_dtype, void *communicator, void *stream) {
    uint32_t n = ((Communicator *)communicator)->size;
    uint64_t send_counts[n], send_starts[n], receive_counts[n], receive_starts[n];
    equal_parts(n, send_count, send_counts, send_starts);
    equal_parts(n, receive_count, receive_counts, receive_starts);
    return HcclAlltoAllV(source, send_counts, send_starts, send_dtype, target, receive_counts, receive_starts,
                         receive_dtype, communicator, stream);
}

/* matrix[i * n + j]: how many elements go from rank i to rank j. */
int HcclAlltoAllVC(const void *source, const uint64_t *matrix, int send_dtype, void *target,
                   int receive_dtype, void *handle, void *stream) {
    Communicator *communicator = handle;
    uint32_t n = communicator->size, rank = communicator->rank;
    uint64_t send_counts[n], send_starts[n], receive_counts[n], receive_starts[n], sent = 0, received = 0;
    for (uint32_t i = 0; i < n; i++) {
        send_starts[i] = sent;
        receive_starts[i] = received;
        sent += send_counts[i] = matrix[rank * n + i];
        received += receive_counts[i] = matrix[i * n + rank];
    }
    return HcclAlltoAllV(source, send_counts, send_starts, send_dtype, target, receive_counts, receive_starts,
                         receive_dtype, communicator, stream);
}

int HcclBarrier(void *handle, void *stream) {
    Communicator *communicator = handle;
    Operation *operation = operation_new(communicator, "barrier", communicator->size);
    FOR_OTHERS(communicator, peer) {
        operation_send(operation, peer, NULL, 0);
        operation_receive(operation, peer, NULL, 0);
    }
    return operation_issue(operation, stream);
}

/* ---- reductions ---- */

int HcclAllReduce(void *source, void *target, uint64_t count, int dtype, int reduction, void *communicator,
                  void *stream) {
    Operation *operation =
        begin_reduction(communicator, "all_reduce", dtype, reduction, source, target, count);
    if (!operation)
        return hccl_refused("all_reduce of this dtype with this reduction");
    size_t bytes = hccl_bytes(count, dtype);
    FOR_OTHERS(operation->communicator, peer) {
        operation_send(operation, peer, source, bytes);
        operation_receive(operation, peer, NULL, bytes);
    }
    return operation_issue(operation, stream);
}

int HcclReduce(void *source, void *target, uint64_t count, int dtype, int reduction, uint32_t root,
               void *handle, void *stream) {
    Communicator *communicator = handle;
    if (!communicator_has(communicator, root))
        return H_PARAMETER;
    Operation *operation = begin_reduction(communicator, "reduce", dtype, reduction, source, NULL, count);
    if (!operation)
        return hccl_refused("reduce of this dtype with this reduction");
    size_t bytes = hccl_bytes(count, dtype);
    if (communicator->rank != root) {
        operation_send(operation, root, source, bytes);
    } else {
        set_result(operation, target);
        FOR_OTHERS(communicator, peer) operation_receive(operation, peer, NULL, bytes);
    }
    return operation_issue(operation, stream);
}

static int reduce_scatter(void *source, const uint64_t *counts, const uint64_t *starts, void *target,
                          uint64_t count, int dtype, int reduction, void *handle, void *stream) {
    Communicator *communicator = handle;
    const char *own = (char *)source + hccl_bytes(starts[communicator->rank], dtype);
    Operation *operation =
        begin_reduction(communicator, "reduce_scatter", dtype, reduction, own, target, count);
    if (!operation)
        return hccl_refused("reduce_scatter of this dtype with this reduction");
    FOR_OTHERS(communicator, peer) {
        operation_send(operation, peer, (char *)source + hccl_bytes(starts[peer], dtype),
                       hccl_bytes(counts[peer], dtype));
        operation_receive(operation, peer, NULL, hccl_bytes(count, dtype));
    }
    return operation_issue(operation, stream);
}

int HcclReduceScatterV(void *source, const uint64_t *counts, const uint64_t *starts, void *target,
                       uint64_t count, int dtype, int reduction, void *communicator, void *stream) {
    if (!hccl_reducible_unevenly(reduction, dtype)) {
        /* The call's own error is lost in torch_npu, and the result would be what was there before. */
        Operation *operation = operation_new(communicator, "reduce_scatter", 0);
        operation->refused = "reduce_scatter of uneven parts of this dtype with this reduction";
        return operation_issue(operation, stream);
    }
    return reduce_scatter(source, counts, starts, target, count, dtype, reduction, communicator, stream);
}

int HcclReduceScatter(void *source, void *target, uint64_t count, int dtype, int reduction,
                      void *communicator, void *stream) {
    uint32_t n = ((Communicator *)communicator)->size;
    uint64_t counts[n], starts[n];
    equal_parts(n, count, counts, starts);
    return reduce_scatter(source, counts, starts, target, count, dtype, reduction, communicator, stream);
}

/* ---- not simulated ---- */

#define UNKNOWN_TO_HCCL(name) \
    int name(void) {          \
        unsupported(#name);   \
        return H_UNSUPPORTED; \
    }
UNKNOWN_TO_HCCL(HcclCommActivateCommMemory)
UNKNOWN_TO_HCCL(HcclCommDeactivateCommMemory)
UNKNOWN_TO_HCCL(HcclCommDeregister)
UNKNOWN_TO_HCCL(HcclCommExchangeMem)
UNKNOWN_TO_HCCL(HcclCommInitClusterInfo)
UNKNOWN_TO_HCCL(HcclCommInitClusterInfoConfig)
UNKNOWN_TO_HCCL(HcclCommRegister)
UNKNOWN_TO_HCCL(HcclCommResume)
UNKNOWN_TO_HCCL(HcclCommSetMemoryRange)
UNKNOWN_TO_HCCL(HcclCommUnsetMemoryRange)
UNKNOWN_TO_HCCL(HcclCommWorkingDevNicSet)
