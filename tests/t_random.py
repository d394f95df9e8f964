#!/usr/bin/env python3
"""Five hundred random machines, the same in each run (tests/random_profiles.py); ten thousand with ALL=1."""

import os

import harness
import random_profiles

random_profiles.check(first=1, count=10000 if os.environ.get("ALL") == "1" else 300)
harness.done()
