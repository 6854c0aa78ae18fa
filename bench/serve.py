"""What the Python sides of the benchmarks share: threads, and answers to the R process that asks."""

import os
import socket


def limit_threads(threads):
    """For libraries that are loaded after this. XLA asks which cores it may run on."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
                     "NUMEXPR_MAX_THREADS", "NPROC"):
        os.environ[variable] = str(threads)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def serve(session, port, versions):
    """A request is a line of fields between tabs: the name of a method of the session, and its
    arguments. Each is answered by one line."""
    stream = socket.create_connection(("127.0.0.1", port)).makefile("rw")
    stream.write(versions + "\n")
    stream.flush()
    for line in stream:
        request, *arguments = line.rstrip("\n").split("\t")
        try:
            answer = getattr(session, request)(*arguments)
        except Exception as error:  # R decides what a failure means
            answer = "error: " + (str(error).splitlines() or [repr(error)])[0]
        stream.write(answer + "\n")
        stream.flush()
