"""Kubernetes quantities as whole numbers: `1Gi`, `500M`, `1.5Ti`, `1e9`, `128974848`.

A size is rounded up to the next byte, as Kubernetes does it: a volume is never smaller than what was asked for.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal

from box.layout import BoxError

_SCALES: dict[str, Decimal] = {
    "": Decimal(1),
    "n": Decimal(10) ** -9,
    "u": Decimal(10) ** -6,
    "m": Decimal(10) ** -3,
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}
_FORM = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?:[eE](?P<exponent>[+-]?\d{1,3})|(?P<scale>[A-Za-z]{0,2}))")


def parse_bytes(text: str) -> int:
    """Read a quantity as a number of bytes, rounded up."""
    form = _FORM.fullmatch(text.strip())
    scale = _SCALES.get(form["scale"] or "") if form else None
    if form is None or scale is None:
        raise BoxError(f"'{text}' is not a size; write it like 512Mi, 2Gi, 500M, 1.5G or 1073741824.")
    exact = Decimal(form["number"]) * scale * Decimal(10) ** int(form["exponent"] or 0)
    return int(exact.to_integral_value(rounding=ROUND_CEILING))


def human_bytes(count: int) -> str:
    """Write a number of bytes the short way, in the largest unit that fits without a fraction."""
    for unit in ("Ti", "Gi", "Mi", "Ki"):
        size = int(_SCALES[unit])
        if count and count % size == 0:
            return f"{count // size}{unit}"
    return str(count)
