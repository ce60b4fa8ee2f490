/* aclrt*Event*: an event points to the mark of its last recording. */
#include "npusim.h"

typedef struct Event {
    Mark *mark; /* NULL until recorded */
} Event;

enum { IPC_EVENT = 0x40 };                /* ACL_EVENT_IPC */
enum { EVENT_NOT_READY, EVENT_COMPLETE }; /* aclrtEventRecordedStatus; aclrtEventWaitStatus is its opposite */

Error aclrtCreateEventExWithFlag(void **event, uint32_t flag) {
    REQUIRE_ALIVE();
    if (flag & IPC_EVENT)
        return unsupported("an event shared between processes");
    *event = calloc(1, sizeof(Event));
    return OK;
}

Error aclrtCreateEventWithFlag(void **event, uint32_t flag) {
    return aclrtCreateEventExWithFlag(event, flag);
}

static Error forget(Event *event) {
    mark_release(event->mark);
    event->mark = NULL;
    return OK;
}

Error aclrtDestroyEvent(void *event) {
    REQUIRE_ALIVE();
    Error error = LOCKED(forget(event));
    free(event);
    return error;
}

Error aclrtResetEvent(void *event, void *stream) {
    REQUIRE_ALIVE();
    return LOCKED(forget(event));
}

static Error record(Event *event, Stream *stream) {
    mark_release(event->mark);
    event->mark = calloc(1, sizeof(Mark));
    *event->mark = (Mark){.references = 2, .stream = stream, .sequence = stream->issued + 1};
    return stream_issue(stream, (Task){.kind = RECORD, .mark = event->mark});
}

Error aclrtRecordEvent(void *event, void *stream) {
    REQUIRE_ALIVE();
    return LOCKED(record(event, stream_of(stream)));
}

/* Waits for the last recording made before this call; an event never recorded is no reason to wait. */
static Error wait_event(Stream *stream, Event *event) {
    if (!event->mark)
        return OK;
    event->mark->references++;
    return stream_issue(stream, (Task){.kind = WAIT, .mark = event->mark});
}

Error aclrtStreamWaitEvent(void *stream, void *event) {
    REQUIRE_ALIVE();
    return LOCKED(wait_event(stream_of(stream), event));
}

static Error synchronise_mark(Mark *mark, double deadline) {
    if (!mark)
        return OK;
    Error error = OK;
    mark->references++;
    while (!mark->done && !stopping && !error)
        if (!wait_for_change(deadline) && !mark->done)
            error = fail(EVENT_TIMEOUT, "npusim: event synchronisation timed out");
    if (!error)
        error = mark->error;
    if (!error)
        stream_deliver(mark->stream, mark->sequence);
    mark_release(mark);
    return error;
}

Error aclrtSynchronizeEventWithTimeout(void *event, int32_t ms) {
    REQUIRE_ALIVE();
    count(SYNC, 1);
    return LOCKED(synchronise_mark(((Event *)event)->mark, deadline_after(ms)));
}

Error aclrtSynchronizeEvent(void *event) { return aclrtSynchronizeEventWithTimeout(event, -1); }

static Error query_mark(Mark *mark, int *status) {
    *status = mark && mark->done ? EVENT_COMPLETE : EVENT_NOT_READY;
    if (*status == EVENT_NOT_READY)
        return OK;
    if (!mark->error && getpid() == gettid()) /* torch_npu's watchdog asks too, which tells the program nothing */
        stream_deliver(mark->stream, mark->sequence);
    return mark->error;
}

Error aclrtQueryEventStatus(void *event, int *status) {
    REQUIRE_ALIVE();
    return LOCKED(query_mark(((Event *)event)->mark, status));
}

Error aclrtQueryEventWaitStatus(void *event, int *status) {
    Error error = aclrtQueryEventStatus(event, status);
    *status = !*status;
    return error;
}

static Error mark_state(const Mark *mark) {
    if (!mark)
        return NOT_RECORDED;
    return mark->done ? OK : NOT_COMPLETE;
}

static Error elapsed(const Mark *first, const Mark *last, float *ms) {
    Error error = mark_state(first);
    if (!error)
        error = mark_state(last);
    if (!error)
        *ms = last->ms - first->ms;
    return error;
}

Error aclrtEventElapsedTime(float *ms, void *first, void *last) {
    REQUIRE_ALIVE();
    return LOCKED(elapsed(((Event *)first)->mark, ((Event *)last)->mark, ms));
}

static Error timestamp(const Mark *mark, uint64_t *us) {
    Error error = mark_state(mark);
    if (!error)
        *us = mark->ms * 1e3;
    return error;
}

Error aclrtEventGetTimestamp(void *event, uint64_t *us) {
    REQUIRE_ALIVE();
    return LOCKED(timestamp(((Event *)event)->mark, us));
}
