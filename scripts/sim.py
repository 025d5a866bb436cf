"""Compare placement policies on emulated engines in virtual time; see tests/sim.

python scripts/sim.py [--seeds N] [--requests N] [--scenario NAME] [--policy NAME] [--load RHO]
python scripts/sim.py --goals | --short [--first-seed N]: check the targets of tests/sim/goals.py
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.sim.check import main

if __name__ == "__main__":
    sys.exit(main())
