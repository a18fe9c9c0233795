"""K308: NVIDIA's tools and container runtime in Makefiles and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports
from porter.buildfiles.written import is_said

_CONTAINER = re.compile(
    r"(?i:docker|podman|nerdctl)[^\n;|&]*?(?:\\\n[^\n;|&]*?)*?\s[\"']?(--gpus(?![\w-])|--runtime[= ]nvidia\b)"
)
_KEPT = re.compile(r"(?<=[\"'])--gpus(?=[= ]all\b)")
"""In a variable, for a call of docker somewhere."""
_TOOL = re.compile(r"(?<![\w/.-])(?:/usr/(?:local/)?bin/)?nvidia-(?:smi|docker)\b(?![-.\w]*\.(?:txt|log|csv))(?!-)")
_HAS_AMDS = re.compile(r"rocm|amd-smi|/dev/kfd", re.IGNORECASE)
_DEVICES = "--device=/dev/kfd --device=/dev/dri --group-add video"
_INSTEAD = {
    "--gpus": f"NVIDIA's runtime for containers: AMD's GPUs are {_DEVICES}",
    "--runtime": f"NVIDIA's runtime for containers: AMD's GPUs are {_DEVICES}",
    "nvidia-docker": f"NVIDIA's runtime for containers: docker with {_DEVICES}",
    "nvidia-smi": "there is none with ROCm: rocm-smi or amd-smi, whose options and output are others",
}


class GpuContainer(BuildRule):
    """Containers with NVIDIA's GPUs, and nvidia-smi, in a Makefile or script

    `docker run --gpus all` and `--runtime=nvidia` ask for NVIDIA's runtime; a container gets AMD's GPUs by
    `--device=/dev/kfd --device=/dev/dri --group-add video`. `nvidia-smi` is not there: scripts that look for it find no
    GPU and go on without one, those that read its output need that of `rocm-smi` or `amd-smi`. Told once per file and
    tool, and not in files that name ROCm as well. Workflows and compose files are E216.
    """

    code = "K308"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    examples = (
        clean("docker run --rm image nvcc --version\n", path="run.sh"),
        clean("python train.py --gpus 4  # nvcc\nsrun --gpus=1 ./a\n", path="run.sh"),
        clean("# docker run --gpus all, then nvidia-smi\nnvcc a.c\n", path="run.sh"),
        clean('nvcc a.c || echo "no GPU: look at nvidia-smi"\n', path="run.sh"),
        clean("nvcc a.c\nif rocm-smi; then :; else nvidia-smi; fi\n", path="run.sh"),
        clean("nvcc a.c\ncat nvidia-smi.log docs/nvidia-smi-notes\n", path="run.sh"),
        clean("docker build .; python train.py --gpus 2\nnvcc a.c\n", path="run.sh"),
        clean("all:\n\t@echo run nvidia-smi first\n\tnvcc a.c", path="Makefile"),
        reports("docker run --rm --gpus all image ./a\n", path="run.sh", effort=Effort.REVIEW),
        reports("docker run --rm \\\n  -v a:b \\\n  --gpus all image ./a\n", path="run.sh", effort=Effort.REVIEW),
        reports('DOCKER_ARGS="--rm --gpus all"\n', path="run.sh", effort=Effort.REVIEW),
        reports('ARGS="--gpus all"\n', path="run.sh", effort=Effort.REVIEW),
        clean('nvcc a.c\nARGS="--gpus 4"\npython train.py --gpus all\n', path="run.sh"),
        reports("run:\n\tdocker run --runtime=nvidia image", path="Makefile", effort=Effort.REVIEW),
        reports("run:\n\tnvidia-docker run image", path="Makefile", effort=Effort.REVIEW),
        reports("N=$(nvidia-smi -L | wc -l)\n", path="run.sh", effort=Effort.REVIEW),
        reports("if command -v nvidia-smi >/dev/null; then ./gpu; fi\n", path="run.sh", effort=Effort.REVIEW),
        reports("GPUS := $(shell nvidia-smi -L | wc -l)\n", path="Makefile", effort=Effort.REVIEW),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        text = unit.text
        if not ("nvidia" in text or "--gpus" in text) or _HAS_AMDS.search(text) is not None:
            return
        told: set[str] = set()
        for first, code in unit.makefile.code:
            places = [found.span(1) for found in _CONTAINER.finditer(code)]
            places += [found.span() for one in (_TOOL, _KEPT) for found in one.finditer(code)]
            for start, end in sorted(places):
                word = code[start:end]
                tool = next(name for name in _INSTEAD if name in word)
                if tool not in told and not is_said(text, first + start):
                    told.add(tool)
                    message = f"{word}: {_INSTEAD[tool]}"
                    yield self.finding(unit, first + start, first + end, message, Effort.REVIEW)
