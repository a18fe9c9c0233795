"""Cache policies and hints: they change no value."""

from __future__ import annotations

import numpy as np
from porter.validation.devices.core.result import Ran

from tests.ptx.conftest import LoadPtx

CODE = """
.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .b64 %a, %b, %policy<3>, %at;
    .reg .b32 %t, %v, %w;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
    mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8; add.u64 %a, %a, %at; add.u64 %b, %b, %at;
    createpolicy.fractional.L2::evict_first.b64 %policy0, 1.0;
    createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %policy1, 0.5;
    createpolicy.range.L2::evict_last.L2::evict_unchanged.b64 %policy2, [%a], 64, 128;
    ld.global.L1::evict_first.L2::cache_hint.b32 %v, [%a], %policy0;
    ld.global.L1::no_allocate.L2::cache_hint.L2::128B.b32 %w, [%a + 4], %policy1;
    st.global.L1::evict_last.L2::cache_hint.v2.b32 [%b], {%w, %v}, %policy2;
}
"""


def test_hints_change_no_value(load_ptx: LoadPtx) -> None:
    x = np.arange(128, dtype=np.int32)
    done = load_ptx(CODE).launch("k", 1, 64, [x, np.zeros(128, np.int32)])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(1).reshape(64, 2), x.reshape(64, 2)[:, ::-1])
