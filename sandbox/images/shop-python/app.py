"""A shop's stock, without a line of tracing in it."""

import os

from flask import Flask

app = Flask(__name__)


@app.get("/")
def stock():
    return {"shop": "python", "books": 3}


@app.get("/healthz")
def healthz():
    return {"preload": os.environ.get("LD_PRELOAD")}


app.run(host="0.0.0.0", port=8080)
