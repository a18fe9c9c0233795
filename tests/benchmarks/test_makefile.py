"""What is read from a Makefile."""

from __future__ import annotations

from benchmarks.makefile import parse_makefile

TEXT = """
CC = nvcc
ARCH ?= sm_70
DEBUG = no
source = main.cu \\
         other.cpp
EXTRA := -I./inc
CFLAGS := $(EXTRA) -std=c++17 -arch=$(ARCH) -DSIZE=8 -I ../shared-cuda
ifeq ($(DEBUG),yes)
  CFLAGS += -DDEBUG
else
  CFLAGS += -DFAST
endif
%.o: %.cu kernels.cu
\t$(CC) $(CFLAGS) -DGPU -c $< # -DCOMMENT
"""


def test_default_configuration() -> None:
    flags = parse_makefile(TEXT)
    assert flags.includes == ("./inc", "../shared-cuda")
    assert flags.defines == ("SIZE=8", "FAST", "GPU")
    assert flags.sources == ("main.cu", "other.cpp")


def test_functions_are_not_run() -> None:
    assert parse_makefile("X = $(shell touch /tmp/never)\nCFLAGS = -I$(shell pwd)\n").includes == ()


def test_unbalanced_endif_is_harmless() -> None:
    assert parse_makefile("endif\nCFLAGS = -DA\n").defines == ("A",)
