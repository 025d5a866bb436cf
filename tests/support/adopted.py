"""The golden cases of adoption: sources of operators, and what is made of them."""

from pathlib import Path
from typing import NamedTuple

from gateway.adoption.draft import draft
from gateway.adoption.merging import merge
from gateway.adoption.reading import read_source
from gateway.adoption.rules import traps_of
from gateway.adoption.sources import Sighting
from gateway.adoption.telling import in_order, severity_of
from gateway.words import Language

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "adoption"
EXPECTED = GOLDEN / "expected"


class Adopted(NamedTuple):
    """The routing file that was made, and a line for each finding."""

    routing_file: str
    findings: str


def folders() -> list[Path]:
    """The samples of operators' scripts, and every other case."""
    return [GOLDEN / "samples", *sorted((GOLDEN / "cases").iterdir())]


def adopted(folder: Path) -> Adopted:
    """What is made of all files of a folder together."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    sighting = Sighting()
    for file in files:
        # Bytes, since reading as text would take the carriage returns away.
        sighting += read_source(file.read_bytes().decode("utf-8"), file.name)
    fleet = merge(sighting)
    findings = in_order((*fleet.findings, *traps_of(fleet)))
    lines = [
        f"{severity_of(f)} {f.code} {f.origin}{f' ({f.backend})' if f.backend else ''}\n"
        for f in findings
    ]
    made = draft(fleet, [file.name for file in files], Language.EN)
    return Adopted(made, "".join(lines))
