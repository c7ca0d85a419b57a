"""Keywords in the form of the native half: texts by key. The library declares keys, defaults and ranges."""

from __future__ import annotations

import difflib
import os
from typing import Any, Callable, Dict, Iterable, Mapping, Tuple, Type, TypeVar

from ._errors import InvalidArgumentError

#: Older names, which are still taken, by set of parameters.
_OLDER: Dict[str, Dict[str, str]] = {
    "Phew": {
        "density": "density_threshold",
        "relevance": "relevance_threshold",
        "difference": "relevance_difference",
        "significance": "significance_threshold",
        "saddle": "saddle_threshold",
        "mass": "mass_threshold",
        "rules": "compat",
        "allow_duplicate_ids": "duplicate_ids",
    },
    "Fof": {"ratio": "linking_ratio", "length": "linking_length"},
    "FofTypes": {"is_open": "open"},
    "Voids": {"relevance": "relevance_threshold", "wall": "wall_threshold", "density": "density_threshold"},
    "Mesh": {"types": "particle_types"},
    "Graph": {"types": "particle_types"},
}
_OLDER["Recut"] = _OLDER["Phew"]
_OLDER["RecutVoids"] = _OLDER["Voids"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def texts(kind: Type[Any], given: Mapping[str, Any]) -> Dict[str, str]:
    """The given keywords of a set of parameters. None leaves a default."""
    return split([kind], given)[0]


def split(kinds: Iterable[Type[Any]], given: Mapping[str, Any]) -> Tuple[Dict[str, str], ...]:
    """The given keywords by the sets of parameters that have them.

    Raises InvalidArgumentError for an unknown keyword.
    """
    kinds = list(kinds)
    sets = [(kind.__annotations__, _OLDER.get(kind.__name__[: -len("Options")], {})) for kind in kinds]
    found: Tuple[Dict[str, str], ...] = tuple({} for _ in sets)
    for name, value in given.items():
        owners = [i for i, (known, older) in enumerate(sets) if older.get(name, name) in known]
        if not owners:
            raise InvalidArgumentError(_unknown(name, [key for known, _ in sets for key in known]))
        for i in owners:
            known, older = sets[i]
            key = older.get(name, name)
            if key == "unbind" and isinstance(value, str):  # an older way to choose the potential
                found[i]["potential"], value = value, True
            if key in found[i]:
                raise InvalidArgumentError(f"{name} and {key}, which are the same; expected one of them")
            if value is not None:
                found[i][key] = _text(key, value)
            elif key == "wall_threshold" and kinds[i].__name__ == "VoidsOptions":
                found[i][key] = "none"  # every zone is a void
    return found


def check_known(kind: Type[Any], given: Mapping[str, Any]) -> None:
    """Raises InvalidArgumentError for a keyword that this set lacks."""
    for name in given:
        if name not in kind.__annotations__:
            raise InvalidArgumentError(_unknown(name, kind.__annotations__))


def _unknown(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), 1)
    hint = f"did you mean {near[0]}?" if near else "docs/parameters.md has all of them"
    return f"unknown keyword {name}; {hint}"


def _text(key: str, value: Any) -> str:
    if key == "duplicate_ids" and isinstance(value, bool):
        return "allow" if value else "error"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_text(key, length)}" for name, length in value.items())
    if key.endswith("_types"):
        return ",".join(str(int(kind in [int(given) for given in value])) for kind in range(7))
    if isinstance(value, (list, tuple)):
        return ",".join(_text("", part) for part in value)
    unit = getattr(value, "unit", getattr(value, "units", None))  # of astropy, of unyt
    if unit is not None:
        return f"{float(value.value)!r} {unit}"
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "true" if value else "false"
    try:
        return str(int(value)) if int(value) == value else repr(float(value))
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{key} is {value!r}; expected a number, a text or a list of these") from None


def has_keywords(*kinds: Type[Any]) -> Callable[[_Function], _Function]:
    """Gives a function with ``**options`` the signature and the documentation of these parameters."""

    def of(function: _Function) -> _Function:
        import inspect

        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        names = dict.fromkeys(key for kind in kinds for key in kind.__annotations__)
        keywords = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None)
            for key in names
            if key not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=own + keywords)  # type: ignore[attr-defined]
        return function

    return of
