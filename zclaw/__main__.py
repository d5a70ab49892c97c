"""`python -m zclaw`: the command line."""

import sys

from zclaw.cli import main

sys.exit(main())
