/* Late copies, with NPUSIM_ASYNC=1; see npusim.h. All here want state_lock held. */
#include "npusim.h"

/* Bytes of a target until its copy arrives: -15.6 in half precision, -2.7e7 in single. */
enum { POISON = 0xCB };

static int late_count;
atomic_int late_to_device;

static void append(Stream *stream, Late late) {
    Late **end = &stream->late;
    while (*end)
        end = &(*end)->next;
    *end = malloc(sizeof late);
    **end = late;
    late_count++;
}

static void drop(Late **link) {
    Late *late = *link;
    *link = late->next;
    mark_release(late->mark);
    free(late->staged);
    free(late);
    late_count--;
}

void late_wait(Stream *stream, const Task *task) {
    Mark *mark = task->mark;
    if (!mark->stream->late || mark->stream->late->sequence > mark->sequence)
        return;
    mark->references++;
    append(stream, (Late){.mark = mark, .sequence = task->sequence});
}

static int overlap(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

static int reads_late_target(const Stream *stream, const Task *task) {
    for (const Late *late = stream->late; late; late = late->next)
        if (!late->source && late->staged && overlap(late->target, late->bytes, task->source, task->bytes))
            return 1;
    return 0;
}

void late_copy(Stream *stream, const Task *task) {
    Late late = {.sequence = task->sequence, .target = task->target, .bytes = task->bytes};
    if (task->late == TO_HOST) {
        late.staged = malloc(task->bytes);
        memcpy(late.staged, task->source, task->bytes);
    } else {
        if (reads_late_target(stream, task)) /* in order, so what comes first has arrived */
            stream_deliver(stream, task->sequence - 1);
        late.source = task->source;
        late_to_device++;
    }
    memset(task->target, POISON, task->bytes);
    append(stream, late);
}

/* What an operation writes on a device, from memory that this frees. */
void late_result(Stream *stream, uint64_t sequence, char *target, char *staged, size_t bytes) {
    memset(target, POISON, bytes);
    late_to_device++;
    append(stream, (Late){.sequence = sequence,
                          .target = target,
                          .source = staged,
                          .staged = staged,
                          .bytes = bytes});
}

/* Copies on the streams that this one waited for come with its own; marks stay until the host waits. */
static void deliver(Stream *stream, uint64_t sequence, int to_host) {
    if (!to_host && sequence <= stream->arrived) /* streams may have waited for each other */
        return;
    if (sequence > stream->arrived)
        stream->arrived = sequence;
    for (Late **link = &stream->late; *link && (*link)->sequence <= sequence;) {
        Late *late = *link;
        if (late->mark)
            deliver(late->mark->stream, late->mark->sequence, to_host);
        else if (late->source)
            late_to_device--;
        if (late->source || (late->staged && to_host))
            memcpy(late->target, late->source ? late->source : late->staged, late->bytes);
        if (late->source || to_host)
            drop(link);
        else
            link = &late->next;
    }
}

void stream_deliver(Stream *stream, uint64_t sequence) { deliver(stream, sequence, 1); }

void stream_deliver_to_device(Stream *stream, uint64_t sequence) {
    if (late_to_device)
        deliver(stream, sequence, 0);
}

/* For the kernels: the number of copies that have not arrived. */
int npusim_late(void) { return __atomic_load_n(&late_count, __ATOMIC_RELAXED); }
