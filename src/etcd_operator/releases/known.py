"""The series of etcd this operator works with, and the newest release of each when the operator was made.

Newer patches work as well: nothing here keeps a user from naming one. The newest known release is what a sentence
proposes as the next station of an upgrade. A series that is not here is refused, because whether it can be upgraded to,
and with what precautions, is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.releases.version import Series, Version


@dataclass(frozen=True)
class Known:
    newest: Version
    supported: bool  # whether the etcd project still repairs it

    @property
    def series(self) -> Series:
        return self.newest.series


KNOWN: tuple[Known, ...] = (
    Known(Version(3, 2, 32), supported=False),
    Known(Version(3, 3, 27), supported=False),
    Known(Version(3, 4, 45), supported=False),
    Known(Version(3, 5, 35), supported=True),
    Known(Version(3, 6, 16), supported=True),
    Known(Version(3, 7, 3), supported=True),
)

# What a cluster gets that names no version: the series before the newest. It is repaired as long and has had more
# patches, and a cluster born on it can go to the newest one without preparation. There is no way back from that without
# etcd's downgrade procedure, so the step is left to the user.
DEFAULT = Version(3, 6, 16)


def known(series: Series) -> Known | None:
    return next((row for row in KNOWN if row.series == series), None)
