"""K309: what scripts ask a cluster for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.clusters import DIRECTIVES, LAUNCHERS, SERIES
from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports

_BEGIN = r"(?:^|[;&|({`]|\b(?:then|else|do)\b)[ \t]*"
_LOADED = re.compile(
    rf"{_BEGIN}(?:module[ \t]+(?:-\w+[ \t]+)?(?:load|add|try-load|swap|switch)|ml(?:[ \t]+(?:load|add))?"
    r"|spack[ \t]+load)[ \t]+([^\n;&|#>]+)",
    re.MULTILINE,
)
_NVIDIAS = re.compile(
    r"(?:^|/)(?:cuda(?:-?toolkit|core)?|cudnn|nccl|nvhpc[a-z-]*|nvidia|prgenv-nv(?:idia|hpc)|craype-accel-nvidia\d*|"
    r"nsight[a-z-]*)(?=[-_/@.]|\d|$)|[-_+]cuda(?![a-z])",
    re.IGNORECASE,
)
_LOADS_AMDS = re.compile(
    r"\b(?:load|add|ml|swap|switch)[ \t][^\n#]*\b(?:rocm|craype-accel-amd|amd-mixed|prgenv-amd)", re.IGNORECASE
)
"""A script of several vendors' machines."""
_VARIANT = re.compile(r"\bspack[ \t][^\n#]*?[ \t+](\+?cuda[ \t]+cuda_arch=\w+|cuda_arch=\w+|\+cuda\b)")
_ASKS = re.compile(
    rf"^[ \t]*{DIRECTIVES}[ \t]([^\n]*)|{_BEGIN}{LAUNCHERS}[ \t]((?:[^\n;&|]|\\\n)*)",
    re.MULTILINE,
)
_TYPE = re.compile(
    r"(?:--gres[= ]\S*?gpu:|--gpus(?:-per-\w+)?[= ]|-G[ \t]*|(?:--constraint|--partition)[= ]|-[Cpq][ \t]+"
    r"|\bgpu_(?:model|type)[=:]|\bgmodel=|\baccelerator_(?:model|type)=)"
    rf"[\"']?(?:[\w*&|(\[-]*[&|(\[_-])?((?:{SERIES})(?:[-_][\w.-]+)?)(?=[:,;&|)\]\s\"']|$)",
    re.IGNORECASE,
)


class ClusterJob(BuildRule):
    """Modules and GPUs of NVIDIA's that a script asks a cluster for

    `module load cuda/12.1` fails, or brings CUDA, where ROCm's module (`rocm/6.4`; on Cray's systems
    `craype-accel-amd-gfx942`) is wanted. A job that asks Slurm, PBS, LSF or Flux for an NVIDIA GPU by its name
    (`--gres=gpu:a100:1`, `--constraint=v100`) waits for a machine on which the port does not run; how MI300X is called
    is the site's to say. `--gres=gpu:1` asks for any GPU and stays. Told once per file and word; of
    modules nothing is said in a script that loads ROCm's as well.
    """

    code = "K309"
    kinds = frozenset({Kind.SHELL, Kind.MAKE})
    examples = (
        clean("module load gcc rocm/6.4 openmpi/4.1\nhipcc a.hip\n", path="run.sh"),
        clean("#SBATCH --gres=gpu:1\n#SBATCH -C mi300x\n./a --use-cuda\n", path="run.sh"),
        clean('if [ "$GPU" = cuda ]; then module load cuda; else module load rocm; fi\n', path="run.sh"),
        clean("# module load cuda/12\n# a note on --gres=gpu:a100\n./a\n", path="run.sh"),
        clean("#SBATCH -p gpu -J t4\n#SBATCH --mem=a100\n#SBATCH --job-name=v100\n", path="run.sh"),
        clean("echo load the module cuda/12\nhtml cuda/12\n", path="run.sh"),
        clean("srun ./bench -p t4000 --gpus 4 --mode volta\n", path="run.sh"),
        reports("module load gcc/12 cuda/12.1\n", path="run.sh", effort=Effort.REVIEW),
        reports("module purge; module load CUDA\n", path="run.sh", effort=Effort.REVIEW),
        reports("module swap PrgEnv-gnu PrgEnv-nvidia\n", path="run.sh", effort=Effort.REVIEW),
        reports("if true; then ml cudatoolkit/11.8; fi\n", path="run.sh", effort=Effort.REVIEW),
        reports("module load craype-accel-nvidia80\n", path="run.sh", effort=Effort.REVIEW),
        reports("module load libs/nvidia-cuda/12.1/bin\n", path="run.sh", effort=Effort.REVIEW),
        reports("module load openmpi/4.1.5-cuda\n", path="job.slurm", effort=Effort.REVIEW),
        reports("spack install amrex +cuda cuda_arch=80\n", path="run.sh", effort=Effort.REVIEW),
        reports("#!/bin/bash\n#SBATCH --gres=gpu:a100:4\n./a\n", path="job.sbatch", effort=Effort.REVIEW),
        reports('#SBATCH --constraint="h100|a100"\n./a\n', path="run.sh", effort=Effort.REVIEW),
        reports("#SBATCH -p gpu_v100\n./a\n", path="run.sh", effort=Effort.REVIEW),
        reports("#PBS -l select=1:ngpus=1:gpu_model=a100\n./a\n", path="job.pbs", effort=Effort.REVIEW),
        reports('#BSUB -gpu "num=1:gmodel=NVIDIAA100_SXM4_80GB"\n./a\n', path="job.lsf", effort=Effort.REVIEW),
        reports("srun --gpus-per-node=rtx3090:2 ./a\n", path="run.sh", effort=Effort.REVIEW),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        told: set[str] = set()
        for start, (word, message) in sorted({**dict(_modules(unit.text)), **dict(_types(unit.text))}.items()):
            if word.lower() not in told:
                told.add(word.lower())
                yield self.finding(unit, start, start + len(word), f"{word}: {message}", Effort.REVIEW)


def _modules(text: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Where something of NVIDIA's is loaded, what, and what is said of it; the last of a place counts."""
    message = "a module for NVIDIA's GPUs: ROCm's has a name of the site's, mostly rocm/VERSION"
    asks = ("cuda" in text.lower() or "nv" in text) and _LOADS_AMDS.search(text) is None
    for loaded in _LOADED.finditer(text) if asks else ():
        for word in re.finditer(r"[^\s\"']+", loaded[1]):
            if not word[0].startswith("-") and _NVIDIAS.search(word[0]) is not None:
                yield loaded.start(1) + word.start(), (word[0], message)
    for variant in _VARIANT.finditer(text) if "spack" in text else ():
        yield variant.start(1), (variant[1], "Spack builds for AMD's GPUs with +rocm amdgpu_target=gfx942")


def _types(text: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Where a job asks for a GPU by a name of NVIDIA's, the name, and what is said of it."""
    message = "a GPU of NVIDIA's, which the job asks for: MI300X has another name at each site"
    for asks in _ASKS.finditer(text):
        for kind in _TYPE.finditer(text, *asks.span(1 if asks[1] is not None else 2)):
            yield kind.start(1), (kind[1], message)
