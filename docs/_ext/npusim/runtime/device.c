/* Which devices there are, which one is current, and what a 910B4 with CANN says about itself. */
#include "npusim.h"

#include <ctype.h>

enum { CUBE_CORES = 20, VECTOR_CORES = 40, L2_BYTES = 96 << 20 }; /* of a 910B4 */

static int used[MAX_DEVICES];
static char contexts[MAX_DEVICES]; /* a device's context is the address of its element */

/* ---- choosing a device ---- */

/* How many devices a list of their numbers leaves. As CANN documents, only what comes before something that is
 * no number of a device is read; none, or numbers that do not ascend, leave none. */
static int count_listed(const char *list) {
    int listed = 0, last = -1;
    for (char *at = (char *)list; isdigit((unsigned char)*at); at++) {
        long number = strtol(at, &at, 10);
        if (number >= settings.devices || (*at && *at != ','))
            break;
        if (number <= last)
            return 0;
        last = number;
        listed++;
        if (!*at)
            break;
    }
    return listed;
}

static int visible = -1;

static void look_for_devices(void) {
    const char *list = getenv("ASCEND_RT_VISIBLE_DEVICES");
    visible = list ? count_listed(list) : settings.devices;
    if (!visible)
        fprintf(stderr,
                "[npusim] ASCEND_RT_VISIBLE_DEVICES=%s leaves no device: it takes numbers from 0 to %d, "
                "ascending, with commas\n",
                list, settings.devices - 1);
}

/* Those that the program may use, numbered from 0; like CANN, it looks when it is first asked. */
static int device_count(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_devices);
    return visible;
}

int device_exists(int device) { return device >= 0 && device < device_count(); }

Error aclrtGetDeviceCount(uint32_t *count) {
    *count = device_count();
    return *count ? OK : fail(NO_DEVICE, "npusim: ASCEND_RT_VISIBLE_DEVICES leaves no device");
}

Error aclrtSetDevice(int32_t device) {
    REQUIRE_ALIVE();
    if (!device_exists(device))
        return fail(BAD_DEVICE, "npusim: no device %d, there are %d", device, device_count());
    initialised = 1;
    current_device = device;
    used[device] = 1;
    return OK;
}

Error aclrtGetDevice(int32_t *device) {
    REQUIRE_ALIVE();
    *device = current_device;
    return OK;
}

Error aclrtResetDevice(int32_t device) {
    REQUIRE_ALIVE();
    return OK;
}

Error aclrtGetPrimaryCtxState(int32_t device, uint32_t *flags, int32_t *active) {
    if (!device_exists(device))
        return BAD_DEVICE;
    if (flags)
        *flags = 0;
    *active = used[device];
    return OK;
}

Error aclrtGetCurrentContext(void **context) {
    REQUIRE_ALIVE();
    *context = &contexts[current_device];
    return OK;
}

Error aclrtSetCurrentContext(void *context) {
    REQUIRE_ALIVE();
    current_device = (char *)context - contexts;
    return OK;
}

Error aclrtDeviceCanAccessPeer(int32_t *can, int32_t device, int32_t peer) {
    *can = 1;
    return OK;
}

Error aclrtDeviceGetBareTgid(int32_t *pid) {
    *pid = getpid();
    return OK;
}

Error aclrtGetLogicDevIdByUserDevId(int32_t user_device, int32_t *device) {
    *device = user_device;
    return OK;
}

/* ---- facts ---- */

const char *aclrtGetSocName(void) { return NPUSIM_SOC_NAME; }

/* By number of aclrtDevAttr; -1 if unknown. */
static int64_t attribute(int number) {
    switch (number) {
    case 1: /* AI CPU cores */
        return 6;
    case 101: /* AI cores */
    case 102: /* cube cores */
        return CUBE_CORES;
    case 201:
        return VECTOR_CORES;
    case 301:
        return MEMORY_BYTES;
    case 302:
        return L2_BYTES;
    case 501: /* not a super node */
        return 0;
    case 601: /* architecture */
        return 2201;
    default:
        return -1;
    }
}

Error aclrtGetDeviceInfo(uint32_t device, int number, int64_t *value) {
    enum { PHYSICAL_ID = 402 };
    int64_t known = number == PHYSICAL_ID ? (int64_t)device : attribute(number);
    if (known < 0)
        return UNSUPPORTED;
    *value = known;
    return OK;
}

Error aclGetDeviceCapability(uint32_t device, int number, int64_t *value) {
    static const int attributes[] = {101, 201, 302}; /* by aclDeviceInfo: AI cores, vector cores, L2 */
    if (number < 0 || number > 2)
        return BAD_PARAMETER;
    *value = attribute(attributes[number]);
    return OK;
}

Error aclrtDeviceGetUuid(int32_t device, char *uuid) {
    memcpy(uuid, "npusim-910b4-\0\0\0", 16);
    uuid[15] = device;
    return OK;
}

static uint32_t core_limit[MAX_DEVICES][2]; /* cube, vector; 0: all */

static int bad_limit(int32_t device, int type) { return !device_exists(device) || type < 0 || type > 1; }

Error aclrtGetDeviceResLimit(int32_t device, int type, uint32_t *cores) {
    if (bad_limit(device, type))
        return BAD_PARAMETER;
    uint32_t all = type ? VECTOR_CORES : CUBE_CORES;
    *cores = core_limit[device][type] ? core_limit[device][type] : all;
    return OK;
}

Error aclrtSetDeviceResLimit(int32_t device, int type, uint32_t cores) {
    if (bad_limit(device, type))
        return BAD_PARAMETER;
    core_limit[device][type] = cores;
    return OK;
}

Error aclrtResetDeviceResLimit(int32_t device) {
    if (bad_limit(device, 0))
        return BAD_PARAMETER;
    core_limit[device][0] = core_limit[device][1] = 0;
    return OK;
}

Error aclrtGetDeviceUtilizationRate(int32_t device, void *rates) {
    memset(rates, 0, 16); /* aclrtUtilizationInfo: four int32 */
    return OK;
}

Error aclGetCannAttribute(int attribute, int32_t *value) {
    enum { INF_NAN, BF16, JIT_COMPILE };
    *value = attribute >= INF_NAN && attribute <= JIT_COMPILE;
    return OK;
}

Error aclGetCannAttributeList(const int **list, size_t *n) {
    static const int all[] = {0, 1, 2};
    *list = all;
    *n = 3;
    return OK;
}

/* ---- versions ---- */

struct PackageVersion { /* aclCANNPackageVersion */
    char version[128], major[64], minor[64], release[64], patch[64], reserved[128];
};

Error aclsysGetCANNVersion(int package, struct PackageVersion *result) {
    memset(result, 0, sizeof *result);
    strcpy(result->version, NPUSIM_CANN_VERSION);
    sscanf(NPUSIM_CANN_VERSION, "%63[0-9].%63[0-9].%63[0-9]", result->major, result->minor, result->release);
    return OK;
}

Error aclsysGetVersionStr(char *package, char *version) {
    strcpy(version, NPUSIM_CANN_VERSION);
    return OK;
}

Error aclsysGetVersionNum(char *package, int32_t *number) {
    int major = 0, minor = 0, release = 0;
    sscanf(NPUSIM_CANN_VERSION, "%d.%d.%d", &major, &minor, &release);
    *number = (major * 10000 + minor * 100 + release) * 1000;
    return OK;
}

/* ---- options that torch_npu sets and reads back ---- */

static int64_t system_option[8];

Error aclrtSetSysParamOpt(int option, int64_t value) {
    if (option < 0 || option > 7)
        return BAD_PARAMETER;
    system_option[option] = value;
    return OK;
}

Error aclrtGetSysParamOpt(int option, int64_t *value) {
    if (option < 0 || option > 7)
        return BAD_PARAMETER;
    *value = system_option[option];
    return OK;
}

Error aclrtCtxSetSysParamOpt(int option, int64_t value) { return aclrtSetSysParamOpt(option, value); }

size_t aclGetCompileoptSize(int option) { return 16; }

Error aclGetCompileopt(int option, char *value, size_t bytes) {
    snprintf(value, bytes, "disable");
    return OK;
}

Error aclmdlRICaptureGetInfo(void *stream, int *status, void **model) {
    *status = 0; /* not capturing */
    if (model)
        *model = NULL;
    return OK;
}

Error aclrtGetStreamOverflowSwitch(void *stream, uint32_t *flag) {
    *flag = 0;
    return OK;
}
