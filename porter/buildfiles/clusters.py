"""What NVIDIA's GPUs are called where a cluster's scheduler is asked for one."""

from __future__ import annotations

SERIES = "|".join(
    (
        *("[abghlpv][1-9]00s?", "gh200", "gb[23]00", "[ah]800", "h20", "[bl]40s?", "[alt][24]", "a10g?", "a[13]6"),
        *("a30", "p40?", "k[248]0[mx]?", "m[46]0", "a[456]000"),
        r"(?:rtx|gtx|quadro|titan|tesla|geforce|nvidia)[\w-]*",
        *("hopper", "blackwell", "ampere", "volta", "turing", "pascal", "kepler"),
    )
)
"""A regular expression, for either case."""
DIRECTIVES = r"#[ \t]?(?:SBATCH|PBS|BSUB|FLUX:|COBALT|OAR|\$)"
"""Comments that Slurm, PBS, LSF, Flux, Cobalt, OAR and Grid Engine read."""
LAUNCHERS = r"(?:srun|salloc|sbatch|qsub|bsub|flux[ \t]+\w+|jsrun)"
