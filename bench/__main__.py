"""`python -m bench <name>`: run one measurement and print its table."""

import argparse

from bench import one_node, python_cost, throughput

MEASUREMENTS = {
    "one_node": one_node,
    "python_cost": python_cost,
    "throughput": throughput,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True)
    for name, module in MEASUREMENTS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.configure(names.add_parser(name, help=summary, description=summary))
    arguments = parser.parse_args()
    MEASUREMENTS[arguments.name].run(arguments)


if __name__ == "__main__":
    main()
