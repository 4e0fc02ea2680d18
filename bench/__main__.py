"""`python -m bench <name>`: run one measurement and print its table."""

import argparse

from bench import python_cost

MEASUREMENTS = {"python_cost": python_cost.main}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=sorted(MEASUREMENTS))
    MEASUREMENTS[parser.parse_args().name]()


if __name__ == "__main__":
    main()
