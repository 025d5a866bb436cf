"""Write again what the golden cases of adoption are expected to give; look at the difference."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.adopted import EXPECTED, adopted, folders


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    names = set()
    for folder in folders():
        made = adopted(folder)
        names.add(folder.name)
        (EXPECTED / f"{folder.name}.yaml").write_text(made.routing_file, encoding="utf-8")
        (EXPECTED / f"{folder.name}.txt").write_text(made.findings, encoding="utf-8")
    for path in EXPECTED.iterdir():
        if path.stem not in names:
            path.unlink()
    print(f"{len(names)} cases")


if __name__ == "__main__":
    main()
