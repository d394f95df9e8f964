#!/usr/bin/env python3
"""Hundreds of random machines, the same in each run (tests/random_profiles.py), AMD's among them; thousands with ALL=1."""

import os

import harness
import random_profiles

random_profiles.check(first=1, count=10000 if os.environ.get("ALL") == "1" else 300)
random_profiles.check(first=1, count=500 if os.environ.get("ALL") == "1" else 20, make=random_profiles.amd_machine)
harness.done()
