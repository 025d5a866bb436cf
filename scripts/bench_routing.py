"""Compare routing live: the same arrivals through this gateway and others; see tests/bench.

python scripts/bench_routing.py [--quick] [--seeds N] [--requests N] [--only WORD] [--keep DIR]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.bench.run import main

if __name__ == "__main__":
    sys.exit(main())
