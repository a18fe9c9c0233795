"""Entry of `python -m porter.names.derive`."""

import sys

from porter.names.derive.cli import main

sys.exit(main())
