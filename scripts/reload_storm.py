"""Change the routing file of a gateway under load, again and again; see tests/storm.

python scripts/reload_storm.py [--short] [--seed N] [--keep DIR]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.storm.run import main

if __name__ == "__main__":
    sys.exit(main())
