"""The samples' kernels, as nvcc compiles them, against the samples' own references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import Module

from tests.later import later
from tests.ptx.conftest import CompileCuda
from tests.samples.loading import SAMPLES, reference

if TYPE_CHECKING:
    import torch
else:
    torch = later("torch")

Array = NDArray[Any]
pytestmark = pytest.mark.slow
SCHEDULES = [None, 1, 2]


def kernel(module: Module, name: str) -> str:
    """The mangled name that holds this one."""
    found = [k for k in module.kernels if f"{len(name)}{name}" in k]
    assert len(found) == 1, (name, module.kernels)
    return found[0]


def run(module: Module, name: str, grid: Any, block: Any, args: list[Any], **options: Any) -> Ran:
    """A launch that must succeed."""
    shared = options.pop("shared", 0)
    done = module.launch(kernel(module, name), grid, block, args, shared, Options(**options))
    assert isinstance(done, Ran), str(done)
    return done


def tensor(array: Array) -> torch.Tensor:
    """For the references."""
    return torch.from_numpy(np.ascontiguousarray(array))


@pytest.fixture(scope="session")
def sample(compile_file: CompileCuda) -> Any:
    """Compiled samples by name."""
    made: dict[str, Module] = {}

    def get(name: str, file: str | None = None) -> Module:
        if name not in made:
            made[name] = compile_file(SAMPLES / name / (file or f"{name}.cu"), f"-I{SAMPLES / name / 'include'}")
        return made[name]

    return get


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000])
def test_axpby(sample: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((2, n), np.float32)
    done = run(sample("elementwise"), "axpby", 3, 64, [x, y, np.full(n, 7, np.float32), 2.5, -1.5, n])
    want = reference("elementwise").reference_axpby(tensor(x), tensor(y), 2.5, -1.5)
    np.testing.assert_allclose(done.output(2), want.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", [32, 96, 512])
def test_block_sum(sample: Any, threads: int, schedule: int | None) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(5001).astype(np.float32)
    out = np.full(6, np.nan, np.float32)
    args = [x, out, x.size, 1000]
    done = run(sample("block_reduce"), "block_sum", 6, threads, args, schedule=schedule, races=True)
    want = reference("block_reduce").reference_block_sum(tensor(x), 1000)
    np.testing.assert_allclose(done.output(1), want.numpy(), atol=1e-4)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_warp_scan_rows(sample: Any, schedule: int | None) -> None:
    x = np.random.default_rng(5).standard_normal((7, 32)).astype(np.float32)
    inclusive, exclusive = np.zeros_like(x), np.zeros_like(x)
    done = run(sample("warp_scan"), "warp_scan_rows", 2, 128, [x, inclusive, exclusive, 7], schedule=schedule)
    want = reference("warp_scan").reference_warp_scan_rows(tensor(x))
    np.testing.assert_allclose(done.output(1), want[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(done.output(2), want[1].numpy(), atol=1e-5)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_wmma_gemm(sample: Any, schedule: int | None) -> None:
    rng = np.random.default_rng(8)
    m, n, k = 64, 64, 64
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((n, k)).astype(np.float16)
    c = rng.standard_normal((m, n)).astype(np.float32)
    module = sample("wmma_gemm")
    done = run(module, "wmma_gemm", 4, 128, [a, b, np.zeros_like(c), m, n, k], schedule=schedule)
    want = reference("wmma_gemm").reference_wmma_gemm(tensor(a), tensor(b))
    np.testing.assert_allclose(done.output(2), want.numpy(), atol=1e-4)
    args = [a, b, c, 0.5, -2.0, m, n, k]
    done = run(module, "wmma_gemm_staged", (1, 1), 128, args, schedule=schedule, races=True)
    want = reference("wmma_gemm").reference_wmma_gemm_staged(tensor(a), tensor(b), tensor(c), 0.5, -2.0)
    np.testing.assert_allclose(done.output(2), want.numpy(), atol=1e-4)


@pytest.mark.parametrize("size", [(13, 9), (26, 18), (5, 31)])
def test_textures(sample: Any, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(9)
    module = sample("texture_filter")
    image = rng.standard_normal((9, 13)).astype(np.float32)
    width, height = size
    texture = module.device.texture(image, linear=True)
    out = np.zeros((height, width), np.float32)
    done = run(module, "resample", (4, 4), (8, 8), [texture.handle, out, 13, 9, width, height])
    want = reference("texture_filter").reference_resample(tensor(image), width, height)
    np.testing.assert_allclose(done.output(1), want.numpy(), atol=4 * 2.0**-8)
    table, index = rng.standard_normal(100).astype(np.float32), rng.integers(0, 100, 77).astype(np.int32)
    args = [module.device.texture(table).handle, index, np.zeros(77, np.float32), 77]
    np.testing.assert_array_equal(run(module, "look_up", 3, 32, args).output(2), table[index])


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_blur_with_weights_in_constant_memory(sample: Any, schedule: int | None) -> None:
    rng = np.random.default_rng(10)
    module, weights = sample("texture_filter"), rng.random(9).astype(np.float32)
    image = rng.standard_normal((3, 300)).astype(np.float32)
    module.write_symbol("kWeights", weights)
    args = [image, np.zeros_like(image), 300, 3]
    done = run(module, "blur_rows", (3, 3), 128, args, schedule=schedule, races=True)
    want = reference("texture_filter").reference_blur_rows(tensor(image), tensor(weights))
    np.testing.assert_allclose(done.output(1), want.numpy(), atol=1e-5)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_grid_barrier(sample: Any, schedule: int | None) -> None:
    data = np.random.default_rng(11).standard_normal(3000).astype(np.float32)
    args = [data, np.zeros(1), data.size]
    done = run(sample("cg_reduction"), "normalise", 5, 128, args, schedule=schedule, cooperative=True)
    np.testing.assert_allclose(done.output(0), data / np.linalg.norm(data.astype(np.float64)), rtol=1e-5)
    assert done.output(1)[0] == pytest.approx(float((data.astype(np.float64) ** 2).sum()))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_coalesced_groups_and_matches(sample: Any, schedule: int | None) -> None:
    rng = np.random.default_rng(12)
    values = rng.standard_normal(1000).astype(np.float32)
    args = [values, np.zeros(1, np.int32), 0.3, values.size]
    done = run(sample("cg_reduction"), "count_above", 3, 64, args, schedule=schedule)
    assert done.output(1)[0] == (values > np.float32(0.3)).sum()
    keys = rng.integers(0, 13, 1000).astype(np.int32)
    args = [keys, np.zeros(13, np.uint32), keys.size]
    done = run(sample("histogram"), "histogram_match", 3, 64, args, schedule=schedule)
    np.testing.assert_array_equal(done.output(1), np.bincount(keys, minlength=13))
