"""Makefiles that have a fault for the grammar: what stands around it is read all the same."""

from __future__ import annotations

import pytest

from porter.buildfiles.make import Makefile, parse_make, parse_shell

FAULTS = (
    'SAY = @bash -c \'[[ "$$2" =~ ^$(subst .,\\.,$(DIR))/(.*)$$ ]] && p="$${BASH_REMATCH[1]}"\' SAY\n',
    "VERSION := $(shell echo $$(( $(MAJOR) * 100 + $(MINOR) )) )\n",
    'LIB = $(shell python -c "import tensorflow as tf; print(tf.sysconfig.get_lib())")\nifeq ($(A), 1)\nendif\n',
)


def assigned(make: Makefile) -> list[tuple[str, str]]:
    """Names and values."""
    return [(one.name, make.text[one.start : one.end]) for one in make.assignments]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", [True, False])
def test_assignments_and_recipes_around_a_fault(fault: str, before: bool) -> None:
    rest = (
        "NVCCFLAGS=-O3 \\\n\t-gencode arch=compute_61,code=sm_61 \\\n\t$(ABI) # -lineinfo\n\nOBJS=\\\n\ta.o\n"
        "a.o: a.cu a.h\n\t@mkdir -p build\n\tnvcc $(NVCCFLAGS) -c $< -o $@\n"
        "export CUDA := /usr/local/cuda\nifdef B\n\tLAST ?= -G\nendif\n"
    )
    make = parse_make((fault + rest if before else rest + fault).encode())
    values = dict(assigned(make))
    assert values["NVCCFLAGS"].split() == ["-O3", "\\", "-gencode", "arch=compute_61,code=sm_61", "\\", "$(ABI)"]
    assert values["OBJS"].split()[-1] == "a.o"
    assert values["CUDA"] == "/usr/local/cuda"
    assert values["LAST"] == "-G"
    recipes = [(make.text[one.start : one.end].lstrip("@"), one.first) for one in make.lines]
    assert ("nvcc $(NVCCFLAGS) -c $< -o $@", "a.cu") in recipes
    starts = [one.start for one in make.assignments]
    assert starts == sorted(set(starts))
    assert len(make.comments) == 1


def test_bodies_of_definitions_are_read() -> None:
    recipes = "$(1).o: $(1).cu\n\t$(NVCC) $(F) -dc $$< -o $$@\n@$(NVCC) $3 \\\n -dw $2\n"
    text = "define D\n" + recipes + "ifdef A\nF = -G\nendif\nendef\nB = 1\n"
    make = parse_make(text.encode())
    lines = [(make.text[one.start : one.end], one.first) for one in make.lines]
    assert lines == [("$(NVCC) $(F) -dc $$< -o $$@", "$(1).cu"), ("@$(NVCC) $3 \\\n -dw $2", "")]
    assert assigned(make) == [("F", "-G"), ("B", "1")]


def test_directives_and_rules_are_no_assignments() -> None:
    fault = FAULTS[0]
    text = fault + "ifeq ($(X),y = z)\nendif\n.PHONY: all\nall: B = 2\nt: p ; echo C=3\n# E = 4\n"
    names = {name for name, _ in assigned(parse_make(text.encode()))}
    assert not names & {"C", "E", "ifeq", "y"}


def test_lines_end_as_they_do() -> None:
    make = parse_make((FAULTS[1] + "F = -G \\\r\n -O1\r\nG = 2\r\n").encode())
    assert ("G", "2") in assigned(make)
    assert dict(assigned(make))["F"].split() == ["-G", "\\", "-O1"]


def test_what_is_evaluated_is_assigned() -> None:
    text = "S = 70\n$(foreach s, ${S}, $(eval F += -gencode arch=compute_$(s),code=sm_$(s)))\n$(eval G := -G)\nH = 1\n"
    values = assigned(parse_make(text.encode()))
    assert values == [("S", "70"), ("F", "-gencode arch=compute_$(s),code=sm_$(s)"), ("G", "-G"), ("H", "1")]


def test_words_in_the_quotes_of_a_script() -> None:
    text = 'F="-x cu -arch=sm_$N"\nG=\'-G\'\nH=-O3\nI="a"b"c"\nJ=""\nK+=" -G"\n'
    assert assigned(parse_shell(text.encode())) == [
        ("F", "-x cu -arch=sm_$N"),
        ("G", "-G"),
        ("H", "-O3"),
        ("I", '"a"b"c"'),
        ("J", ""),
        ("K", " -G"),
    ]
