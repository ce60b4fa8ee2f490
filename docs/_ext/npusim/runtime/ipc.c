/* aclrtIpcMem*: device memory that other processes map.
 *
 * A key names the file of the memory by its process and descriptor, so that nothing stays behind when that
 * process ends. torch_npu keeps the memory until those who got it say, in shared memory of its own, that they
 * need it no more; and it synchronises before it shares, since it finds no events between processes here. */
#include "npusim.h"

#include <fcntl.h>

enum { KEY_BYTES = 65 }; /* kAclIpcHandleSize in torch_npu's NPUCachingAllocator.h */
#define KEY "npusim %d %d %lld %zu %d"

typedef struct Import {
    struct Import *next;
    char key[KEY_BYTES];
    void *address;
} Import;

static Import *imports;
static pthread_mutex_t imports_lock = PTHREAD_MUTEX_INITIALIZER;

Error aclrtIpcMemGetExportKey(void *address, size_t bytes, char *key, size_t room, uint64_t flags) {
    REQUIRE_ALIVE();
    Shared shared = memory_share(address);
    if (shared.descriptor < 0 || bytes > shared.bytes || room < KEY_BYTES)
        return fail(BAD_PARAMETER, "npusim: only whole blocks of device memory can be shared");
    memset(key, 0, room);
    snprintf(key, room, KEY, getpid(), shared.descriptor, (long long)shared.in_file, shared.bytes,
             shared.device);
    return OK;
}

/* Another process may have the number by now: look at what the descriptor is. */
static int open_memory(int process, int descriptor) {
    static const char expected[] = "/memfd:" MEMORY_FILE;
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
    ssize_t length = readlink(path, name, sizeof name - 1);
    return length < 0 || strncmp(name, expected, strlen(expected)) ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

Error aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags) {
    REQUIRE_ALIVE();
    int process;
    long long in_file;
    Shared shared;
    if (sscanf(key, KEY, &process, &shared.descriptor, &in_file, &shared.bytes, &shared.device) != 5 ||
        !device_exists(shared.device))
        return fail(BAD_PARAMETER, "npusim: not a key of memory shared by a simulated NPU");
    shared.in_file = in_file;
    shared.descriptor = open_memory(process, shared.descriptor);
    if (shared.descriptor < 0)
        return fail(BAD_PARAMETER, "npusim: cannot open the memory that process %d shared: has it ended?",
                    process);
    *address = memory_import(shared);
    close(shared.descriptor);
    if (!*address)
        return fail(OUT_OF_MEMORY, "npusim: cannot map the memory that process %d shared", process);
    Import *import = malloc(sizeof *import);
    *import = (Import){.address = *address};
    strncpy(import->key, key, KEY_BYTES - 1);
    pthread_mutex_lock(&imports_lock);
    import->next = imports;
    imports = import;
    pthread_mutex_unlock(&imports_lock);
    return OK;
}

Error aclrtFree(void *address);

/* For who imported, and for who exported: there it ends nothing. */
Error aclrtIpcMemClose(const char *key) {
    REQUIRE_ALIVE();
    pthread_mutex_lock(&imports_lock);
    Import **link = &imports;
    while (*link && strcmp((*link)->key, key))
        link = &(*link)->next;
    Import *import = *link;
    if (import)
        *link = import->next;
    pthread_mutex_unlock(&imports_lock);
    if (!import)
        return OK;
    Error error = aclrtFree(import->address);
    free(import);
    return error;
}
