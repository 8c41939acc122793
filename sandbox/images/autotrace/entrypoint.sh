#!/bin/sh
# Puts everything an instrumented program needs where the pod's other containers find it.
set -e
cp -R /payload/. "${TARGET_DIRECTORY:?must name the folder to fill}"
