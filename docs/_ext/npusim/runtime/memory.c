/* Device memory is host memory, accounted a device; pinned host memory likewise. */
#include "npusim.h"

enum { COPY_BY_ADDRESS = 4 }; /* aclrtMemcpyKind */
enum { ALIGNMENT = 512 };                       /* bytes, as aclrtMalloc promises */

typedef struct Block {
    struct Block *next;
    char *address;
    size_t bytes;
    int owner; /* a device or PINNED */
} Block;

/* A list is enough: torch_npu's caching allocator asks for few, large blocks. */
static Block *blocks;
static size_t taken[MAX_DEVICES];
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static Error allocate(void **address, size_t bytes, int owner) {
    REQUIRE_ALIVE();
    Error error = OK;
    pthread_mutex_lock(&memory_lock);
    if (owner >= 0 && bytes > MEMORY_BYTES - taken[owner]) {
        error = fail(OUT_OF_MEMORY, "npusim: device %d is out of memory", owner);
    } else if (posix_memalign(address, ALIGNMENT, bytes ? bytes : 1)) {
        error = fail(OUT_OF_MEMORY, "npusim: the host is out of memory");
    } else {
        Block *block = malloc(sizeof *block);
        *block = (Block){.next = blocks, .address = *address, .bytes = bytes, .owner = owner};
        blocks = block;
        if (owner >= 0)
            taken[owner] += bytes;
    }
    pthread_mutex_unlock(&memory_lock);
    return error;
}

static Error release(void *address) {
    REQUIRE_ALIVE();
    if (!address)
        return OK;
    pthread_mutex_lock(&memory_lock);
    Block **link = &blocks;
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    Block *block = *link;
    if (block) {
        *link = block->next;
        if (block->owner >= 0)
            taken[block->owner] -= block->bytes;
    }
    pthread_mutex_unlock(&memory_lock);
    if (!block)
        return fail(BAD_PARAMETER, "npusim: free of an unknown address");
    free(block->address);
    free(block);
    return OK;
}

int memory_owner(const void *address) {
    pthread_mutex_lock(&memory_lock);
    const Block *block = blocks;
    while (block && (uintptr_t)address - (uintptr_t)block->address >= (block->bytes ? block->bytes : 1))
        block = block->next;
    int owner = block ? block->owner : UNKNOWN;
    pthread_mutex_unlock(&memory_lock);
    return owner;
}

size_t memory_taken(int device) {
    pthread_mutex_lock(&memory_lock);
    size_t bytes = taken[device];
    pthread_mutex_unlock(&memory_lock);
    return bytes;
}

/* ---- allocation ---- */

Error aclrtMalloc(void **address, size_t bytes, int policy) {
    return allocate(address, bytes, current_device);
}

Error aclrtMallocAlign32(void **address, size_t bytes, int policy) {
    return allocate(address, bytes, current_device);
}

Error aclrtMallocHost(void **address, size_t bytes) { return allocate(address, bytes, PINNED); }

Error aclrtMallocHostWithCfg(void **address, uint64_t bytes, void *configuration) {
    return allocate(address, bytes, PINNED);
}

/* Work that is still queued may use the memory: wait for it, as the device does. */
static void finish_device(int device) {
    pthread_mutex_lock(&state_lock);
    for (Stream *stream = all_streams; stream; stream = stream->next)
        if (stream->device == device) {
            stream_finish(stream, -1);
            stream_deliver_to_device(stream, stream->issued);
        }
    pthread_mutex_unlock(&state_lock);
}

Error aclrtFree(void *address) {
    REQUIRE_ALIVE();
    int owner = memory_owner(address);
    if (owner >= 0)
        finish_device(owner);
    return release(address);
}

Error aclrtFreeHost(void *address) { return release(address); }

Error aclrtGetMemInfo(int attribute, size_t *available, size_t *total) {
    REQUIRE_ALIVE();
    *total = MEMORY_BYTES;
    *available = MEMORY_BYTES - memory_taken(current_device);
    return OK;
}

Error aclrtPointerGetAttributes(const void *address, void *result) {
    REQUIRE_ALIVE();
    enum { ON_HOST, ON_DEVICE, UNREGISTERED };
    struct Attributes { /* aclrtPtrAttributes */
        uint32_t id, location, page_bytes, reserved[4];
    } *attributes = result;
    int owner = memory_owner(address);
    *attributes = (struct Attributes){.page_bytes = 4096};
    attributes->location = owner == UNKNOWN ? UNREGISTERED : owner == PINNED ? ON_HOST : ON_DEVICE;
    if (owner >= 0)
        attributes->id = owner;
    return OK;
}

/* ---- copies ---- */

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
