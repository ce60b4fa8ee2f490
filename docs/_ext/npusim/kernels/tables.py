"""The operators that are not treated like all others, each group with its reason."""

# torch_npu's own kernels that only handle memory, metadata or copies (built on copy_, which is ours).
KEPT = frozenset(
    [
        "empty",
        "empty_like",
        "empty_strided",
        "as_strided",
        "view",
        "_reshape_alias",
        "set_",
        "resize_",
        "_copy_from",
        "_copy_from_and_resize",
        "_to_copy",
        "to",
        "record_stream",
        "is_pinned",
        "pin_memory",
        "_pin_memory",
        "is_set_to",
        "_local_scalar_dense",
        "contiguous",
    ]
)

# Operators that torch lets mix devices: CPU indices, copies between devices, scale factors.
INDEXING = frozenset(["index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"])
MIXED_DEVICES = INDEXING | {"copy", "resize_as_", "_amp_foreach_non_finite_check_and_unscale_"}

# torch's own loop over copy_, which goes between devices.
LOOPS_OF_COPIES = frozenset({"_foreach_copy_"})

# torch's own factories that fill: memory of the device first, so that it refuses before the host has touched as much.
FILLING = frozenset({"full", "ones", "ones_like", "zeros"})

# Operators that copy and do not compute: not counted.
COPIES = frozenset({"clone", "copy"})

# torch_npu leaves the padding in packed sequences (PackPaddedSequenceKernelNpuOpApi.cpp in Ascend/op-plugin), so that
# PyTorch's operators for them would take and give others. What CANN's LSTM makes of that is not published.
PACKED = ("_pack_padded_sequence", "_pad_packed_sequence", "lstm.data")
