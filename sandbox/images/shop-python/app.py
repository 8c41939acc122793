"""A shop's stock, without a line of tracing in it."""

import os
import signal
import sys

from flask import Flask

app = Flask(__name__)


@app.get("/")
def stock():
    return {"shop": "python", "books": 3}


@app.get("/healthz")
def healthz():
    return {"preload": os.environ.get("LD_PRELOAD")}


# A container's first process ends at SIGTERM only if it says so; else each of its pods takes the whole grace period to go.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
app.run(host="0.0.0.0", port=8080)
