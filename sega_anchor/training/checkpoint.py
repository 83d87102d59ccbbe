"""Checkpoints: an encoder's weights and their description, as safetensors."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from ..utils.files import write_atomically

_KEY = "sega_anchor"
_DIGEST = "sha256"


def save_encoder(path: str | Path, encoder: nn.Module, **about: Any) -> None:
    """Write an encoder's weights, atomically.

    The tensors have the names of ``encoder.state_dict()``, which for molecules and
    proteins are those of Hu et al.'s ``GNN``: plain PyTorch reads the file with
    ``model.load_state_dict(safetensors.torch.load_file(path))``.

    Args:
        path: the file.
        encoder: whose weights.
        about: JSON-able description, kept in the header of the file.

    Raises:
        OSError: if the file cannot be written.
    """
    weights = {
        k: v.detach().cpu().contiguous() for k, v in encoder.state_dict().items()
    }
    said = {**about, _DIGEST: _digest(weights)}
    header = {_KEY: json.dumps(said, sort_keys=True)}  # of two keys the order is random
    write_atomically(Path(path), save(weights, metadata=header))


def load_encoder(path: str | Path, encoder: nn.Module) -> dict[str, Any]:
    """Read an encoder's weights, ours or those published by others.

    Args:
        path: a safetensors file, or a ``.pth`` file that holds nothing but tensors.
            Names may begin with ``gnn.`` or ``module.``; others than the encoder's,
            such as heads, are passed over.
        encoder: gets the weights.

    Returns:
        The description that :func:`save_encoder` was given, empty for other files.

    Raises:
        ValueError: if the file is missing, damaged, or lacks weights of this encoder.
    """
    path = Path(path)
    found, about = _read(path)
    plain = {_plain(name): value for name, value in found.items()}
    wanted = encoder.state_dict()
    missing = [name for name in wanted if name not in plain]
    if missing:
        raise ValueError(
            f"checkpoint {str(path)!r} is not one of {type(encoder).__name__}: it "
            f"lacks {len(missing)} of {len(wanted)} tensors, such as {missing[0]!r}; "
            f"it has {sorted(plain)[:3]}"
        )
    for name, value in wanted.items():
        if plain[name].shape != value.shape:
            raise ValueError(
                f"checkpoint {str(path)!r} does not fit: {name!r} has shape "
                f"{tuple(plain[name].shape)}, the encoder {tuple(value.shape)}; give "
                "the sizes it was trained with"
            )
    encoder.load_state_dict({name: plain[name] for name in wanted})
    return about


def read_about(path: str | Path) -> dict[str, Any]:
    """Return what :func:`save_encoder` was told, empty for others' files.

    Raises:
        ValueError: if there is no such file or it cannot be read.
    """
    return _read(Path(path))[1]


def is_whole(path: Path) -> bool:
    """Return whether a checkpoint can be read and holds what was written."""
    try:
        _read(path)
    except ValueError:
        return False
    return True


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a file and what is said of them."""
    if not path.is_file():
        raise ValueError(f"there is no checkpoint {str(path)!r}")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, ValueError, OSError, MemoryError) as error:
        return _read_pth(path, error), {}
    try:
        about = json.loads(header.get(_KEY, "{}"))
        _check_about(about, tensors)
        digest = about.pop(_DIGEST, None)
        if digest not in (None, _digest(tensors)):
            raise ValueError("its weights are not those that were written")
    except (ValueError, RecursionError) as error:
        raise _refusal(path, error) from None
    return tensors, about


def _read_pth(path: Path, known: Exception) -> dict[str, Tensor]:
    """Return the tensors of a file that, for a known reason, is no safetensors file."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        tensors = {str(k): v for k, v in content.items() if isinstance(v, Tensor)}
    except Exception:  # a damaged file may raise almost anything in torch's reader
        raise _refusal(path, known) from None
    if any(v.is_meta or v.layout is not torch.strided for v in tensors.values()):
        raise _refusal(path, known)
    return tensors


def _digest(weights: dict[str, Tensor]) -> str:
    """Return the SHA-256 of tensors and their names; safetensors looks at none."""
    found = hashlib.sha256()
    for name in sorted(weights):
        found.update(name.encode())
        flat = weights[name].contiguous().reshape(-1).view(torch.uint8)
        found.update(flat.numpy().tobytes())
    return found.hexdigest()


def _refusal(path: Path, reason: Exception) -> ValueError:
    words = str(reason)[:200]  # it may quote a header of any size
    return ValueError(
        f"checkpoint {str(path)!r} is damaged or of another kind ({words}): give "
        "a safetensors file, or a .pth file of tensors only"
    )


def _check_about(about: Any, tensors: dict[str, Tensor]) -> None:
    """Refuse a description of another network, perhaps one that no memory holds."""
    if not isinstance(about, dict):
        raise ValueError(f"its description is a {type(about).__name__}")
    largest = max((n for value in tensors.values() for n in value.shape), default=0)
    for name, most in (("hidden_channels", largest), ("num_layers", len(tensors))):
        size = about.get(name, 1)
        if type(size) is not int or not 1 <= size <= max(most, 1):
            raise ValueError(f"its description says {name}={size!r}")


def _plain(name: str) -> str:
    for prefix in ("module.", "gnn."):
        name = name.removeprefix(prefix)
    return name
