from os import PathLike
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy
from numpy.typing import ArrayLike, NDArray

Path = Union[str, PathLike[str]]
Report = Dict[str, Any]
Model = Union[Path, Network, Graph]
NpuLike = Union[Path, Mapping[str, Any], Npu]
Arrays = Union[Mapping[str, ArrayLike], ArrayLike]
Job = Union[str, Tuple[str, int, str], Tuple[str, int, str, int]]

__all__: List[str]

class Error(Exception):
    file: Optional[str]
    line: Optional[int]
    def __init__(self, message: str, file: Optional[str] = ..., line: Optional[int] = ...) -> None: ...

class OptionError(Error, ValueError): ...

class RunError(Error):
    report: Optional[Report]
    def __init__(
        self, message: str, file: Optional[str] = ..., line: Optional[int] = ..., report: Optional[Report] = ...
    ) -> None: ...

class Network:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> int: ...
    @property
    def layers(self) -> List[Dict[str, Any]]: ...
    def __len__(self) -> int: ...

class Npu:
    @property
    def name(self) -> str: ...
    def to_dict(self) -> Dict[str, Dict[str, Any]]: ...

class Tensor:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def type(self) -> str: ...
    @property
    def role(self) -> str: ...

class Graph:
    def __init__(self, name: str) -> None: ...
    @property
    def name(self) -> str: ...
    def input(self, name: str, shape: Sequence[int], type: str = ...) -> Tensor: ...
    def parameter(self, name: str, shape: Sequence[int], init: str = ..., frozen: bool = ...) -> Tensor: ...
    def state(self, name: str, shape: Sequence[int], init: str = ...) -> Tensor: ...
    def update(self, tensor: Tensor, next: Tensor) -> None: ...
    def constant(self, name: str, shape: Sequence[int], values: Sequence[float], type: str = ...) -> Tensor: ...
    def op(
        self, operator: str, *inputs: Optional[Tensor], name: str = ..., outputs: int = ..., **attributes: Any
    ) -> Any: ...
    def result(self, tensor: Tensor) -> None: ...
    def loss(self, tensor: Tensor) -> None: ...
    def tensors(self) -> Dict[str, Tensor]: ...
    def text(self) -> str: ...
    def save(self, path: Path) -> None: ...

class Compilation:
    @property
    def summary(self) -> Report: ...
    def __len__(self) -> int: ...
    def stream(self, layer: int) -> NDArray[numpy.uint32]: ...
    def write(self, directory: Path, listing: bool = ...) -> None: ...

def models() -> List[str]: ...
def npus() -> List[str]: ...
def operators() -> Dict[str, Dict[str, Any]]: ...
def load_network(
    model: Model,
    *,
    batch: Optional[int] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
) -> Network: ...
def load_graph(
    model: Path,
    *,
    batch: Optional[int] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
) -> Graph: ...
def load_npu(npu: NpuLike, *, set: Optional[Mapping[str, Any]] = ...) -> Npu: ...
def compile(
    model: Model = ...,
    npu: NpuLike = ...,
    *,
    schedule: Optional[str] = ...,
    pass_: Optional[str] = ...,
    batch: Optional[int] = ...,
    layers: Optional[str] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    convolution: Optional[str] = ...,
    tune: Optional[int] = ...,
    partition: Optional[str] = ...,
    parts: Optional[int] = ...,
    reduction: Optional[str] = ...,
    sharing: Optional[str] = ...,
    plans: Optional[int] = ...,
    search_seed: Optional[int] = ...,
    objective: Optional[str] = ...,
    flexer_policy: Optional[str] = ...,
    plan_cache: Optional[Path] = ...,
) -> Compilation: ...
def simulate(
    model: Model = ...,
    npu: NpuLike = ...,
    *,
    schedule: Optional[str] = ...,
    pass_: Optional[str] = ...,
    batch: Optional[int] = ...,
    layers: Optional[str] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    convolution: Optional[str] = ...,
    tune: Optional[int] = ...,
    partition: Optional[str] = ...,
    parts: Optional[int] = ...,
    reduction: Optional[str] = ...,
    sharing: Optional[str] = ...,
    plans: Optional[int] = ...,
    search_seed: Optional[int] = ...,
    objective: Optional[str] = ...,
    flexer_policy: Optional[str] = ...,
    plan_cache: Optional[Path] = ...,
    jobs: Optional[int] = ...,
    times: Optional[Path] = ...,
    timeline: Optional[Path] = ...,
    html: Optional[Path] = ...,
) -> Report: ...
def cosim(
    model: Model = ...,
    npu: NpuLike = ...,
    *,
    backend: Optional[str] = ...,
    data: Optional[str] = ...,
    seed: Optional[int] = ...,
    schedule: Optional[str] = ...,
    pass_: Optional[str] = ...,
    batch: Optional[int] = ...,
    layers: Optional[str] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    convolution: Optional[str] = ...,
    tune: Optional[int] = ...,
    partition: Optional[str] = ...,
    parts: Optional[int] = ...,
    reduction: Optional[str] = ...,
    sharing: Optional[str] = ...,
    plans: Optional[int] = ...,
    search_seed: Optional[int] = ...,
    objective: Optional[str] = ...,
    flexer_policy: Optional[str] = ...,
    plan_cache: Optional[Path] = ...,
    jobs: Optional[int] = ...,
    times: Optional[Path] = ...,
    timeline: Optional[Path] = ...,
    html: Optional[Path] = ...,
    stall_probability: Optional[float] = ...,
    stress_seed: Optional[int] = ...,
    trace_file: Optional[Path] = ...,
    trace_from: Optional[int] = ...,
    trace_to: Optional[int] = ...,
) -> Report: ...
def timeline(
    model: Model = ...,
    npu: NpuLike = ...,
    *,
    out: Optional[Path] = ...,
    schedule: Optional[str] = ...,
    pass_: Optional[str] = ...,
    batch: Optional[int] = ...,
    layers: Optional[str] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    convolution: Optional[str] = ...,
    tune: Optional[int] = ...,
    partition: Optional[str] = ...,
    parts: Optional[int] = ...,
    reduction: Optional[str] = ...,
    sharing: Optional[str] = ...,
    plans: Optional[int] = ...,
    search_seed: Optional[int] = ...,
    objective: Optional[str] = ...,
    flexer_policy: Optional[str] = ...,
    plan_cache: Optional[Path] = ...,
    jobs: Optional[int] = ...,
) -> List[Dict[str, Any]]: ...
def search(
    model: Model = ...,
    npu: NpuLike = ...,
    *,
    pass_: Optional[str] = ...,
    batch: Optional[int] = ...,
    layers: Optional[str] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    convolution: Optional[str] = ...,
    plans: Optional[int] = ...,
    step_plans: Optional[int] = ...,
    start: Optional[str] = ...,
    weave_again: Optional[bool] = ...,
    objective: Optional[str] = ...,
    check: Optional[str] = ...,
    data: Optional[str] = ...,
    seed: Optional[int] = ...,
    html: Optional[Path] = ...,
) -> Report: ...
def weave(
    jobs: Sequence[Job],
    npu: NpuLike = ...,
    *,
    policy: Optional[str] = ...,
    backend: Optional[str] = ...,
    data: Optional[str] = ...,
    seed: Optional[int] = ...,
    plans: Optional[int] = ...,
    changes: Optional[int] = ...,
    search_seed: Optional[int] = ...,
    threads: Optional[int] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    convolution: Optional[str] = ...,
) -> Report: ...
def train(
    model: Model = ...,
    npu: NpuLike = ...,
    *,
    backend: Optional[str] = ...,
    data: Optional[Path] = ...,
    input: Optional[Arrays] = ...,
    target: Optional[Arrays] = ...,
    weights: Optional[Arrays] = ...,
    dump: Union[str, Sequence[str], None] = ...,
    steps: Optional[int] = ...,
    epochs: Optional[int] = ...,
    batch: Optional[int] = ...,
    accumulate: Optional[int] = ...,
    seed: Optional[int] = ...,
    extent: Optional[str] = ...,
    optimizer: Optional[str] = ...,
    lr: Optional[float] = ...,
    schedule_lr: Optional[str] = ...,
    warmup: Optional[int] = ...,
    weight_decay: Optional[float] = ...,
    momentum: Optional[float] = ...,
    clip: Optional[float] = ...,
    sparse_embeddings: Optional[bool] = ...,
    evaluate: Optional[bool] = ...,
    loss: Optional[str] = ...,
    schedule: Optional[str] = ...,
    convolution: Optional[str] = ...,
    until: Optional[str] = ...,
    set: Optional[Mapping[str, Any]] = ...,
    jobs: Optional[int] = ...,
    html: Optional[Path] = ...,
) -> Report: ...
