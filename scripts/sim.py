"""Compare placement policies on emulated engines in virtual time; see tests/sim.

python scripts/sim.py [--seeds N] [--requests N] [--scenario NAME] [--policy NAME] [--load RHO]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.sim.run import main

if __name__ == "__main__":
    sys.exit(main())
