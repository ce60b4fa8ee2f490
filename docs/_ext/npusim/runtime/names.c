/* The functions of names.h. They ignore their arguments, which the calling conventions of x86-64 and aarch64
 * allow. */
#include "npusim.h"

#define SUCCEED(name) \
    Error name(void) { return OK; }
#define NOT_SIMULATED(name) \
    Error name(void) { return unsupported(#name); }
#define REFUSE(name)        \
    Error name(void) {      \
        unsupported(#name); \
        return REFUSED;     \
    }

#include "names.h"
