"""dtypes that functions of CANN refuse on the 910B although the CPU's operators take them.

An operator is in the table with a dtype if torch_npu 2.13.0 hands a tensor of it to CANN's function, and both the
function's source and its document leave the dtype out. The first was seen with a libopapi.so of nothing but the names
of CANN's functions, over the samples of PyTorch's database and their gradients; the others are in hicann/ops-math and
hicann/ops-nn, op_api/aclnn_<function>.cpp and docs/aclnn<Function>.md. What only one of them leaves out is not here,
nor is bfloat16, where they often differ.
"""

from typing import NamedTuple

import torch


class Function(NamedTuple):
    """A function of CANN, its name for the tensor that it refuses, and what dtype that has if not the operator's."""

    name: str
    tensor: str = "self"
    dtype: torch.dtype | None = None


# By dtypes: aten's operator, or one overload of it, and CANN's function, with the tensor unless that is `self`, and the
# dtype that it gets.
_REFUSED = {
    "float64": {
        "_adaptive_avg_pool2d": "AdaptiveAvgPool2d",
        "adaptive_avg_pool2d": "AdaptiveAvgPool2d",
        "_adaptive_avg_pool2d_backward": "AdaptiveAvgPool2dBackward gradOutput",
        "_adaptive_avg_pool3d": "AdaptiveAvgPool3d",
        "argsort": "Sort",
        "avg_pool2d_backward": "AvgPool2dBackward gradOutput",
        "avg_pool3d_backward": "AvgPool3dBackward gradOutput",
        "binary_cross_entropy_backward": "BinaryCrossEntropyBackward gradOutput",
        "binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogits",
        "cdist": "Cdist x1",
        "_cdist_forward": "Cdist x1",
        "celu": "Celu",
        "convolution_backward": "ConvolutionBackward gradOutput",
        "elu_backward": "EluBackward gradOutput",
        "_embedding_bag": "EmbeddingBag weight",
        "_embedding_bag_forward_only": "EmbeddingBag weight",
        "embedding_dense_backward": "EmbeddingDenseBackward grad",
        "embedding_renorm": "EmbeddingRenorm",
        "erfinv": "Erfinv",
        "_fft_r2c": "Matmul",
        "frac": "Frac input",
        "gelu": "Gelu",
        "gelu_backward": "GeluBackward gradOutput",
        "hardshrink": "Hardshrink",
        "hardshrink_backward": "HardshrinkBackward gradOutput",
        "hardsigmoid": "Hardsigmoid",
        "hardsigmoid_backward": "HardsigmoidBackward gradOutput",
        "hardswish": "Hardswish",
        "hardswish_backward": "HardswishBackwardV2 gradOutput",
        "hardtanh_backward": "HardtanhBackward gradOutput",
        "histc": "Histc",
        "kl_div": "KlDiv",
        "kthvalue": "Kthvalue",
        "log_sigmoid": "LogSigmoidForward",
        "log_sigmoid_backward": "LogSigmoidBackward gradOutput",
        "log_sigmoid_forward": "LogSigmoidForward",
        "_log_softmax_backward_data": "LogSoftmaxBackward gradOutput",
        "logaddexp2": "LogAddExp2 out",
        "max_pool2d_with_indices_backward": "MaxPool2dWithMaskBackward gradOutput",
        "max_pool3d_with_indices_backward": "MaxPool3dWithArgmaxBackward gradOutput",
        "median": "Median",
        "mish": "Mish",
        "mish_backward": "MishBackward gradOutput",
        "mse_loss": "MseLoss",
        "mse_loss_backward": "MseLossBackward",
        "multilabel_margin_loss": "MultilabelMarginLoss",
        "multilabel_margin_loss_forward": "MultilabelMarginLoss",
        "nan_to_num": "NanToNum",
        "nanmedian": "NanMedian",
        "nansum": "ReduceNansum",
        "native_batch_norm": "BatchNorm input",
        "native_batch_norm_backward": "BatchNormBackward gradOut",
        "_native_batch_norm_legit": "BatchNorm input",
        "native_dropout": "DropoutDoMask",
        "native_group_norm": "GroupNorm",
        "native_group_norm_backward": "GroupNormBackward gradOut",
        "native_layer_norm": "LayerNorm input",
        "native_layer_norm_backward": "LayerNormBackward gradOut",
        "nll_loss2d_backward": "NLLLoss2dBackward gradOutput",
        "nll_loss2d_forward": "NLLLoss2d",
        "nll_loss_backward": "NLLLossBackward gradOutput",
        "nll_loss_forward": "NLLLoss",
        "pdist": "Pdist",
        "_pdist_forward": "Pdist",
        "_prelu_kernel": "Prelu",
        "_prelu_kernel_backward": "PreluBackward gradOutput",
        "rrelu_with_noise": "RReluWithNoise",
        "scaled_dot_product_attention": "Matmul",
        "silu_backward": "SiluBackward gradOutput",
        "smooth_l1_loss": "SmoothL1Loss",
        "smooth_l1_loss_backward": "SmoothL1LossBackward gradOut",
        "soft_margin_loss": "SoftMarginLoss",
        "soft_margin_loss_backward": "SoftMarginLossBackward gradOutput",
        "_softmax_backward_data": "SoftmaxBackward gradOutput",
        "softplus": "Softplus",
        "softshrink": "Softshrink",
        "softshrink_backward": "SoftshrinkBackward gradOutput",
        "sort": "Sort",
        "threshold": "Threshold",
        "threshold_backward": "ThresholdBackward gradOutput",
        "trunc": "Trunc",
    },
    "complex64 complex128": {
        "acos": "Acos input",
        "addcdiv": "Addcdiv",
        "addmv": "Addmv",
        "addr": "Addr",
        "all": "All",
        "any": "Any",
        "asin": "Asin",
        "atan": "Atan input",
        "cumprod": "Cumprod input",
        "equal": "Equal",
        "exp2": "Exp2",
        "gather": "Gather",
        "index_add": "IndexAdd",
        "index_fill": "IndexFill",
        "index_put": "IndexPutImpl",
        "_index_put_impl": "IndexPutImpl selfRef",
        "isclose": "IsClose",
        "isfinite": "IsFinite",
        "log1p": "Log1p",
        "logical_not": "LogicalNot",
        "masked_scatter": "InplaceMaskedScatter",
        "tanh_backward": "TanhBackward gradOutput",
    },
    "float64 complex64 complex128": {
        "l1_loss": "L1Loss",
        "lerp": "Lerps",
        "linalg_cholesky": "LinalgCholesky",
        "linalg_vector_norm": "LinalgVectorNorm",
        "logaddexp": "LogAddExp",
        "logsumexp": "LogSumExp",
        "norm": "Norm",
        "renorm": "Renorm",
        "repeat_interleave": "RepeatInterleaveInt",
        "silu": "Silu",
        "std": "Std",
        "std_mean": "StdMeanCorrection",
        "tanh": "Tanh",
        "unfold_backward": "UnfoldGrad gradOut",
        "var": "VarCorrection",
        "var_mean": "VarMean",
    },
    "float64 complex64 complex128 uint8 int8 int16 int32 int64": {
        "addbmm": "Addbmm",
        "addmm": "Addmm",
        "baddbmm": "Baddbmm",
        "bmm": "BatchMatMul",
        "logspace": "LogSpace result",
        "matmul": "Matmul",
        "mm": "Mm",
        "mv": "Mv",
    },
    "complex128": {
        "abs": "Abs",
        "_fft_c2c": "Matmul self float64",  # of real and imaginary parts
        "_fft_c2r": "Matmul self float64",
        "im2col": "Im2col",
        "index": "Index",
        "tril": "Tril",
        "triu": "Triu",
    },
    "float64 complex128": {
        "fft_fftshift": "Roll x",
        "fft_ifftshift": "Roll x",
        "roll": "Roll x",
    },
    "uint8 int8 int16 int32": {
        "erf": "Erf",
        "erfc": "Erfc",
        "exp": "Exp",
    },
    "bool": {
        "clamp_max": "ClampMaxTensor",
        "clamp_min": "ClampMinTensor",
    },
    "float64 complex64 complex128 int16 int64": {
        "dot": "Dot",
        "vdot": "Dot",
    },
    "float64 int64": {
        "avg_pool3d": "AvgPool3d",
        "convolution": "Convolution input",
    },
    "float64 uint8 int8 int16": {
        "max.dim": "MaxDim",
        "min.dim": "MinDim",
    },
    "float64 uint8 int8 int16 int32 int64": {
        "max_pool2d_with_indices": "MaxPool2dWithMask",
        "max_pool3d_with_indices": "MaxPool3dWithArgmax",
    },
    "complex64 complex128 int16": {
        "addcmul": "Addcmul",
    },
    "float64 complex64 complex128 uint8 int16": {
        "masked_fill": "InplaceMaskedFillScalar",
    },
    "float64 complex64 complex128 uint8 int8 int16 int32": {
        "expm1": "Expm1",
    },
    "float64 int16": {
        "relu": "Relu",
    },
    "int16": {
        "fmod": "FmodTensor",
    },
    "uint8 int16": {
        "neg": "Neg",
    },
    "uint8 int8 int16 int32 int64": {
        "ceil": "Ceil",
    },
}


def _by_operator() -> dict[str, dict[torch.dtype, Function]]:
    table: dict[str, dict[torch.dtype, Function]] = {}
    for dtypes, functions in _REFUSED.items():
        for operator, words in functions.items():
            name, *rest = words.split()
            function = Function(f"aclnn{name}", *rest[:1], *(getattr(torch, given) for given in rest[1:]))
            table[operator] = dict.fromkeys((getattr(torch, dtype) for dtype in dtypes.split()), function)
    return table


REFUSED = _by_operator()
