"""PyTorch's hipify over a folder, for comparison: `python -m benchmarks.torch_hipify SRC OUT`."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path


def main(argv: list[str]) -> int:
    """Prints how long the import and the work took, in wall and CPU seconds.

    Each folder of SRC is a project of its own, so that one that hipify cannot read does not stop the others.
    """
    source, out = (Path(argument).resolve() for argument in argv)
    shutil.copytree(source, out, symlinks=True)
    wall, cpu = time.perf_counter(), time.process_time()
    from torch.utils.hipify.hipify_python import hipify

    print(f"import {time.perf_counter() - wall:.3f} {time.process_time() - cpu:.3f}")
    wall, cpu = time.perf_counter(), time.process_time()
    for folder in sorted(path for path in out.iterdir() if path.is_dir()):
        try:
            hipify(str(folder), output_directory=str(folder), show_progress=False, is_pytorch_extension=True)
        except (OSError, ValueError) as error:
            print(f"failed {folder.name}: {error}")
    print(f"hipify {time.perf_counter() - wall:.6f} {time.process_time() - cpu:.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
