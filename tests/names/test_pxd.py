"""The reader of Cython declarations."""

from __future__ import annotations

from porter.names.derive.pxd import read_pxd

TEXT = """
# a comment, with cdef in it
from libc.stdint cimport *
ctypedef bint _Bool
cdef extern from "hip/hip_runtime.h":

    cdef int HIP_VERSION_MAJOR

    ctypedef enum hipMemcpyKind:
        hipMemcpyHostToHost
        hipMemcpyHostToDevice

    cdef struct ihipStream_t:
        pass

    ctypedef ihipStream_t * hipStream_t

    cdef struct dim3:
        unsigned int x
        unsigned int y
# @brief  cdef hipError_t notThis(int)
cdef hipError_t hipMemcpyAsync(void * dst,const void * src,unsigned long n,hipMemcpyKind kind) except? hipFine nogil
cdef const char * hipGetErrorName(hipError_t hip_error) noexcept nogil
"""


def test_pxd() -> None:
    """Functions, enumerators, types, fields, constants; marked as seen through a binding."""
    found = {(d.kind, d.name): d for d in read_pxd(TEXT)}
    copy = found["function", "hipMemcpyAsync"]
    assert [p.type for p in copy.overloads[0].parameters][2:] == ["unsigned long", "hipMemcpyKind"]
    assert found["function", "hipGetErrorName"].overloads[0].result == "const char *"
    assert found["enumerator", "hipMemcpyHostToDevice"].owner == "hipMemcpyKind"
    assert found["type", "hipStream_t"].target == "ihipStream_t *"
    assert found["field", "y"].owner == "dim3"
    assert found["macro", "HIP_VERSION_MAJOR"].header == "hip/hip_runtime.h"
    assert ("function", "notThis") not in found
    assert all(declaration.binding for declaration in found.values())
