"""``python -m benchmarks``: every benchmark, one after the other; tables on stdout, JSON in results/."""

import benchmarks.appendix_a
import benchmarks.chi_conv
import benchmarks.files
import benchmarks.geometry
import benchmarks.operators
import benchmarks.steps

for benchmark in (
    benchmarks.geometry,
    benchmarks.operators,
    benchmarks.chi_conv,
    benchmarks.appendix_a,
    benchmarks.files,
    benchmarks.steps,
):
    benchmark.main()
