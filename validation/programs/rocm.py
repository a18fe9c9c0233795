"""What CMake looks for of a ROCm, beside our `hipcc`: packages of the runtime and of the libraries that are there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

FOLDER = "rocm"
_COMPILER = "llvm/bin/clang++"
"""CMake's language HIP wants a clang and no hipcc."""
_NAMESPACES = {
    "hipblas": "roc",
    "hipcub": "hip",
    "hipfft": "hip",
    "hiprand": "hip",
    "hipsparse": "roc",
    "rccl": "roc",
    "rocprim": "roc",
    "rocrand": "roc",
    "rocthrust": "roc",
}
"""Libraries by the namespace of their targets."""
_HEADERS = {"hipcub": "hipcub", "rocprim": "rocprim", "rocrand": "rocrand", "rocthrust": "thrust"}
"""Folders of those that are headers alone."""
_RUNTIME = """foreach(_porter_name {targets})
  if(NOT TARGET ${{_porter_name}})
    add_library(${{_porter_name}} INTERFACE IMPORTED)
    set_target_properties(${{_porter_name}} PROPERTIES {includes}
      INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
      INTERFACE_LINK_LIBRARIES "{library}/libamdhip64.so")
  endif()
endforeach()
"""
_HIP = _RUNTIME + 'set(hip_INCLUDE_DIRS "{headers}")\nset(HIP_INCLUDE_DIRS "{headers}")\nset(HIP_PLATFORM amd)\n'
_LANGUAGE = _RUNTIME + "set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)\n"
_STAND_IN = """if(NOT EXISTS "{folder}")
  execute_process(COMMAND {build} {name} RESULT_VARIABLE _porter_code ERROR_VARIABLE _porter_said)
  if(_porter_code)
    message(FATAL_ERROR "${{_porter_said}}")
  endif()
endif()
"""
_LIBRARY = """if(NOT TARGET {target})
  add_library({target} INTERFACE IMPORTED)
  set_target_properties({target} PROPERTIES {includes}{link})
endif()
"""
_VERSION = "set(PACKAGE_VERSION {version})\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"


def environment(tools: Path, given: Mapping[str, str]) -> dict[str, str]:
    """The variables by which CMake finds it."""
    rocm = tools / FOLDER
    places = [str(rocm), *filter(None, [given.get("CMAKE_PREFIX_PATH")])]
    found = {"HIPCXX": str(rocm / _COMPILER), "CMAKE_PREFIX_PATH": os.pathsep.join(places)}
    return {**found, "HIP_PLATFORM": "amd"}  # where there is an nvcc, too, a distribution's hipconfig says nvidia


def texts(
    headers: Path, include: bool, library: Path, version: str, stand_ins: Mapping[str, str], build: list[str]
) -> Iterator[tuple[str, str]]:
    """The files below the folder, and their texts. `include`: whether compilers have to be told of the headers."""
    includes = f'INTERFACE_INCLUDE_DIRECTORIES "{headers}"' if include else ""
    known = {"includes": includes, "library": library, "headers": headers}
    packages = {
        "hip": _HIP.format(targets="hip::host hip::amdhip64 hip::device", **known),
        "hip-lang": _LANGUAGE.format(targets="hip-lang::device hip-lang::amdhip64", **known),
    }
    for name, space in _NAMESPACES.items():
        target = f"{space}::{name}" if space else name
        if name in _HEADERS and (headers / _HEADERS[name]).is_dir():
            packages[name] = _LIBRARY.format(target=target, includes=includes, link="")
        elif name in stand_ins:
            folder = stand_ins[name]
            link = f' INTERFACE_LINK_LIBRARIES "{folder}/lib{name}.so"'
            words = " ".join(f"[==[{word}]==]" for word in build)
            packages[name] = _STAND_IN.format(folder=folder, build=words, name=name)
            packages[name] += _LIBRARY.format(target=target, includes=includes, link=link)
    for name, text in packages.items():
        yield f"lib/cmake/{name}/{name}-config.cmake", text
        yield f"lib/cmake/{name}/{name}-config-version.cmake", _VERSION.format(version=version)
    yield "bin/rocm_agent_enumerator", "#!/bin/sh\necho gfx942\n"


def lay_out(tools: Path, files: Mapping[str, str]) -> None:
    """Writes the folder, with our compiler under the names that are looked for."""
    rocm = tools / FOLDER
    for name, text in files.items():
        place = rocm / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        if name.startswith("bin/"):
            place.chmod(0o755)
    for name in (_COMPILER, "bin/hipcc"):
        place = rocm / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(Path(*[".."] * name.count("/"), "..", "hipcc"))
