/* Data movement through the runtime. What the kernels do, which bypass it, is counted in npusim/counters.py.
 */
#include "npusim.h"

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS }; /* aclrtMemcpyKind */

static _Atomic uint64_t counters[COUNTERS];

void count(enum Counter counter, uint64_t n) {
    atomic_fetch_add_explicit(&counters[counter], n, memory_order_relaxed);
}

static void count_bytes(enum Counter counter, size_t bytes) {
    count(counter, 1);
    count(counter + 1, bytes);
}

void count_copy(int kind, const void *target, const void *source, size_t bytes) {
    if (!bytes || kind == HOST_TO_HOST)
        return;
    int to = kind == DEVICE_TO_HOST ? UNKNOWN : kind == HOST_TO_DEVICE ? 0 : memory_owner(target);
    int from = kind == HOST_TO_DEVICE ? UNKNOWN : kind == DEVICE_TO_HOST ? 0 : memory_owner(source);
    if (to >= 0 && from < 0)
        count_bytes(H2D, bytes);
    else if (to < 0 && from >= 0)
        count_bytes(D2H, bytes);
    else if (to >= 0 && to != from)
        count_bytes(PEER, bytes);
}

/* For Python: the counters in the order of enum Counter. */
void npusim_counters(uint64_t *values) {
    for (int i = 0; i < COUNTERS; i++)
        values[i] = atomic_load(&counters[i]);
}
