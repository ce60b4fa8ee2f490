/* HCCL's dtypes and reductions. */
#include "hccl.h"

enum { SUM, PRODUCT, MAXIMUM, MINIMUM }; /* HcclReduceOp */
enum {                                   /* HcclDataType */
       INT8,
       INT16,
       INT32,
       FP16,
       FP32,
       INT64,
       UINT64,
       UINT8,
       UINT16,
       UINT32,
       FP64,
       BFP16
};

/* HCCL moves these on a 910B, in each of its operations; the later ones, with 128 and 8 bits, on other devices. */
static const uint8_t widths[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};

int hccl_dtype_known(int dtype) { return dtype >= 0 && dtype < (int)sizeof widths; }

int hccl_refused(const char *what) {
    fail(UNSUPPORTED, "npusim: HCCL takes no %s on a 910B", what);
    return H_UNSUPPORTED;
}

size_t hccl_bytes(uint64_t count, int dtype) { return hccl_dtype_known(dtype) ? count * widths[dtype] : 0; }

/* What HCCL documents of the Atlas A2, which has 910Bs: hicann/hccl, docs/zh/api_ref/comm_op_interface,
 * HcclAllReduce.md, HcclReduce.md and HcclReduceScatter.md. */
int hccl_reducible(int reduction, int dtype) {
    if (reduction < SUM || reduction > MINIMUM)
        return 0;
    switch (dtype) {
    case INT8:
    case INT32:
    case INT64:
    case FP16:
    case FP32:
        return 1;
    case INT16:
    case BFP16:
        return reduction != PRODUCT;
    default:
        return 0;
    }
}

/* The same, HcclReduceScatterV.md. */
int hccl_reducible_unevenly(int reduction, int dtype) {
    return hccl_reducible(reduction, dtype) && reduction != PRODUCT && dtype != INT64;
}

/* ---- 16-bit floats; not _Float16, which gcc knows on x86-64 from version 12 only ---- */

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float from_bf16(uint16_t value) { return float_of((uint32_t)value << 16); }

/* Rounds to nearest, ties to even, as to_fp16 does. */
static uint16_t to_bf16(float value) {
    uint32_t bits = bits_of(value);
    return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static float from_fp16(uint16_t value) {
    uint32_t sign = (uint32_t)(value & 0x8000) << 16, exponent = value >> 10 & 31, fraction = value & 0x3ff;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | fraction << 13);
    if (exponent)
        return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    float magnitude = fraction / 16777216.0f; /* subnormal: units of 2^-24 */
    return sign ? -magnitude : magnitude;
}

static uint16_t to_fp16(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return sign | 0x7e00; /* not a number */
    if (bits >= 0x477ff000)
        return sign | 0x7c00; /* 65520 and more round to infinity */
    if (bits >= 0x38800000)   /* normal: rebias the exponent, round 13 bits away */
        return sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    /* Subnormal: adding 0.5 leaves units of 2^-24 in the last bits, rounded by the addition. */
    return sign | (bits_of(float_of(bits) + 0.5f) - bits_of(0.5f));
}

/* ---- in rank order, so that every rank gets the same bits; 16-bit floats are summed in float32 and rounded
 * once ---- */

#define SAME(value) (value)
#define COMBINE(a, b)                                 \
    (reduction == SUM       ? (a) + (b)               \
     : reduction == PRODUCT ? (a) * (b)               \
     : reduction == MAXIMUM ? ((b) > (a) ? (b) : (a)) \
                            : ((b) < (a) ? (b) : (a)))
#define REDUCE(STORED, COMPUTED, FROM, TO)                         \
    for (uint64_t i = 0; i < operation->count; i++) {              \
        COMPUTED total = FROM(((const STORED *)part[0])[i]);       \
        for (uint32_t rank = 1; rank < ranks; rank++) {            \
            COMPUTED next = FROM(((const STORED *)part[rank])[i]); \
            total = COMBINE(total, next);                          \
        }                                                          \
        ((STORED *)operation->result.staged)[i] = TO(total);       \
    }                                                              \
    break

void hccl_reduce(const Operation *operation) {
    uint32_t ranks = operation->communicator->size;
    int reduction = operation->reduction;
    const char *part[ranks];
    part[operation->communicator->rank] = operation->own;
    for (int i = 0; i < operation->receives; i++)
        part[operation->receive[i].peer] = operation->receive[i].output.staged;
    switch (operation->dtype) {
    case INT8:
        REDUCE(int8_t, int8_t, SAME, SAME);
    case INT16:
        REDUCE(int16_t, int16_t, SAME, SAME);
    case INT32:
        REDUCE(int32_t, int32_t, SAME, SAME);
    case INT64:
        REDUCE(int64_t, int64_t, SAME, SAME);
    case FP16:
        REDUCE(uint16_t, float, from_fp16, to_fp16);
    case BFP16:
        REDUCE(uint16_t, float, from_bf16, to_bf16);
    case FP32:
        REDUCE(float, float, SAME, SAME);
    }
}
