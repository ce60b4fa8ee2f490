"""
Follow a data set from disk to the NPU
======================================

A data set starts as files on disk, passes through host memory, and is trained on an NPU. This tutorial takes one small
set of robot steps along that way and back. Afterwards you can say where each tensor of a batch is, move
a whole batch in one call, keep it in files that are larger than memory, and read it back in another program.
"""

# %%
# A batch that lives on the NPU
# -----------------------------
#
# Name the device when you build the batch. Every tensor you put in then goes there, from whichever device it comes:

import torch
import torch_npu
from tensordict import TensorDict

torch.manual_seed(7)
steps = TensorDict(joints=torch.rand(6, 3), batch_size=[6], device="npu:0")
steps["torque"] = torch.rand(6, 3)
print(steps)
print(steps["torque"].device)

# %%
# .. testoutput::
#
#    TensorDict(batch_size=[6], device=npu:0, fields={
#        joints: f32[3],
#        torque: f32[3]})
#    npu:0
#
# Without ``device=`` a batch promises nothing: it may hold tensors of several devices, and its printed form names the
# device of each one that is not on the CPU.

mixed = TensorDict(joints=steps["joints"], label=torch.arange(6), batch_size=[6])
print(mixed.device)
print(mixed)

# %%
# .. testoutput::
#
#    None
#    TensorDict(batch_size=[6], fields={joints: f32[3]@npu:0, label: i64[]})
#
# Move it, and let it go
# ----------------------
#
# ``to`` returns a second batch and leaves the first where it is. It moves nothing that is there already, so calling it
# once more gives you the very same object:

host = steps.to("cpu")
print(host.device, steps.device)
print(host.to("cpu") is host, host.to("npu:0").device)

# %%
# .. testoutput::
#
#    cpu npu:0
#    True npu:0
#
# There is no method ``npu()`` to go with ``cpu()``; write the device as text.
#
# ``clear_device_`` takes back the promise and touches no tensor. From then on new entries stay where they are:

steps.clear_device_()
steps["label"] = torch.arange(6)
print(steps.device, steps["joints"].device, steps["label"].device)

# %%
# .. testoutput::
#
#    None npu:0 cpu
#
# Tensors that live in files
# --------------------------
#
# ``memmap`` writes each tensor of a batch into a file and returns a batch over these files. The operating system reads
# the pages that you index, when you index them, so the whole set never has to fit into memory:

import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
stored = host.memmap(folder / "set")
print(type(stored["joints"]).__name__, stored.device, stored.is_locked)
for path in sorted((folder / "set").iterdir()):
    print(path.name, path.stat().st_size)

# %%
# .. testoutput::
#
#    MemoryMappedTensor cpu True
#    joints.memmap 72
#    meta.json 320
#    torque.memmap 72
#
# Six steps of three float32 values are 72 bytes: a file holds the values and nothing else. Shapes and dtypes are in
# ``meta.json``. The batch is locked, since its keys are the files.
#
# Room for data to come
# ---------------------
#
# When the data does not exist yet, ``memmap_like`` makes files of the right size, filled with zeros. One row tells it
# the keys, shapes and dtypes; ``expand`` gives it the length:

row = host[0]
room = row.expand(1000, *row.batch_size).memmap_like(folder / "room")
print(room.batch_size, room["joints"].sum().item())
room[10:16] = host
print((room["joints"] != 0).any(-1).nonzero().flatten())

# %%
# .. testoutput::
#
#    torch.Size([1000]) 0.0
#    tensor([10, 11, 12, 13, 14, 15])
#
# Assigning to an index writes into the files. Assigning to a key would replace a file by a tensor, which the lock
# refuses:

try:
    room["torque"] = torch.zeros(1000, 3)
except RuntimeError as error:
    print(error)

# %%
# .. testoutput::
#
#    Cannot modify locked TensorDict. For in-place modification, consider using the `set_()` method and make sure the key is present.
#
# Files without a name
# --------------------
#
# With an underscore, ``memmap_`` converts the batch itself instead of returning another one. Without a path, the
# tensors move into shared memory that has no name: it serves this process and its workers, and is gone when they end.
# The lock holds the keys, not the values, which you can still write:

scratch = TensorDict(load=torch.ones(3), pose=TensorDict(angle=torch.zeros(3)), batch_size=[3])
print(scratch.memmap_() is scratch, scratch.is_locked)
scratch["load"][0] = 5
print(scratch["load"])

# %%
# .. testoutput::
#
#    True True
#    MemoryMappedTensor([5., 1., 1.])
#
# To keep such a batch, give it a path. A tensordict inside it becomes a folder:

scratch.memmap(folder / "named")
for path in sorted((folder / "named").rglob("*")):
    print(path.relative_to(folder / "named"))

# %%
# .. testoutput::
#
#    load.memmap
#    meta.json
#    pose
#    pose/angle.memmap
#    pose/meta.json
#
# Read it elsewhere
# -----------------
#
# Another program needs only the folder. Loading reads ``meta.json`` and no values; what you index and move is what is
# read and copied:

from tensordict import load_memmap

found = load_memmap(folder / "room")
batch = found[10:16].to("npu:0")
print(found.batch_size, batch.batch_size, batch.device)
print(torch.equal(batch["joints"], host["joints"].to("npu:0")))

# %%
# .. testoutput::
#
#    torch.Size([1000]) torch.Size([6]) npu:0
#    True
#
# The other way round, an NPU batch goes into files through the host; its copy on disk is a CPU batch:

back = batch.memmap(folder / "back")
print(batch.device, back.device)

# %%
# .. testoutput::
#
#    npu:0 cpu
#
# What to take along
# ------------------
#
# - A device on the batch is a promise for all its entries; no device means that each entry answers for itself.
# - ``to`` moves the whole batch and returns a new one. ``clear_device_`` moves nothing.
# - ``memmap`` and ``memmap_`` store what there is, ``memmap_like`` makes room for what will be. The batch that comes
#   back is locked, and only with a path can another program load it.
# - Index before you move: only what you index is read from disk and copied to the NPU.
#
# Read on in :doc:`/features/memory-mapped` about formats, locks and data sets, in :doc:`/features/construction` about
# devices at construction, and in :doc:`/features/preallocation` about filling a batch step by step.
