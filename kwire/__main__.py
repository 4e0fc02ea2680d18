"""`python -m kwire` is the `kwire` command."""

import sys

from kwire.cli.main import main

sys.exit(main())
