"""Kubernetes quantities as numbers of bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from box.layout import BoxError
from box.volume.quantity import human_bytes, parse_bytes


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("1073741824", 1 << 30),
        ("1Ki", 1024),
        ("512Mi", 512 << 20),
        ("2Gi", 2 << 30),
        ("1Ti", 1 << 40),
        ("1Pi", 1 << 50),
        ("1Ei", 1 << 60),
        ("1k", 1000),
        ("500M", 500_000_000),
        ("3G", 3_000_000_000),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1.5Gi", 3 << 29),
        ("0.5G", 500_000_000),
        (".5Ki", 512),
        ("1.", 1),
        ("+1Ki", 1024),
        ("1e9", 10**9),
        ("1E3", 1000),
        ("12e-1", 2),
        ("1.5e3", 1500),
        ("100m", 1),
        ("1500m", 2),
        ("1u", 1),
        ("1n", 1),
        ("0.1", 1),
        (" 1Gi ", 1 << 30),
    ],
)
def test_a_quantity_is_read_as_kubernetes_reads_it(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize(
    "text", ["", "Gi", "1GB", "1gi", "1 Gi", "one", "1e", "1e5Ki", "0x10", "1,5Gi", "--1", "1e9999"]
)
def test_what_is_no_quantity_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BoxError, match="write it like 512Mi"):
        parse_bytes(text)


def test_a_number_of_bytes_is_written_in_the_largest_unit_that_fits() -> None:
    assert human_bytes(16 << 20) == "16Mi"
    assert human_bytes(3 << 29) == "1536Mi"
    assert human_bytes(1000) == "1000"
    assert human_bytes(0) == "0"


@given(st.integers(min_value=0, max_value=1 << 60))
def test_what_is_written_reads_back_the_same(count: int) -> None:
    assert parse_bytes(human_bytes(count)) == count
