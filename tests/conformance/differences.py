"""The rows that are known to differ from the CPU, by the reason why."""

KNOWN = {
    "torch_npu makes float32 of float64, as on hardware": [
        *("double:float32", "double:int64", "double:bool"),
        *("float_power:float32", "float_power:int64", "float_power:bool"),
    ],
    "torch_npu refuses memory formats like channels_last, as on hardware": [
        *("to:float32", "to:int64", "to:bool", "to:backward"),
    ],
    "CANN refuses a dtype, as on hardware": ["linalg.eig:backward", "renorm:backward"],
    "torch_npu has no kernel for this operator on sparse CSR tensors, and no fallback": [
        *("sparse.mm.reduce:float32", "sparse.mm.reduce:backward", "sparse.sampled_addmm:float32"),
    ],
}
REASON_OF = {row: reason for reason, rows in KNOWN.items() for row in rows}
