"""Tables: NumPy columns with units, and rows."""

from __future__ import annotations

import difflib
import html
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

#: Rows that a table shows in a notebook or a terminal.
_SHOWN = 12


class Column:
    """What a column is, without its values."""

    __slots__ = ("name", "units", "cgs", "description", "_load", "_values")

    def __init__(
        self, name: str, units: str, cgs: Optional[float], description: str, load: Callable[[], np.ndarray]
    ) -> None:
        self.name = name
        #: In code units, such as ``code_mass / code_length**3``; of images as FITS writes it, such as ``Jy`` or ``arcsec2``.
        self.units = units
        #: One unit of the column in cgs; None where the units are unknown.
        self.cgs = cgs
        self.description = description
        self._load = load
        self._values: Optional[np.ndarray] = None

    @property
    def values(self) -> np.ndarray:
        """The values, in code units. Fetched at the first use."""
        if self._values is None:
            self._values = self._load()
            self._values.flags.writeable = False
        return self._values

    def __reduce__(self) -> Any:
        return Column._of, (self.name, self.units, self.cgs, self.description, self.values)

    @classmethod
    def _of(cls, name: str, units: str, cgs: Optional[float], description: str, values: np.ndarray) -> "Column":
        """With values that are known."""
        return cls(name, units, cgs, description, lambda: values)

    def __repr__(self) -> str:
        return f"<column {self.name} [{self.units}]: {self.description}>"


class Table:
    """Columns of equal length under one name.

    ``table["mass"]`` is a column as a NumPy array in code units, ``table[3]`` a row, and ``table[mask]`` or
    ``table[2:5]`` a table of some rows. Arrays are read-only.
    """

    def __init__(
        self,
        name: str,
        n_rows: int,
        columns: List[Column],
        row: Optional[Callable[["Table", int], "Row"]] = None,
        cgs: Optional[Dict[str, float]] = None,
    ) -> None:
        self.name = name
        self._n_rows = n_rows
        self._columns = {column.name: column for column in columns}
        self._row = row or Row
        self._unit_factors = cgs or {}

    def __reduce__(self) -> Any:
        # Rows of the copy have no catalogue around them.
        return Table, (self.name, self._n_rows, list(self._columns.values()), None, self._unit_factors)

    def __len__(self) -> int:
        return self._n_rows

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator["Row"]:
        return (self._row(self, i) for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.column(key).values
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            return self._row(self, range(len(self))[int(key)])
        return self._rows(key)

    def _rows(self, key: Any) -> "Table":
        rows = np.arange(len(self))[key]
        if rows.ndim != 1:
            raise IndexError(f"rows of shape {rows.shape}; expected a slice, a mask or a list of rows")

        def some(column: Column) -> Column:
            return Column(column.name, column.units, column.cgs, column.description, lambda: column.values[rows])

        columns = [some(column) for column in self._columns.values()]
        return Table(self.name, len(rows), columns, self._row, self._unit_factors)

    def keys(self) -> List[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return self.keys()

    def column(self, name: str) -> Column:
        """A column with its units and its description."""
        try:
            return self._columns[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), list(self._columns), 1)
            known = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(self._columns)}"
            raise KeyError(f"{self.name} has no column {name!r}; {known}") from None

    @property
    def units(self) -> Dict[str, str]:
        """The unit of each column."""
        return {name: column.units for name, column in self._columns.items()}

    @property
    def descriptions(self) -> Dict[str, str]:
        """What each column holds."""
        return {name: column.description for name, column in self._columns.items()}

    def cgs(self, name: str) -> np.ndarray:
        """A column in cgs units. A ValueError where the catalogue has no units."""
        column = self.column(name)
        if column.cgs is None:
            raise ValueError(f"{self.name} has no units in cgs; expected units= when the catalogue was made")
        return column.values * column.cgs

    def _flat(self) -> Iterator[Tuple[str, Column, np.ndarray]]:
        """Columns of numbers: a vector gives one per axis."""
        for name, column in self._columns.items():
            if column.values.ndim == 1:
                yield name, column, column.values
            else:
                for axis, letter in enumerate("xyz"):
                    yield f"{name}_{letter}", column, column.values[:, axis]

    def to_pandas(self) -> Any:
        """A pandas DataFrame. Vectors become columns that end in _x, _y, _z; units are in ``attrs["units"]``."""
        import pandas

        frame = pandas.DataFrame({name: values for name, _, values in self._flat()})
        frame.attrs["units"] = {name: column.units for name, column, _ in self._flat()}
        return frame

    @property
    def unyt(self) -> Dict[str, Any]:
        """Columns as unyt arrays in code units. A ValueError where the catalogue has no units."""
        import unyt

        if not self._unit_factors:
            raise ValueError(f"{self.name} has no units in cgs; expected units= when the catalogue was made")
        registry = unyt.unit_registry.UnitRegistry()
        dimensions = {
            "code_length": unyt.dimensions.length,
            "code_mass": unyt.dimensions.mass,
            "code_time": unyt.dimensions.time,
        }
        # unyt's base is MKS.
        to_mks = {"code_length": 1e-2, "code_mass": 1e-3, "code_time": 1.0}
        for name, dimension in dimensions.items():
            registry.add(name, self._unit_factors[name] * to_mks[name], dimension)
        return {
            name: unyt.unyt_array(column.values, column.units, registry=registry)
            for name, column in self._columns.items()
        }

    @property
    def astropy(self) -> Any:
        """An astropy QTable, in cgs units where the units are known, else in units without a conversion."""
        from astropy import units
        from astropy.table import QTable

        cgs = {"code_length": units.cm, "code_mass": units.g, "code_time": units.s}
        if self._unit_factors:
            named = {name: units.def_unit(name, self._unit_factors[name] * cgs[name]) for name in cgs}
        else:
            named = {name: units.def_unit(name) for name in cgs}
        table = QTable()
        for name, column in self._columns.items():
            unit = _unit(column.units, named)
            # A quantity is a real number, in which identities would lose bits.
            is_count = unit == units.dimensionless_unscaled and column.values.dtype.kind in "iub"
            table[name] = column.values.copy() if is_count else column.values * unit
            table[name].info.description = column.description
        return table

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows, columns {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        shown = min(len(self), _SHOWN)
        columns = list(self._columns.values())
        heads = "".join(
            f'<th title="{html.escape(c.description)}">{c.name}<br><small>{html.escape(_short(c.units))}</small></th>'
            for c in columns
        )
        rows = "".join(
            "<tr>" + "".join(f"<td>{_text(c.values[i])}</td>" for c in columns) + "</tr>" for i in range(shown)
        )
        more = f"<p>{len(self) - shown} more rows</p>" if shown < len(self) else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"


class Row:
    """One row of a table: ``row["mass"]`` or ``row.mass``."""

    def __init__(self, table: Table, number: int) -> None:
        self._table = table
        self._number = number

    def __reduce__(self) -> Any:
        return Row, (self._table, self._number)

    def __getitem__(self, name: str) -> Any:
        return self._table[name][self._number]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._table:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        return self[name]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._table.keys()]

    def to_dict(self) -> Dict[str, Any]:
        """The values by name."""
        return {name: self[name] for name in self._table.keys()}

    def __repr__(self) -> str:
        return f"<row {self._number} of {self._table.name}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{_text(self[name])}</td><td>{html.escape(_short(unit))}</td></tr>"
            for name, unit in self._table.units.items()
        )
        return f"<table>{rows}</table>"


def _short(units: str) -> str:
    return "" if units == "dimensionless" else units


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return " ".join(_text(number) for number in value)
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _unit(text: str, named: Dict[str, Any]) -> Any:
    """The unit of astropy for that of a column, which is of code units or as FITS writes it."""
    from astropy import units

    if text == "dimensionless" or "code_" in text:
        return _product(text, named, units.dimensionless_unscaled)
    # A header may have any text as the unit of its values.
    return units.Unit(text.replace("pix2", "pix**2"), format="fits", parse_strict="silent")


def _product(text: str, named: Dict[str, Any], one: Any) -> Any:
    """The unit that a name such as ``code_mass / code_length**3`` stands for."""
    unit, divides = one, False
    for token in text.split():
        if token in ("*", "1", "dimensionless"):
            continue
        if token == "/":
            divides = True
            continue
        name, _, power = token.partition("**")
        factor = named[name] ** int(power or 1)
        unit = unit / factor if divides else unit * factor
    return unit
