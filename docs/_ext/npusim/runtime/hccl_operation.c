/* HCCL operations as lists of messages: issue on a stream, push, pull, reduce.
 *
 * Sequence numbers are given out when an operation is issued, so that matching does not depend on the timing
 * of threads. As HCCL documents, send and receive of a communicator are strictly ordered and synchronise both
 * ends: a send is done when its receiver has taken the message. Two ranks that both receive before they send
 * therefore wait for each other, on hardware for ever and here until NPUSIM_TIMEOUT. */
#include "hccl.h"

#include <errno.h>
#include <fcntl.h>

typedef struct Header {
    char name[24];
    uint64_t bytes;
} Header;

enum { FIRST_POLLS = 200, SHORT_US = 30, LONG_US = 500, POLLS_PER_LIFE_CHECK = 64 };

static void pause_between_polls(int poll) { usleep(poll < FIRST_POLLS ? SHORT_US : LONG_US); }

/* ---- making and issuing ---- */

Operation *operation_new(Communicator *communicator, const char *name, int capacity) {
    Operation *operation = calloc(1, sizeof *operation + capacity * (sizeof(Outgoing) + sizeof(Incoming)));
    operation->communicator = communicator;
    operation->name = name;
    operation->reduction = -1;
    operation->receive = (Incoming *)(operation + 1);
    operation->send = (Outgoing *)(operation->receive + capacity);
    return operation;
}

/* One message in and out a peer. */
Operation *operation_begin(Communicator *communicator, const char *name, int dtype) {
    return hccl_dtype_known(dtype) ? operation_new(communicator, name, communicator->size) : NULL;
}

void operation_send(Operation *operation, uint32_t peer, const void *data, size_t bytes) {
    uint64_t sequence = __atomic_fetch_add(&operation->communicator->sent[peer], 1, __ATOMIC_RELAXED);
    operation->send[operation->sends++] = (Outgoing){peer, sequence, data, bytes};
}

void operation_receive(Operation *operation, uint32_t peer, void *data, size_t bytes) {
    uint64_t sequence = __atomic_fetch_add(&operation->communicator->received[peer], 1, __ATOMIC_RELAXED);
    operation->receive[operation->receives++] = (Incoming){peer, sequence, {.target = data, .bytes = bytes}};
}

/* All that it writes, by index. */
static Output *output_of(Operation *operation, int i) {
    if (i < operation->receives)
        return &operation->receive[i].output;
    return i == operation->receives ? &operation->local : &operation->result;
}

#define FOR_OUTPUTS(operation, output)                                              \
    for (int output##_i = 0; output##_i < (operation)->receives + 2; output##_i++)  \
        for (Output *output = output_of(operation, output##_i); output; output = NULL)

static void stage_outputs(Operation *operation) {
    FOR_OUTPUTS(operation, output)
        output->staged = output->target && !settings.async ? output->target : malloc(output->bytes + 1);
}

/* Called with state_lock held. */
void operation_delay(Operation *operation, Stream *stream, uint64_t sequence) {
    FOR_OUTPUTS(operation, output)
        if (output->target && output->bytes) {
            late_result(stream, sequence, output->target, output->staged, output->bytes);
            output->staged = NULL;
        }
}

/* Likewise. */
void operation_free(Operation *operation) {
    FOR_OUTPUTS(operation, output)
        if (output->staged != output->target)
            free(output->staged);
    operation->communicator->pending--;
    free(operation);
}

int operation_issue(Operation *operation, void *stream) {
    if (forked) {
        free(operation);
        refuse_after_fork();
        return H_INTERNAL;
    }
    if (operation->point_to_point && operation_defer(operation, stream))
        return H_OK;
    TRACE("%s, %d out, %d in, communicator %s", operation->name, operation->sends, operation->receives,
          operation->communicator->name);
    pthread_mutex_lock(&state_lock);
    operation->communicator->pending++;
    Error error = stream_issue(stream_of(stream), (Task){.kind = COMM, .operation = operation});
    pthread_mutex_unlock(&state_lock);
    return error ? H_INTERNAL : H_OK;
}

/* ---- running ---- */

static int failed(const Operation *operation, int result, const char *direction, uint32_t peer,
                  const char *why) {
    Communicator *communicator = operation->communicator;
    communicator->error = result;
    fail(COMMUNICATION, "npusim: %s on communicator %s (rank %u of %u): %s rank %u, %s", operation->name,
         communicator->name, communicator->rank, communicator->size, direction, peer, why);
    fprintf(stderr, "[npusim] %s\n", last_message);
    if (communicator_is_last(communicator))
        communicator_remove(communicator);
    return result;
}

static int timed_out(const Operation *operation, const char *direction, uint32_t peer) {
    char why[200];
    snprintf(why, sizeof why, "timed out after %g s (NPUSIM_TIMEOUT)%s", settings.limit_ms / 1e3,
             operation->point_to_point
                 ? "; sends and receives of a communicator run in order: where both ranks "
                   "receive before they send, use batch_isend_irecv"
                 : "");
    return failed(operation, H_TIMEOUT, direction, peer, why);
}

/* 0, or -1 with errno. A full folder is waited for: receivers take their messages out of it. */
static int write_all(int file, const void *data, size_t bytes, double end) {
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(file, (const char *)data + done, bytes - done);
        if (written > 0)
            done += written;
        else if (errno != ENOSPC || now_ms() > end || stopping)
            return -1;
        else
            usleep(2000);
    }
    return 0;
}

static int write_file(const char *path, const Operation *operation, const Outgoing *message, double end) {
    Header header = {.bytes = message->bytes};
    snprintf(header.name, sizeof header.name, "%s", operation->name);
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0)
        return -1;
    int error =
        write_all(file, &header, sizeof header, end) || write_all(file, message->data, message->bytes, end);
    close(file);
    return error ? -1 : 0;
}

static void message_path(char *path, size_t room, const Communicator *communicator, uint32_t from,
                         uint32_t to, uint64_t sequence) {
    snprintf(path, room, "%s/%u.%u.%lu", communicator->folder, from, to, (unsigned long)sequence);
}

/* Write the outgoing messages; each appears by a link, whole, and equal buffers in a row are written once. */
static int push(const Operation *operation, double end) {
    const Communicator *communicator = operation->communicator;
    char temporary[300], path[300];
    snprintf(temporary, sizeof temporary, "%s/t%u.%d", communicator->folder, communicator->rank, gettid());
    int result = H_OK;
    for (int i = 0; i < operation->sends && !result; i++) {
        const Outgoing *message = &operation->send[i];
        int repeated = i && message->data == message[-1].data && message->bytes == message[-1].bytes;
        message_path(path, sizeof path, communicator, communicator->rank, message->peer, message->sequence);
        if (!repeated)
            unlink(temporary);
        if ((!repeated && write_file(temporary, operation, message, end)) || link(temporary, path))
            result = failed(operation, H_MEMORY, "to", message->peer, strerror(errno));
    }
    unlink(temporary);
    return result;
}

static int read_message(int file, const Operation *operation, const Output *output) {
    Header header;
    if (read(file, &header, sizeof header) != sizeof header || header.bytes != output->bytes)
        return -1;
    if (!operation->point_to_point && strcmp(header.name, operation->name))
        return -1;
    for (size_t done = 0; done < output->bytes;) {
        ssize_t n = read(file, output->staged + done, output->bytes - done);
        if (n <= 0)
            return -1;
        done += n;
    }
    return 0;
}

static int pull(const Operation *operation, const Incoming *message, double end) {
    const Communicator *communicator = operation->communicator;
    char path[300];
    int file, peer_gone = 0;
    message_path(path, sizeof path, communicator, message->peer, communicator->rank, message->sequence);
    for (int poll = 1; (file = open(path, O_RDONLY)) < 0; poll++) {
        if (peer_gone || stopping)
            return failed(operation, H_REMOTE, "from", message->peer, "which has left or died");
        if (now_ms() > end)
            return timed_out(operation, "from", message->peer);
        if (poll % POLLS_PER_LIFE_CHECK == 0) /* then look once more for the message */
            peer_gone = communicator_member(communicator, message->peer) != 0;
        pause_between_polls(poll);
    }
    int error = read_message(file, operation, &message->output);
    close(file);
    unlink(path);
    return error ? failed(operation, H_PARAMETER, "from", message->peer,
                          "operations or sizes of the ranks do not match")
                 : H_OK;
}

static int wait_until_taken(const Operation *operation, const Outgoing *message, double end) {
    const Communicator *communicator = operation->communicator;
    char path[300];
    message_path(path, sizeof path, communicator, communicator->rank, message->peer, message->sequence);
    for (int poll = 1; access(path, F_OK) == 0; poll++) {
        if (now_ms() > end || stopping)
            return timed_out(operation, "to", message->peer);
        if (poll % POLLS_PER_LIFE_CHECK == 0 && communicator_member(communicator, message->peer) != 0 &&
            access(path, F_OK) == 0)
            return failed(operation, H_REMOTE, "to", message->peer, "which has left or died");
        pause_between_polls(poll);
    }
    return H_OK;
}

static Error refuse(const Operation *operation) {
    operation->communicator->error = hccl_refused(operation->refused);
    fprintf(stderr, "[npusim] %s\n", last_message);
    return COMMUNICATION;
}

Error operation_run(Operation *operation) {
    if (operation->refused)
        return refuse(operation);
    double end = now_ms() + settings.limit_ms;
    int result = push(operation, end);
    stage_outputs(operation);
    if (!result && operation->local.bytes)
        memmove(operation->local.staged, operation->local_source, operation->local.bytes);
    for (int i = 0; i < operation->receives && !result; i++)
        result = pull(operation, &operation->receive[i], end);
    if (!result && operation->result.target)
        hccl_reduce(operation);
    for (int i = 0; operation->point_to_point && i < operation->sends && !result; i++)
        result = wait_until_taken(operation, &operation->send[i], end);
    TRACE("%s done: %d", operation->name, result);
    return result ? COMMUNICATION : OK;
}
