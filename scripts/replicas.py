"""Measure several gateways that share a store; see tests/replicas.

python scripts/replicas.py [--short] [--only PART] [--keep DIR]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.replicas.run import main

if __name__ == "__main__":
    sys.exit(main())
