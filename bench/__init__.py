"""Side-by-side measurements; none of it is needed to run a broker."""
