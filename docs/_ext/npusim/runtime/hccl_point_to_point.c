/* Send, receive, and groups of them, which run as one operation. */
#include "hccl.h"

/* What was issued between HcclGroupStart and HcclGroupEnd. */
typedef struct Deferred {
    Operation *operation;
    void *stream;
} Deferred;

static _Thread_local int group_depth, grouped, group_room;
static _Thread_local Deferred *group;

int operation_defer(Operation *operation, void *stream) {
    if (!group_depth)
        return 0;
    if (grouped == group_room) {
        group_room = 2 * group_room + 16;
        group = realloc(group, group_room * sizeof *group);
    }
    group[grouped++] = (Deferred){operation, stream};
    return 1;
}

int HcclGroupStart(void) {
    group_depth++;
    return H_OK;
}

static int same_queue(int i, int j) {
    return group[j].operation && group[j].stream == group[i].stream &&
           group[j].operation->communicator == group[i].operation->communicator;
}

/* One operation of all those in the group that share stream and communicator with the one at `first`. */
static Operation *merge_from(int first) {
    int capacity = 0;
    for (int i = first; i < grouped; i++)
        if (same_queue(first, i))
            capacity += group[i].operation->sends + group[i].operation->receives;
    Operation *merged = operation_new(group[first].operation->communicator, "group", capacity);
    merged->point_to_point = 1;
    for (int i = grouped - 1; i >= first; i--) /* `first` last: same_queue reads it */
        if (same_queue(first, i)) {
            Operation *part = group[i].operation;
            for (int k = 0; k < part->sends; k++)
                merged->send[merged->sends++] = part->send[k];
            for (int k = 0; k < part->receives; k++)
                merged->receive[merged->receives++] = part->receive[k];
            group[i].operation = NULL;
            free(part);
        }
    return merged;
}

int HcclGroupEnd(void) {
    if (!group_depth || --group_depth)
        return H_OK;
    int result = H_OK;
    for (int i = 0; i < grouped; i++)
        if (group[i].operation) {
            int error = operation_issue(merge_from(i), group[i].stream);
            result = error ? error : result;
        }
    grouped = 0;
    return result;
}

int HcclSend(void *data, uint64_t count, int dtype, uint32_t peer, void *communicator, void *stream) {
    if (!communicator_has(communicator, peer))
        return H_PARAMETER;
    Operation *operation = operation_begin(communicator, "send", dtype);
    if (!operation)
        return hccl_refused("send of this dtype");
    operation->point_to_point = 1;
    operation_send(operation, peer, data, hccl_bytes(count, dtype));
    return operation_issue(operation, stream);
}

int HcclRecv(void *data, uint64_t count, int dtype, uint32_t peer, void *communicator, void *stream) {
    if (!communicator_has(communicator, peer))
        return H_PARAMETER;
    Operation *operation = operation_begin(communicator, "recv", dtype);
    if (!operation)
        return hccl_refused("recv of this dtype");
    operation->point_to_point = 1;
    operation_receive(operation, peer, data, hccl_bytes(count, dtype));
    return operation_issue(operation, stream);
}

typedef struct Item { /* HcclSendRecvItem */
    int type;
    void *data;
    uint64_t count;
    int dtype;
    uint32_t peer;
} Item;

int HcclBatchSendRecv(const Item *items, uint32_t n, void *communicator, void *stream) {
    enum { SEND };
    Operation *operation = operation_new(communicator, "batch_send_recv", n);
    operation->point_to_point = 1;
    for (const Item *item = items; item < items + n; item++) {
        size_t bytes = hccl_bytes(item->count, item->dtype);
        if (item->type == SEND)
            operation_send(operation, item->peer, item->data, bytes);
        else
            operation_receive(operation, item->peer, item->data, bytes);
    }
    return operation_issue(operation, stream);
}
