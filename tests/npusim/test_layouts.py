"""Sparse and nested tensors, on the simulated device and on the CPU."""

import pytest
from both_devices import assert_equal, check

pytestmark = pytest.mark.simulated

SPARSE = {
    "to_dense": lambda torch, x, y: x.to_dense(),
    "parts": lambda torch, x, y: [y._indices(), y._values(), y.is_coalesced()],
    "coalesce": lambda torch, x, y: [y.coalesce(), y.coalesce().values()],
    "coalesce half": lambda torch, x, y: y.half().coalesce(),
    "coalesce one element": lambda torch, x, y: torch.sparse_coo_tensor(
        y._indices()[:, :1], y._values()[:1]
    ).coalesce(),
    "add": lambda torch, x, y: (x + y).to_dense(),  # op-plugin joins the operands' parts, the CPU merges them
    "add to dense": lambda torch, x, y: x.to_dense().add_(y, alpha=2),
    "sub in place": lambda torch, x, y: x.sub_(y).to_dense(),
    "mul": lambda torch, x, y: (x * y).to_dense(),
    "mul by number": lambda torch, x, y: x * 2,
    "sqrt": lambda torch, x, y: y.sqrt(),
    "cat": lambda torch, x, y: torch.cat([x, y], 1),
    "sum": lambda torch, x, y: [torch.sparse.sum(y), torch.sparse.sum(y, 0)],
    "norm": lambda torch, x, y: y.norm(),
    "transpose": lambda torch, x, y: x.t(),
    "half": lambda torch, x, y: y.half(),
}


@pytest.mark.parametrize("operator", SPARSE)
def test_sparse(torch, operator):
    x = torch.tensor([[0.0, 2], [3, 0]]).to_sparse()
    twice = torch.sparse_coo_tensor(torch.tensor([[0, 1, 0], [1, 0, 1]]), torch.tensor([1.0, 2, 3]), (2, 2))
    on_npu = SPARSE[operator](torch, x.to("npu"), twice.to("npu"))
    assert_equal(torch, on_npu, SPARSE[operator](torch, x, twice))


def test_sparse_gradients(torch):
    def function(torch, weight, index):
        weight = weight.clone().requires_grad_()
        torch.nn.functional.embedding(index, weight, sparse=True).sum().backward()
        return [weight.grad, weight.grad.coalesce()]

    check(torch, function, torch.ones(3, 2), torch.tensor([1, 1, 0]))


def test_zeros_drop_out_where_a_sparse_tensor_is_a_mask(torch):
    # mul_out_sparse in op-plugin's SparseTensorUtils.cpp: it makes a sparse tensor of the product of dense ones.
    mask = torch.eye(2).to_sparse().to("npu")
    assert torch.tensor([[3.0, 1], [1, 0]], device="npu").sparse_mask(mask)._values().tolist() == [3]
    weight = torch.nn.Embedding(3, 2, sparse=True).to("npu")
    optimizer = torch.optim.SparseAdam(weight.parameters())
    weight(torch.tensor([0, 1], device="npu")).sum().backward()
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(0\)"):
        optimizer.step()  # its state begins with zeros


@pytest.mark.parametrize("operator", ["mm", "softmax"])
def test_what_torch_npu_has_no_sparse_kernel_for(torch, operator):
    x = torch.eye(2, device="npu")
    with pytest.raises(RuntimeError, match="is not currently supported on the NPU backend"):
        torch.sparse.mm(x.to_sparse(), x) if operator == "mm" else torch.sparse.softmax(x.to_sparse(), 1)


JAGGED = {
    "parts": lambda torch, x: [x.values(), x.offsets()],
    "add": lambda torch, x: x + x,
    "where": lambda torch, x: torch.where(x > 2, x, -x),
    "linear": lambda torch, x: torch.nn.functional.linear(x, x.values()[:2]),
    "sum": lambda torch, x: [x.sum(1), x.sum(-1)],
    "softmax": lambda torch, x: x.softmax(-1),
    "layer norm": lambda torch, x: torch.nn.functional.layer_norm(x, (2,)),
    "padded": lambda torch, x: x.to_padded_tensor(-1.0),
    "select": lambda torch, x: x[1],
    "half": lambda torch, x: x.half(),
    "cat": lambda torch, x: torch.cat([x, x], -1),
    "from a list": lambda torch, x: torch.nested.nested_tensor(list(x.unbind()), layout=torch.jagged),
    "strided": lambda torch, x: torch.nested.as_nested_tensor(list(x.unbind())),
}


@pytest.mark.parametrize("operator", JAGGED)
def test_nested(torch, operator):
    def function(torch, values, offsets):
        return JAGGED[operator](torch, torch.nested.nested_tensor_from_jagged(values, offsets))

    check(torch, function, torch.arange(12.0).view(6, 2), torch.tensor([0, 2, 3, 6]))


@pytest.mark.parametrize("width", [3, 4])
def test_attention_over_jagged_tensors_is_refused(torch, width):
    # torch computes it by strided nested tensors, for which torch_npu has 4 operators and transpose is none of them;
    # then it calls the operator for ordinary tensors. With torch_npu's own kernel for that the error is the same.
    rows = [torch.ones(n, 2, width, device="npu") for n in (3, 5)]
    x = torch.nested.nested_tensor(rows, layout=torch.jagged).transpose(1, 2)
    with pytest.raises(RuntimeError, match="If inputs are nested tensors they must be contiguous"):
        torch.nn.functional.scaled_dot_product_attention(x, x, x)
