/* aclrtMemcpy* and aclrtMemset*. */
#include "npusim.h"

enum { COPY_BY_ADDRESS = 4 }; /* aclrtMemcpyKind */

static Error check_room(size_t bytes, size_t room) {
    return bytes > room ? fail(BAD_PARAMETER, "npusim: a copy of %zu bytes into %zu", bytes, room) : OK;
}

Error aclrtMemcpy(void *target, size_t room, const void *source, size_t bytes, int kind) {
    REQUIRE_ALIVE();
    Error error = check_room(bytes, room);
    if (error)
        return error;
    count_copy(kind, target, source, bytes);
    memcpy(target, source, bytes);
    return OK;
}

Error aclrtMemcpyAsync(void *target, size_t room, const void *source, size_t bytes, int kind, void *stream) {
    Error error = check_room(bytes, room);
    if (error)
        return error;
    count_copy(kind, target, source, bytes);
    return copy_on_stream(target, source, bytes, stream);
}

Error aclrtMemset(void *target, size_t room, int value, size_t bytes) {
    REQUIRE_ALIVE();
    Error error = check_room(bytes, room);
    if (!error)
        memset(target, value, bytes);
    return error;
}

Error npusim_settle(void *stream);

Error aclrtMemsetAsync(void *target, size_t room, int value, size_t bytes, void *stream) {
    Error error = npusim_settle(stream);
    return error ? error : aclrtMemset(target, room, value, bytes);
}

Error aclrtMemcpyBatch(void **targets, size_t *rooms, void **sources, size_t *bytes, size_t n,
                       void *attributes, size_t *attribute_of, size_t attribute_count, size_t *failed) {
    Error error = OK;
    for (size_t i = 0; i < n && !error; i++) {
        error = aclrtMemcpy(targets[i], rooms[i], sources[i], bytes[i], COPY_BY_ADDRESS);
        if (error && failed)
            *failed = i;
    }
    return error;
}

Error aclrtMemcpyBatchAsync(void **targets, size_t *rooms, void **sources, size_t *bytes, size_t n,
                            void *attributes, size_t *attribute_of, size_t attribute_count, size_t *failed,
                            void *stream) {
    Error error = OK;
    for (size_t i = 0; i < n && !error; i++) {
        error = aclrtMemcpyAsync(targets[i], rooms[i], sources[i], bytes[i], COPY_BY_ADDRESS, stream);
        if (error && failed)
            *failed = i;
    }
    return error;
}
