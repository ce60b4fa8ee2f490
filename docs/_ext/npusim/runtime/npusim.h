/* The simulated Ascend runtime: what its parts share.
 *
 * Model. Device memory is host memory. A stream is a queue of tasks in order. Kernels are not tasks: they run
 * in the caller's thread after npusim_settle(stream), so an idle stream executes everything inline, and only
 * communication, or waiting for it, needs a worker thread.
 *
 *   COMM   an HCCL operation           RECORD  complete a mark (one recording of an event)
 *   WAIT   until a mark is complete    COPY    aclrtMemcpyAsync
 *   KERNEL a padding                   HOST    a host callback
 *
 * A failed task makes its stream's error stick; marks carry it to the streams that wait for them, and the
 * calls that synchronise return it.
 *
 * Unknown functions return an error, never 0: a kernel that does nothing, yet reports success, leaves
 * garbage.
 *
 * Environment: NPUSIM_DEVICES (2); NPUSIM_TIMEOUT, seconds that a communication may wait (60); NPUSIM_SHM,
 * folder for messages between processes (/dev/shm); NPUSIM_ASYNC=1, late copies;
 * NPUSIM_TRACE=1, a trace on stderr.
 *
 * Late copies. An asynchronous copy between pinned host memory and a device may happen at any time until
 * something waits for it. With NPUSIM_ASYNC=1 it happens as late as that allows, and its target holds poison
 * until then: a copy to the host when the host synchronises; a copy to a device, or what an HCCL operation
 * gives, when its stream, or one that waited for it, next does something other than such a copy. CANN copies
 * ordinary host memory before it returns. */
#ifndef NPUSIM_H
#define NPUSIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = NPUSIM_MAX_DEVICES };
#define MEMORY_BYTES ((size_t)32 << 30) /* of one 910B4 */

/* aclError, as far as torch_npu tells them apart */
typedef int Error;
enum {
    OK = 0,
    BAD_PARAMETER = 107000,
    BAD_DEVICE = 107001,
    BAD_CONTEXT = 107002,
    NOT_RECORDED = 107006,
    UNSUPPORTED = 207000, /* a mere warning at some call sites of torch_npu */
    OUT_OF_MEMORY = 207001,
    NO_DEVICE = 207004,
    NOT_COMPLETE = 507006,
    STREAM_TIMEOUT = 507046,
    EVENT_TIMEOUT = 507047,
    COMMUNICATION = 507048,
    REFUSED = 507899 /* an error at every call site */
};

/* All that follows is internal: the library exports the functions of the Ascend headers and npusim_*, no
 * more. */
#pragma GCC visibility push(hidden)

/* ---- process.c: settings, errors, fork ---- */
typedef struct Settings {
    int devices;
    int async;
    int trace;
    double limit_ms;
    const char *shm;
} Settings;

extern Settings settings;
extern _Thread_local int current_device;
extern atomic_int initialised, forked, stopping;
extern char last_message[1024];

#define TRACE(...)                   \
    do {                             \
        if (settings.trace)          \
            trace_line(__VA_ARGS__); \
    } while (0)

/* In a child forked after initialisation there are no worker threads: refuse everything, lock nothing. */
#define REQUIRE_ALIVE()                                          \
    do {                                                         \
        if (atomic_load_explicit(&forked, memory_order_relaxed)) \
            return refuse_after_fork();                          \
    } while (0)

void trace_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
Error fail(Error code, const char *format, ...) __attribute__((format(printf, 2, 3)));
Error refuse_after_fork(void);
Error unsupported(const char *function);
double now_ms(void);

/* ---- device.c ---- */
int device_exists(int device);

/* ---- counters.c ---- */
enum Counter { H2D, H2D_BYTES, D2H, D2H_BYTES, PEER, PEER_BYTES, SYNC, COUNTERS };

void count(enum Counter counter, uint64_t n);
void count_copy(int kind, const void *target, const void *source, size_t bytes);

/* ---- streams.c ---- */
typedef struct Stream Stream;
typedef struct Operation Operation;

/* One recording of an event. */
typedef struct Mark {
    int done, references;
    Error error;
    Stream *stream;
    uint64_t sequence; /* of its task in its stream */
    double ms;
} Mark;

typedef enum { COMM, RECORD, WAIT, COPY, KERNEL, HOST } Kind;

typedef struct Task {
    Kind kind;
    struct Task *next;
    uint64_t sequence;
    Mark *mark;           /* RECORD, WAIT */
    Operation *operation; /* COMM */
    void (*call)(void *); /* KERNEL, HOST */
    void *argument;       /* KERNEL, HOST */
    void *target;         /* COPY */
    const void *source;   /* COPY */
    size_t bytes;         /* COPY */
    enum { AT_ONCE, TO_HOST, TO_DEVICE } late; /* COPY */
} Task;

/* A late copy, or all that another stream owed up to a mark. */
typedef struct Late {
    struct Late *next;
    uint64_t sequence;
    Mark *mark;
    void *target;
    const void *source; /* to a device: read on delivery */
    void *staged;       /* what was there when the task ran; owned */
    size_t bytes;
} Late;

struct Stream {
    atomic_int
        busy; /* 0: the next task can run at once. The first member: npusim_settle reads it without lock. */
    int id, device, has_worker, destroyed;
    Error error;
    Task *head, *tail;
    Late *late;
    uint64_t issued, finished, arrived; /* sequence numbers; arrived: of late copies to devices */
    Stream *next;
};

/* One lock and one condition guard the state of all streams, events and communicators. */
extern pthread_mutex_t state_lock;
extern pthread_cond_t state_changed;
extern Stream *all_streams;

/* These want state_lock held. A deadline is in ms of now_ms(); a negative one is never. */
Stream *stream_new(int device);
Stream *stream_of(void *handle);
Error stream_issue(Stream *stream, Task task);
Error stream_finish(Stream *stream, double deadline);
void mark_release(Mark *mark);
int wait_for_change(double deadline);
double deadline_after(int32_t ms);

#define LOCKED(expression)                 \
    ({                                     \
        pthread_mutex_lock(&state_lock);   \
        Error locked_error = (expression); \
        pthread_mutex_unlock(&state_lock); \
        locked_error;                      \
    })

/* ---- late.c, with state_lock held ---- */
extern atomic_int late_to_device;

void late_copy(Stream *stream, const Task *task);
void late_wait(Stream *stream, const Task *task);
void late_result(Stream *stream, uint64_t sequence, char *target, char *staged, size_t bytes);
void stream_deliver(Stream *stream, uint64_t sequence);           /* up to a task, since the host waits */
void stream_deliver_to_device(Stream *stream, uint64_t sequence); /* what the device itself must see */

/* ---- streams.c; takes state_lock ---- */
Error copy_on_stream(void *target, const void *source, size_t bytes, void *stream);

/* ---- memory.c ---- */
enum { PINNED = -1, UNKNOWN = -2 };

#define MEMORY_FILE "npusim"

/* A block of a device's memory, as its process describes it to others. */
typedef struct Shared {
    int device, descriptor; /* of the file; -1: no such block */
    off_t in_file;
    size_t bytes;
} Shared;

int memory_owner(const void *address); /* a device, PINNED or UNKNOWN */
Shared memory_share(const void *address);
void *memory_import(Shared shared); /* to free with aclrtFree; NULL if it cannot be mapped */
size_t memory_taken(int device);

/* ---- hccl_operation.c, see hccl.h ---- */
Error operation_run(Operation *operation); /* on the stream's worker, without lock */
void operation_free(Operation *operation); /* with state_lock held */
void operation_delay(Operation *operation, Stream *stream, uint64_t sequence); /* likewise */

#pragma GCC visibility pop
#endif
