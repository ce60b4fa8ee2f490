/* Communicators: a folder in shared memory, in which each member announces itself and finds the messages for
 * it. */
#include "hccl.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

enum { ROOT_INFO_BYTES = 4108 }; /* HcclRootInfo */
enum { NAME_IN_CONFIG = 32 };    /* offset of hcclCommName in HcclCommConfig */
enum { EXIT_GRACE_MS = 5000 };   /* how long a process that ends waits for its messages to be taken */

Communicator *communicators;

/* ---- joining ---- */

static Communicator *communicator_new(const char *id, const char *name, uint32_t size, uint32_t rank) {
    Communicator *communicator = calloc(1, sizeof *communicator);
    snprintf(communicator->folder, sizeof communicator->folder, "%s/%s", settings.shm, id);
    snprintf(communicator->name, sizeof communicator->name, "%s", name && *name ? name : id);
    communicator->size = size;
    communicator->rank = rank;
    communicator->owner = getpid();
    communicator->sent = calloc(size, sizeof *communicator->sent);
    communicator->received = calloc(size, sizeof *communicator->received);
    return communicator;
}

static void communicator_free(Communicator *communicator) {
    free(communicator->sent);
    free(communicator->received);
    free(communicator);
}

static int give_up_joining(Communicator *communicator, uint32_t missing) {
    char path[300];
    snprintf(path, sizeof path, "%s/m%u", communicator->folder, communicator->rank);
    unlink(path);
    rmdir(communicator->folder);
    fail(COMMUNICATION, "npusim: rank %u did not join communicator %s within %g s (NPUSIM_TIMEOUT)", missing,
         communicator->name, settings.limit_ms / 1e3);
    fprintf(stderr, "[npusim] %s\n", last_message);
    communicator_free(communicator);
    return H_TIMEOUT;
}

static int join(const char *id, const char *name, uint32_t size, uint32_t rank, int wait, void **result) {
    if (forked) {
        refuse_after_fork();
        return H_INTERNAL;
    }
    Communicator *communicator = communicator_new(id, name, size, rank);
    double end = now_ms() + settings.limit_ms;
    mkdir(communicator->folder, 0700);
    if (communicator_announce(communicator, 0)) {
        fail(COMMUNICATION, "npusim: cannot write in %s: set NPUSIM_SHM to another folder",
             communicator->folder);
        communicator_free(communicator);
        return H_INTERNAL;
    }
    for (uint32_t other = 0; wait && other < size; other++)
        while (communicator_member(communicator, other) < 0) {
            if (now_ms() > end)
                return give_up_joining(communicator, other);
            usleep(200);
        }
    pthread_mutex_lock(&state_lock);
    communicator->next = communicators;
    communicators = communicator;
    pthread_mutex_unlock(&state_lock);
    TRACE("joined %s as %u of %u", communicator->name, rank, size);
    *result = communicator;
    return H_OK;
}

int HcclGetRootInfo(void *root_info) {
    static int made;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    communicators_sweep();
    memset(root_info, 0, ROOT_INFO_BYTES);
    snprintf(root_info, 64, HCCL_PREFIX "%d-%ld-%d", getpid(), time.tv_nsec, made++);
    return H_OK;
}

int HcclCommInitRootInfo(uint32_t size, const void *root_info, uint32_t rank, void **communicator) {
    return join(root_info, NULL, size, rank, 1, communicator);
}

int HcclCommInitRootInfoConfig(uint32_t size, const void *root_info, uint32_t rank, const char *config,
                               void **communicator) {
    return join(root_info, config ? config + NAME_IN_CONFIG : NULL, size, rank, 1, communicator);
}

/* All members in one process. */
int HcclCommInitAll(uint32_t size, int32_t *devices, void **members) {
    char root_info[ROOT_INFO_BYTES];
    HcclGetRootInfo(root_info);
    int result = H_OK;
    for (uint32_t rank = 0; rank < size && !result; rank++)
        result = join(root_info, NULL, size, rank, 0, &members[rank]);
    return result;
}

/* How many times this group of ranks was made from the parent: each one gets a folder of its own. */
static int times_made(Communicator *parent, uint64_t id) {
    int i = 0;
    while (i < parent->subgroups && parent->subgroup[i].id != id)
        i++;
    if (i == (int)(sizeof parent->subgroup / sizeof *parent->subgroup))
        return -1;
    if (i == parent->subgroups) {
        parent->subgroup[i].id = id;
        parent->subgroups++;
    }
    return parent->subgroup[i].count++;
}

int HcclCreateSubCommConfig(void **parent_handle, uint32_t size, uint32_t *ranks, uint64_t id, uint32_t rank,
                            const char *config, void **communicator) {
    Communicator *parent = *parent_handle;
    if (!ranks || !size) { /* this process is in no group */
        *communicator = NULL;
        return H_OK;
    }
    int made = times_made(parent, id);
    if (made < 0)
        return H_MEMORY;
    char name[180];
    snprintf(name, sizeof name, "%.100s-s%lx-%d", strrchr(parent->folder, '/') + 1, (unsigned long)id, made);
    return join(name, config ? config + NAME_IN_CONFIG : NULL, size, rank, 1, communicator);
}

/* ---- leaving ---- */

static int has_messages_on_their_way(const Communicator *communicator) {
    char mine[32];
    int length = snprintf(mine, sizeof mine, "%u.", communicator->rank), found = 0;
    DIR *directory = opendir(communicator->folder);
    if (!directory)
        return 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) && !found)
        found = !strncmp(entry->d_name, mine, length) &&
                communicator_member(communicator, atoi(entry->d_name + length)) == 0;
    closedir(directory);
    return found;
}

static void leave(Communicator *communicator, double grace_ms) {
    double end = now_ms() + grace_ms;
    communicator_announce(communicator, 1);
    while (has_messages_on_their_way(communicator) && now_ms() < end)
        usleep(1000);
    if (communicator_is_last(communicator))
        communicator_remove(communicator);
}

int HcclCommDestroy(void *handle) {
    Communicator *communicator = handle;
    if (!communicator || forked || communicator->owner != getpid())
        return H_OK;
    pthread_mutex_lock(&state_lock);
    while (communicator->pending > 0 && !stopping)
        wait_for_change(-1);
    Communicator **link = &communicators;
    while (*link && *link != communicator)
        link = &(*link)->next;
    if (*link)
        *link = communicator->next;
    pthread_mutex_unlock(&state_lock);
    leave(communicator, settings.limit_ms);
    communicator_free(communicator);
    return H_OK;
}

__attribute__((destructor)) static void stop(void) {
    if (forked)
        return;
    stopping = 1;
    pthread_cond_broadcast(&state_changed);
    for (Communicator *communicator = communicators; communicator; communicator = communicator->next)
        if (communicator->owner == getpid())
            leave(communicator, EXIT_GRACE_MS);
    communicators_sweep(); /* a launcher ends last: after ranks that were killed */
}

/* ---- questions ---- */

int HcclGetCommName(void *communicator, char *name) {
    strcpy(name, ((Communicator *)communicator)->name);
    return H_OK;
}

int HcclGetCommAsyncError(void *communicator, int *error) {
    *error = ((Communicator *)communicator)->error;
    return H_OK;
}

int HcclGetRankSize(void *communicator, uint32_t *size) {
    *size = ((Communicator *)communicator)->size;
    return H_OK;
}

int HcclGetRankId(void *communicator, uint32_t *rank) {
    *rank = ((Communicator *)communicator)->rank;
    return H_OK;
}

uint32_t HcclGetCommConfigCapability(void) { return 12; }

int HcclSetConfig(int what, int value) { return H_OK; }

const char *HcclGetErrorString(int result) {
    switch (result) {
    case H_OK:
        return "success";
    case H_PARAMETER:
        return "parameter error";
    case H_MEMORY:
        return "memory error";
    case H_INTERNAL:
        return "internal error";
    case H_UNSUPPORTED:
        return "not supported";
    case H_TIMEOUT:
        return "timeout";
    case H_REMOTE:
        return "remote error";
    default:
        return "unknown error";
    }
}
