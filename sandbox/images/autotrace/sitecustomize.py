"""Starts the tracer when Python starts; a sitecustomize of the program's own still runs."""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _run_own():
    sys.modules.pop("sitecustomize", None)
    path, sys.path = sys.path, [each for each in sys.path if os.path.abspath(each or ".") != _here]
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        pass
    finally:
        sys.path = path


try:
    import lumigo_opentelemetry  # noqa: F401
except Exception as problem:  # The program comes first, whatever happens to its tracer.
    sys.stderr.write(f"Lumigo: not traced: {problem}\n")

_run_own()
