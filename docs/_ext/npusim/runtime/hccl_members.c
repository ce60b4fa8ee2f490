/* The members of a communicator, as files of its folder in shared memory.
 *
 * Member r is the file m<r>, "<pid> <leaving>". The last one out removes the folder; what killed ranks leave is
 * swept when their launcher ends, or by the next program that makes a communicator. */
#include "hccl.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { ABANDONED_SECONDS = 120 }; /* age of a folder that nobody ever joined */

/* A zombie counts as gone. */
static int runs(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *after_name = strrchr(text, ')');
    return after_name && after_name[2] != 'Z' && after_name[2] != 'X';
}

static int member_state(const char *folder, uint32_t rank) {
    char path[300], text[64];
    int pid, leaving;
    snprintf(path, sizeof path, "%s/m%u", folder, rank);
    int file = open(path, O_RDONLY);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return -1;
    text[length] = 0;
    if (sscanf(text, "%d %d", &pid, &leaving) != 2)
        return -1;
    return leaving || !runs(pid);
}

int communicator_member(const Communicator *communicator, uint32_t rank) {
    return member_state(communicator->folder, rank);
}

int communicator_has(const Communicator *communicator, uint32_t rank) {
    if (rank < communicator->size)
        return 1;
    fail(BAD_PARAMETER, "npusim: no rank %u in communicator %s, which has %u", rank, communicator->name,
         communicator->size);
    return 0;
}

int communicator_is_last(const Communicator *communicator) {
    for (uint32_t rank = 0; rank < communicator->size; rank++)
        if (rank != communicator->rank && communicator_member(communicator, rank) == 0)
            return 0;
    return 1;
}

int communicator_announce(const Communicator *communicator, int leaving) {
    char path[300], temporary[300], text[64];
    snprintf(path, sizeof path, "%s/m%u", communicator->folder, communicator->rank);
    snprintf(temporary, sizeof temporary, "%s/n%u", communicator->folder, communicator->rank);
    int length = snprintf(text, sizeof text, "%d %d\n", getpid(), leaving);
    int file = open(temporary, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0)
        return -1;
    int written = write(file, text, length) == length;
    close(file);
    return written ? rename(temporary, path) : -1;
}

static void remove_folder(const char *folder) {
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(folder);
}

void communicator_remove(const Communicator *communicator) { remove_folder(communicator->folder); }

static int is_abandoned(const char *folder) {
    struct stat status;
    if (stat(folder, &status))
        return 0;
    DIR *directory = opendir(folder);
    if (!directory)
        return 0;
    int members = 0, present = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] == 'm') {
            members++;
            present += member_state(folder, atoi(entry->d_name + 1)) == 0;
        }
    closedir(directory);
    return !present && (members || time(NULL) - status.st_mtime > ABANDONED_SECONDS);
}

void communicators_sweep(void) {
    DIR *directory = opendir(settings.shm);
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        char folder[512];
        if (strncmp(entry->d_name, HCCL_PREFIX, strlen(HCCL_PREFIX)))
            continue;
        snprintf(folder, sizeof folder, "%s/%s", settings.shm, entry->d_name);
        if (is_abandoned(folder))
            remove_folder(folder);
    }
    closedir(directory);
}
