/* aclrt*Stream* and callbacks: the runtime's door to streams.c. */
#include "npusim.h"

enum { STREAM_COMPLETE, STREAM_NOT_READY }; /* aclrtStreamStatus */

/* ---- streams ---- */

Error aclrtCreateStream(void **stream) {
    REQUIRE_ALIVE();
    return LOCKED((*stream = stream_new(current_device), OK));
}

Error aclrtCreateStreamWithConfig(void **stream, uint32_t priority, uint32_t flag) {
    return aclrtCreateStream(stream);
}

Error aclrtStreamGetId(void *stream, int32_t *id) {
    REQUIRE_ALIVE();
    return LOCKED((*id = stream_of(stream)->id, OK));
}

static Error synchronise_stream(void *handle, int32_t ms) {
    REQUIRE_ALIVE();
    pthread_mutex_lock(&state_lock);
    Stream *stream = stream_of(handle);
    uint64_t sequence = stream->issued;
    Error error = stream_finish(stream, deadline_after(ms));
    if (!error)
        stream_deliver(stream, sequence);
    pthread_mutex_unlock(&state_lock);
    return error;
}

Error aclrtSynchronizeStreamWithTimeout(void *stream, int32_t ms) {
    count(SYNC, 1);
    return synchronise_stream(stream, ms);
}

Error aclrtSynchronizeStream(void *stream) { return aclrtSynchronizeStreamWithTimeout(stream, -1); }

Error aclrtSynchronizeDeviceWithTimeout(int32_t ms) {
    REQUIRE_ALIVE();
    count(SYNC, 1);
    Error first = OK;
    double deadline = deadline_after(ms);
    pthread_mutex_lock(&state_lock);
    for (Stream *stream = all_streams; stream; stream = stream->next) {
        if (stream->device != current_device || stream->destroyed)
            continue;
        Error error = stream_finish(stream, deadline);
        if (!error)
            stream_deliver(stream, stream->finished);
        else if (!first)
            first = error;
    }
    pthread_mutex_unlock(&state_lock);
    return first;
}

Error aclrtSynchronizeDevice(void) { return aclrtSynchronizeDeviceWithTimeout(-1); }

Error aclrtStreamQuery(void *handle, int *status) {
    REQUIRE_ALIVE();
    Error error = OK;
    pthread_mutex_lock(&state_lock);
    Stream *stream = stream_of(handle);
    *status = stream->head ? STREAM_NOT_READY : STREAM_COMPLETE;
    if (*status == STREAM_COMPLETE) {
        stream_deliver(stream, stream->finished);
        error = stream->error;
    }
    pthread_mutex_unlock(&state_lock);
    return error;
}

/* Its worker ends; the struct stays, a small leak, so that no mark ever points to a freed stream. */
Error aclrtDestroyStreamForce(void *stream) {
    REQUIRE_ALIVE();
    pthread_mutex_lock(&state_lock);
    ((Stream *)stream)->destroyed = 1;
    pthread_cond_broadcast(&state_changed);
    pthread_mutex_unlock(&state_lock);
    return OK;
}

Error aclrtDestroyStream(void *stream) {
    Error error = synchronise_stream(stream, -1);
    aclrtDestroyStreamForce(stream);
    return error;
}

/* ---- callbacks ---- */

Error aclrtLaunchHostFunc(void *stream, void (*function)(void *), void *argument) {
    REQUIRE_ALIVE();
    return LOCKED(
        stream_issue(stream_of(stream), (Task){.kind = HOST, .call = function, .argument = argument}));
}

Error aclrtLaunchCallback(void (*function)(void *), void *argument, int block, void *stream) {
    return aclrtLaunchHostFunc(stream, function, argument);
}

/* torch_npu's callback thread polls this; callbacks run on their stream's worker instead. */
Error aclrtProcessReport(int32_t ms) {
    if (ms > 0)
        usleep(ms > 100 ? 100000 : ms * 1000);
    return OK;
}
