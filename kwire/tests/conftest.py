"""What holds for all tests of the package."""

from hypothesis import settings

# The same examples on every run and every machine, however slow: a failure is never a matter of
# luck, and nothing is kept between runs.
settings.register_profile("kwire", deadline=None, derandomize=True, database=None)
settings.load_profile("kwire")
