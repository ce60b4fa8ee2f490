/* What the parts of HCCL share. */
#ifndef NPUSIM_HCCL_H
#define NPUSIM_HCCL_H

#include "npusim.h"

/* HcclResult */
enum {
    H_OK = 0,
    H_PARAMETER = 1,
    H_MEMORY = 3,
    H_INTERNAL = 4,
    H_UNSUPPORTED = 5,
    H_TIMEOUT = 9,
    H_REMOTE = 21
};

#pragma GCC visibility push(hidden)

#define HCCL_PREFIX "npusim-" /* of the folders in settings.shm */

typedef struct Communicator {
    struct Communicator *next;
    char folder[200], name[128];
    uint32_t size, rank;
    uint64_t *sent, *received; /* messages so far, by rank */
    pid_t owner;
    int error, pending, subgroups;
    struct {
        uint64_t id;
        int count;
    } subgroup[64];
} Communicator;

/* Written first to `staged`, which is `target` itself unless copies are late or there is no target: what is
 * read before its stream waits must never look right, not for a moment. */
typedef struct Output {
    char *target; /* NULL for a part of a reduction */
    size_t bytes;
    char *staged;
} Output;

typedef struct Outgoing {
    uint32_t peer;
    uint64_t sequence;
    const char *data;
    size_t bytes;
} Outgoing;

typedef struct Incoming {
    uint32_t peer;
    uint64_t sequence;
    Output output;
} Incoming;

/* An HCCL operation: messages out and in, then a local copy and a reduction of `own` with what was received.
 */
struct Operation {
    Communicator *communicator;
    const char *name;
    int point_to_point;
    int reduction, dtype; /* reduction < 0: none */
    int sends, receives;
    Outgoing *send;
    Incoming *receive;
    const char *local_source;
    Output local;
    const char *own;
    Output result;
    uint64_t count;      /* elements of the result */
    const char *refused; /* why it fails when it runs; NULL: it does not */
};

extern Communicator *communicators;

Operation *operation_new(Communicator *communicator, const char *name, int capacity);
Operation *operation_begin(Communicator *communicator, const char *name, int dtype); /* NULL: no such dtype */
void operation_send(Operation *operation, uint32_t peer, const void *data, size_t bytes);
void operation_receive(Operation *operation, uint32_t peer, void *data, size_t bytes);
int operation_issue(Operation *operation, void *stream);
int operation_defer(Operation *operation, void *stream); /* 1 if a group took it */

size_t hccl_bytes(uint64_t count, int dtype);
int hccl_dtype_known(int dtype);
int hccl_refused(const char *what);
int hccl_reducible(int reduction, int dtype);
int hccl_reducible_unevenly(int reduction, int dtype);
void hccl_reduce(const Operation *operation);

/* State of a member: -1 not there yet, 0 there, 1 left or dead. */
int communicator_member(const Communicator *communicator, uint32_t rank);
int communicator_has(const Communicator *communicator, uint32_t rank); /* with an error if not */
int communicator_is_last(const Communicator *communicator);
int communicator_announce(const Communicator *communicator, int leaving);
void communicator_remove(const Communicator *communicator);
void communicators_sweep(void);

#pragma GCC visibility pop
#endif
