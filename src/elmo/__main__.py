"""`python -m elmo`: the command line, for where the `elmo` script is not on the path (torchrun, say)."""

import sys

from elmo.apps.cli import main

sys.exit(main())
