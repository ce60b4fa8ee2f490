/* Device memory is host memory, accounted a device; pinned host memory likewise. */
#include "npusim.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { ALIGNMENT = 512 }; /* bytes, as aclrtMalloc promises */

typedef struct Block {
    struct Block *next;
    char *address;
    size_t bytes;
    int owner;     /* a device or PINNED */
    int imported;  /* from another process, which has the account */
    off_t in_file; /* of a device's memory */
} Block;

/* A device's memory is a file without a name, so that other processes can map parts of it, see ipc.c. It grows,
 * and what is freed becomes a hole. */
static struct {
    int open, descriptor;
    off_t bytes;
} files[MAX_DEVICES];

/* A list is enough: torch_npu's caching allocator asks for few, large blocks. */
static Block *blocks;
static size_t taken[MAX_DEVICES];
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

/* No byte is a byte too: every address is another. */
static size_t at_least_one(size_t bytes) { return bytes ? bytes : 1; }

static void *map(size_t bytes, int descriptor, off_t in_file) {
    return mmap(NULL, at_least_one(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, in_file);
}

/* NULL if the host gives no more. */
static void *map_new(int device, size_t bytes, off_t *in_file) {
    if (!files[device].open) {
        files[device].descriptor = memfd_create(MEMORY_FILE, MFD_CLOEXEC);
        if (files[device].descriptor < 0)
            return NULL;
        files[device].open = 1;
    }
    size_t page = sysconf(_SC_PAGESIZE);
    *in_file = files[device].bytes;
    off_t end = *in_file + (at_least_one(bytes) + page - 1) / page * page;
    if (ftruncate(files[device].descriptor, end))
        return NULL;
    void *address = map(bytes, files[device].descriptor, *in_file);
    if (address == MAP_FAILED)
        return NULL;
    files[device].bytes = end;
    return address;
}

static void add_block(Block block) {
    Block *added = malloc(sizeof *added);
    *added = block;
    added->next = blocks;
    blocks = added;
}

static Error allocate(void **address, size_t bytes, int owner) {
    REQUIRE_ALIVE();
    Error error = OK;
    off_t in_file = 0;
    pthread_mutex_lock(&memory_lock);
    if (owner >= 0 && bytes > MEMORY_BYTES - taken[owner]) {
        error = fail(OUT_OF_MEMORY, "npusim: device %d is out of memory", owner);
    } else if (owner >= 0 ? !(*address = map_new(owner, bytes, &in_file))
                          : posix_memalign(address, ALIGNMENT, at_least_one(bytes))) {
        error = fail(OUT_OF_MEMORY, "npusim: the host is out of memory");
    } else {
        add_block((Block){.address = *address, .bytes = bytes, .owner = owner, .in_file = in_file});
        if (owner >= 0)
            taken[owner] += bytes;
    }
    pthread_mutex_unlock(&memory_lock);
    return error;
}

static void give_back(const Block *block) {
    if (block->owner == PINNED) {
        free(block->address);
        return;
    }
    size_t bytes = at_least_one(block->bytes);
    munmap(block->address, bytes);
    if (!block->imported)
        fallocate(files[block->owner].descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, block->in_file,
                  bytes);
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
        if (block->owner >= 0 && !block->imported)
            taken[block->owner] -= block->bytes;
    }
    pthread_mutex_unlock(&memory_lock);
    if (!block)
        return fail(BAD_PARAMETER, "npusim: free of an unknown address");
    give_back(block);
    free(block);
    return OK;
}

/* ---- for other processes, see ipc.c ---- */

Shared memory_share(const void *address) {
    Shared shared = {.descriptor = -1};
    pthread_mutex_lock(&memory_lock);
    for (const Block *block = blocks; block; block = block->next)
        if (block->address == address && block->owner >= 0 && !block->imported)
            shared = (Shared){block->owner, files[block->owner].descriptor, block->in_file, block->bytes};
    pthread_mutex_unlock(&memory_lock);
    return shared;
}

void *memory_import(Shared shared) {
    void *address = map(shared.bytes, shared.descriptor, shared.in_file);
    if (address == MAP_FAILED)
        return NULL;
    pthread_mutex_lock(&memory_lock);
    add_block((Block){.address = address, .bytes = shared.bytes, .owner = shared.device, .imported = 1});
    pthread_mutex_unlock(&memory_lock);
    return address;
}

int memory_owner(const void *address) {
    pthread_mutex_lock(&memory_lock);
    const Block *block = blocks;
    while (block && (uintptr_t)address - (uintptr_t)block->address >= at_least_one(block->bytes))
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
