"""Code objects as other tools leave them: compressed, bare in a library, with labels and several names."""

from __future__ import annotations

import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Device, Module
from porter.validation.devices.gfx942.disassembly import branch_target
from porter.validation.devices.gfx942.text import Unreadable, parse_instruction
from porter.validation.toolchain.clang import Missing, find_clang

from tests.outside import require

TEXT = """
  .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
  .text
  .p2align 8
  .type k,@function
  .type label_before,@function
  .type label_inside,@function
k:
label_before:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx8 s[8:15], s[6:7], 0x0
  s_load_dword s16, s[6:7], 0x28
  s_waitcnt lgkmcnt(0)
label_inside:
  v_mov_b32_e32 v1, 0
  v_writelane_b32 v1, s10, 0
  v_writelane_b32 v1, s11, 1
  v_writelane_b32 v1, s14, 2
  v_writelane_b32 v1, s16, 3
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 .Lstore
  s_endpgm
.Lstore:
  global_store_dword v0, v1, s[4:5]
  s_endpgm
.Lend:
  .size k, .Lend-k
  .size label_before, 0
  .rodata
  .amdhsa_kernel k
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 32
    .amdhsa_accum_offset 8
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .sgpr_count: 32
    .vgpr_count: 8
    .agpr_count: 0
    .max_flat_workgroup_size: 1024
    .wavefront_size: 64
    .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
      - .offset: 8
        .size: 8
        .value_kind: hidden_multigrid_sync_arg
  .end_amdgpu_metadata
"""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A code object."""
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    require("ld.lld")
    folder = tmp_path_factory.mktemp("object")
    (folder / "k.s").write_text(TEXT)
    command = [clang.path, "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-x", "assembler", str(folder / "k.s"),
               "-o", str(folder / "k.co")]  # fmt: skip
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return (folder / "k.co").read_bytes()


def bundle(content: bytes) -> bytes:
    """An offload bundle of the host, another target and ours."""
    entries = [(b"host-x86_64-unknown-linux--", b""), (b"hipv4-amdgcn-amd-amdhsa--gfx1100", b"\x7fELF other"),
               (b"hipv4-amdgcn-amd-amdhsa--gfx942", content)]  # fmt: skip
    head, place, body = struct.pack("<Q", len(entries)), 4096, b""
    for name, code in entries:
        head += struct.pack("<3Q", place + len(body), len(code), len(name)) + name
        body += code
    return (b"__CLANG_OFFLOAD_BUNDLE__" + head).ljust(place, b"\0") + body


def compressed(content: bytes, version: int, method: int) -> bytes:
    """The same in the compressed form of a version."""
    plain = bundle(content)
    packed = zlib.compress(plain) if method == 0 else zstandard.ZstdCompressor().compress(plain)
    size = {1: 20, 2: 24, 3: 32}[version] + len(packed)
    sizes = {
        1: struct.pack("<I", len(plain)),
        2: struct.pack("<II", size, len(plain)),
        3: struct.pack("<QQ", size, len(plain)),
    }
    return b"CCOB" + struct.pack("<HH", version, method) + sizes[version] + bytes(8) + packed


def runs(device: Device, path: Path) -> None:
    """The kernel finds the structure of a grid that is alone."""
    module = device.compile_object(path)
    assert isinstance(module, Module), module
    done = module.launch("k", 3, 64, [np.zeros(64, np.uint32)])
    assert isinstance(done, Ran), done
    assert list(done.output(0)[:4]) == [0, 1, 192, 3]  # grid, grids, threads, blocks


@pytest.mark.parametrize("method", [0, 1])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_compressed_bundles(device: Device, tmp_path: Path, content: bytes, version: int, method: int) -> None:
    path = tmp_path / "bundle.hsaco"
    path.write_bytes(
        compressed(content, version, method) + (b"" if version == 1 else compressed(content, version, method))
    )
    runs(device, path)


def test_a_bundle_of_a_later_version_says_so(device: Device, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bundle.hsaco"
    path.write_bytes(b"CCOB" + struct.pack("<HH", 9, 1) + bytes(100))
    found = device.compile_object(path)
    assert isinstance(found, NotRun) and "version 9" in found.reason


def test_a_code_object_alone_and_one_bare_in_a_library(device: Device, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k.co"
    path.write_bytes(content)
    runs(device, path)
    library = tmp_path / "library.so"  # an ELF file of the host with the other one among its data
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
    library.write_bytes(head + bytes(100) + content + bytes(100))
    runs(device, library)


def test_labels_as_targets() -> None:
    branch = parse_instruction("s_cbranch_scc1 inside", 3)
    assert branch_target(branch, {"inside": 0x1900}) == 0x1900
    with pytest.raises(Unreadable, match="unknown label"):
        branch_target(branch, {})
