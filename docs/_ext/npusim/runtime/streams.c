/* Streams as queues: issue, run, wait, deliver. See npusim.h for the model. */
#include "npusim.h"

#include <errno.h>

pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t state_changed;
Stream *all_streams;
static Stream *default_streams[MAX_DEVICES];
static int stream_count;

Stream *stream_new(int device) {
    Stream *stream = calloc(1, sizeof *stream);
    stream->device = device;
    stream->id = ++stream_count;
    stream->next = all_streams;
    all_streams = stream;
    return stream;
}

/* NULL is the current device's default stream. */
Stream *stream_of(void *handle) {
    if (handle)
        return handle;
    if (!default_streams[current_device])
        default_streams[current_device] = stream_new(current_device);
    return default_streams[current_device];
}

void mark_release(Mark *mark) {
    if (mark && --mark->references == 0)
        free(mark);
}

double deadline_after(int32_t ms) { return ms < 0 ? -1 : now_ms() + ms; }

/* 0 if the deadline passed. */
int wait_for_change(double deadline) {
    if (deadline < 0) {
        pthread_cond_wait(&state_changed, &state_lock);
        return 1;
    }
    struct timespec time = {deadline / 1e3, (long)(deadline * 1e6) % 1000000000L};
    return pthread_cond_timedwait(&state_changed, &state_lock, &time) != ETIMEDOUT;
}

static void run_record(Stream *stream, Mark *mark) {
    mark->error = stream->error;
    mark->ms = now_ms();
    mark->done = 1;
    mark_release(mark);
}

static void run_wait(Stream *stream, Task *task) {
    Mark *mark = task->mark;
    while (!mark->done && !stopping)
        wait_for_change(-1);
    if (mark->error && !stream->error)
        stream->error = mark->error;
    late_wait(stream, task);
    mark_release(mark);
}

static void run_copy(Stream *stream, Task *task) {
    if (stream->error)
        return;
    if (task->late)
        late_copy(stream, task);
    else
        memcpy(task->target, task->source, task->bytes);
}

/* Operations and callbacks wait for others: run them without the lock. */
static void run_unlocked(Stream *stream, Task *task) {
    Error error = OK;
    if (!stream->error && !stopping) {
        pthread_mutex_unlock(&state_lock);
        if (task->kind == COMM)
            error = operation_run(task->operation);
        else
            task->call(task->argument);
        pthread_mutex_lock(&state_lock);
    }
    if (error)
        stream->error = error;
    else if (task->operation && settings.async && !stream->error && !stopping)
        operation_delay(task->operation, stream, task->sequence);
    if (task->operation)
        operation_free(task->operation);
}

/* Copies from the host need not see those before them: they arrive in order, together. */
static int sees_late_copies(const Task *task) {
    return task->kind != RECORD && task->kind != WAIT && task->late != TO_DEVICE;
}

static void run(Stream *stream, Task *task) {
    if (sees_late_copies(task))
        stream_deliver_to_device(stream, task->sequence - 1);
    switch (task->kind) {
    case RECORD:
        run_record(stream, task->mark);
        break;
    case WAIT:
        run_wait(stream, task);
        break;
    case COPY:
        run_copy(stream, task);
        break;
    case KERNEL:
        task->call(task->argument);
        break;
    case COMM:
    case HOST:
        run_unlocked(stream, task);
    }
}

static void after_task(Stream *stream, uint64_t sequence) {
    stream->finished = sequence;
    atomic_store(&stream->busy, stream->head != NULL || stream->error != OK);
    pthread_cond_broadcast(&state_changed);
}

static void *worker(void *argument) {
    Stream *stream = argument;
    pthread_mutex_lock(&state_lock);
    for (;;) {
        Task *task;
        while (!(task = stream->head) && !stream->destroyed)
            wait_for_change(-1);
        if (!task)
            break;
        run(stream, task); /* it stays at the head meanwhile, so that the stream is busy */
        stream->head = task->next;
        if (!stream->head)
            stream->tail = NULL;
        after_task(stream, task->sequence);
        free(task);
    }
    pthread_mutex_unlock(&state_lock);
    return NULL;
}

static int runs_at_once(const Stream *stream, const Task *task) {
    if (stream->head || task->kind == COMM || task->kind == HOST)
        return 0;
    return task->kind != WAIT || task->mark->done;
}

Error stream_issue(Stream *stream, Task task) {
    static const char *const names[] = {"comm", "record", "wait", "copy", "kernel", "host"};
    task.sequence = ++stream->issued;
    task.next = NULL;
    TRACE("stream %d.%d: %s%s", stream->device, stream->id, names[task.kind], stream->head ? ", queued" : "");
    if (runs_at_once(stream, &task)) {
        run(stream, &task);
        after_task(stream, task.sequence);
        return OK;
    }
    if (!stream->has_worker) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, stream))
            return fail(OUT_OF_MEMORY, "npusim: no thread for a stream");
        pthread_detach(thread);
        stream->has_worker = 1;
    }
    Task *queued = malloc(sizeof *queued);
    *queued = task;
    if (stream->tail)
        stream->tail->next = queued;
    else
        stream->head = queued;
    stream->tail = queued;
    atomic_store(&stream->busy, 1);
    pthread_cond_broadcast(&state_changed);
    return OK;
}

/* Wait until all that was issued so far is done. */
Error stream_finish(Stream *stream, double deadline) {
    uint64_t target = stream->issued;
    while (stream->finished < target && !stopping)
        if (!wait_for_change(deadline) && stream->finished < target)
            return fail(STREAM_TIMEOUT, "npusim: stream synchronisation timed out");
    return stream->error;
}

/* CANN documents that a copy from or to host memory that is not pinned is done when it returns. */
Error copy_on_stream(void *target, const void *source, size_t bytes, void *handle) {
    REQUIRE_ALIVE();
    int to = memory_owner(target), from = memory_owner(source);
    Task copy = {.kind = COPY, .target = target, .source = source, .bytes = bytes};
    if (settings.async && bytes)
        copy.late = to == PINNED && from >= 0 ? TO_HOST : to >= 0 && from == PINNED ? TO_DEVICE : AT_ONCE;
    pthread_mutex_lock(&state_lock);
    Stream *stream = stream_of(handle);
    Error error = stream_issue(stream, copy);
    if (!error && (to == UNKNOWN || from == UNKNOWN))
        error = stream_finish(stream, -1);
    pthread_mutex_unlock(&state_lock);
    return error;
}

/* ---- for the kernels ---- */

/* Block until the work is done that this stream's next kernel depends on. */
Error npusim_settle(void *handle) {
    if (handle && !atomic_load(&((Stream *)handle)->busy) && !atomic_load(&late_to_device))
        return OK;
    REQUIRE_ALIVE();
    pthread_mutex_lock(&state_lock);
    Stream *stream = stream_of(handle);
    Error error = stream_finish(stream, -1);
    stream_deliver_to_device(stream, stream->issued);
    pthread_mutex_unlock(&state_lock);
    return error;
}

/* The host waits for the stream. */
Error npusim_synchronise(void *handle) {
    REQUIRE_ALIVE();
    pthread_mutex_lock(&state_lock);
    Stream *stream = stream_of(handle);
    Error error = stream_finish(stream, -1);
    if (!error)
        stream_deliver(stream, stream->issued);
    pthread_mutex_unlock(&state_lock);
    return error;
}

/* A copy of the kernels between pinned memory and a device; the one to the host comes from a staged copy. */
Error npusim_copy_late(void *target, const void *source, size_t bytes, int to_host, void *stream) {
    REQUIRE_ALIVE();
    Task copy = {.kind = COPY, .target = target, .source = source, .bytes = bytes};
    copy.late = to_host ? TO_HOST : TO_DEVICE;
    return LOCKED(stream_issue(stream_of(stream), copy));
}
