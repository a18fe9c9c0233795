"""Which branches of setup.py are on in a build for AMD."""

from __future__ import annotations

import ast

import pytest
from porter.validation.build.conditions import truth

CONDITIONS = (
    ("torch.version.hip", True),
    ("torch.version.hip is not None", True),
    ("not torch.version.hip", False),
    ("torch.version.cuda is None", True),
    ("torch.cuda.is_available() and CUDA_HOME is not None", True),
    ("IS_HIP_EXTENSION", True),
    ("self.use_rocm", True),
    ("device == 'cuda'", True),
    ("'cuda' in targets", True),
    ("os.getenv('FORCE_CUDA', '0') == '1'", True),
    ("os.getenv('WITH_METIS', '0') == '1'", False),
    ("os.environ.get('DEBUG') is not None", False),
    ("os.getenv('DEBUG')", False),
    ("sys.platform == 'win32'", False),
    ("os.name != 'nt'", True),
    ("os.name == 'nt' or torch.version.hip", True),
    ("os.path.exists(os.path.join(d, 'ATen', 'CUDAGeneratorImpl.h'))", None),
    ("cuda_version >= Version('11.0')", None),
    ("CUDA_VERSION == 12", None),
    ("with_metis", None),
    ("unknown and torch.version.cuda", False),
)


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS)
def test_condition(condition: str, holds: bool | None) -> None:
    assert truth(ast.parse(condition, mode="eval").body) is holds
