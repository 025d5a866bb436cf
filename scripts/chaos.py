"""Disturb a fleet of emulated backends under load and look at every answer; see tests/chaos.

python scripts/chaos.py [--short] [--only FAULT] [--seed N] [--requests N] [--keep DIR]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.chaos.run import main

if __name__ == "__main__":
    sys.exit(main())
