/* Settings, errors, and what happens to this process: start, fork, end. */
#include "npusim.h"

#include <stdarg.h>
#include <time.h>

Settings settings = {.devices = 2, .limit_ms = 60000, .shm = "/dev/shm"};
_Thread_local int current_device;
atomic_int initialised, forked, stopping;
char last_message[1024];

static void after_fork_in_child(void) {
    if (!initialised)
        return;
    forked = 1;
    for (Stream *stream = all_streams; stream; stream = stream->next)
        stream->busy = 1; /* sends npusim_settle to its check */
}

static int switched_on(const char *name) {
    const char *value = getenv(name);
    return value && !strcmp(value, "1");
}

__attribute__((constructor)) static void start(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&state_changed, &attributes);
    pthread_atfork(NULL, NULL, after_fork_in_child);

    const char *value;
    if ((value = getenv("NPUSIM_DEVICES")))
        settings.devices = atoi(value);
    if (settings.devices < 1 || settings.devices > MAX_DEVICES) {
        fprintf(stderr, "[npusim] NPUSIM_DEVICES=%s is not 1 to %d: 2 devices\n", value, MAX_DEVICES);
        settings.devices = 2;
    }
    if ((value = getenv("NPUSIM_TIMEOUT")) && atof(value) > 0)
        settings.limit_ms = atof(value) * 1e3;
    if ((value = getenv("NPUSIM_SHM")) && *value)
        settings.shm = value;
    settings.async = switched_on("NPUSIM_ASYNC");
    settings.trace = switched_on("NPUSIM_TRACE");
}

void trace_line(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "[npusim %d] ", getpid());
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* Sets the message that aclGetRecentErrMsg returns and torch_npu appends to its exception. */
Error fail(Error code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    TRACE("error %d: %s", code, last_message);
    return code;
}

Error refuse_after_fork(void) {
    return fail(BAD_CONTEXT,
                "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you "
                "must use the 'spawn' start method (npusim)");
}

Error unsupported(const char *function) { return fail(UNSUPPORTED, "npusim: %s is not simulated", function); }

double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

const char *aclGetRecentErrMsg(void) { return last_message; }

void aclAppLog(int level, const char *function, const char *file, uint32_t line, const char *format, ...) {}

Error aclInit(const char *configuration) {
    REQUIRE_ALIVE();
    initialised = 1;
    return OK;
}

Error aclFinalize(void) { return OK; }
