"""The end of `make test`: a time for everything, and what failed by name in the last lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from box.layout import REPOSITORY
from dev.report import FAILED, PASSED, SKIPPED, Case, Report, Result


def lines(*results: Result) -> list[str]:
    return list(Report(list(results)).lines(seconds=12.5))


def a_case(name: str, outcome: str = PASSED, seconds: float = 1.0) -> Case:
    return Case(f"tests/unit/{name}", outcome, seconds)


def test_a_stage_without_tests_counts_as_one() -> None:
    assert lines(Result("lint", 0.1, ok=True), Result("types", 2.0, ok=True))[-1] == "2 passed, 0 failed"


def test_tests_are_counted_one_by_one_and_the_skipped_are_named() -> None:
    cases = (a_case("test_a.py::test_x"), a_case("test_a.py::test_y"), a_case("test_b.py::test_z", SKIPPED))

    assert lines(Result("unit", 3.0, ok=True, cases=cases))[-1] == "2 passed, 0 failed, 1 skipped"


def test_what_failed_stands_right_above_the_counts() -> None:
    cases = (a_case("test_a.py::test_x", FAILED), a_case("test_a.py::test_y"))
    report = lines(Result("lint", 0.1, ok=False), Result("unit", 3.0, ok=False, cases=cases))

    assert report[-3:] == ["FAILED lint", "FAILED tests/unit/test_a.py::test_x", "1 passed, 2 failed"]


def test_a_test_program_that_dies_without_a_failed_test_is_itself_the_failure() -> None:
    died = Result("unit", 3.0, ok=False, cases=(a_case("test_a.py::test_x"),))

    assert lines(died)[-2:] == ["FAILED unit", "1 passed, 1 failed"]
    assert not Report([died]).ok


def test_every_file_has_the_sum_of_its_tests_as_its_time() -> None:
    cases = (a_case("test_a.py::test_x", seconds=1.25), a_case("test_b.py::test_y"), a_case("test_a.py::test_z"))
    shown = "\n".join(lines(Result("unit", 3.4, ok=True, cases=cases)))

    assert "2.2 s    tests/unit/test_a.py " in shown
    assert "1.0 s    tests/unit/test_b.py " in shown
    assert "12.5 s  in all" in shown


def test_nothing_checked_is_not_a_success() -> None:
    assert not Report().ok


def test_a_name_reads_as_a_sentence() -> None:
    assert a_case("test_a.py::test_a_pod_reaches_another[by address]").title == "a pod reaches another[by address]"


def test_pytest_tells_each_test_with_the_worst_of_its_three_phases(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((REPOSITORY / "tests" / "conftest.py").read_text())
    (tmp_path / "test_sample.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def breaks_at_the_end():\n"
        "    yield\n"
        "    raise RuntimeError\n"
        "def test_good(): pass\n"
        "def test_bad(): assert False\n"
        "def test_left_out(): pytest.skip()\n"
        "def test_torn(breaks_at_the_end): pass\n"
    )
    (tmp_path / "test_broken.py").write_text("import there_is_no_such_module\n")
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors", "--rootdir", str(tmp_path)]
    variables = {"CHECK_CASES": str(tmp_path / "cases"), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*command, "-p", "no:cacheprovider"], cwd=tmp_path, env=variables, check=False, capture_output=True)

    told = [json.loads(line) for line in (tmp_path / "cases").read_text().splitlines()]
    assert {each["name"]: each["outcome"] for each in told} == {
        "test_broken.py": FAILED,
        "test_sample.py::test_good": PASSED,
        "test_sample.py::test_bad": FAILED,
        "test_sample.py::test_left_out": SKIPPED,
        "test_sample.py::test_torn": FAILED,
    }
    assert all(each["seconds"] >= 0 for each in told)
