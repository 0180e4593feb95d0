# SPDX-License-Identifier: Apache-2.0
"""Reads documents of `penstock io --json`: schema "penstock.io", version 1."""

import json

SCHEMA = "penstock.io"
VERSION = 1


class DocumentError(Exception):
    """The file is no document that this version can read."""


def refuse_constant(name):
    raise DocumentError(f"{name} is not JSON")


def load(path):
    try:
        with open(path, encoding="utf-8") as f:
            document = json.load(f, parse_constant=refuse_constant)
    except (OSError, ValueError) as error:
        raise DocumentError(f"{path}: {error}") from error
    found = (document.get("schema"), document.get("schema_version"))
    if found != (SCHEMA, VERSION):
        raise DocumentError(f"{path}: schema {found}, expected {(SCHEMA, VERSION)}")
    return document


def finished(document):
    """Whether the command did all it was asked to and has a rate."""
    results = document["results"]
    return (document["exit_status"] == 0 and len(results) > 0
            and results[0]["rate"]["gib_per_s"] is not None)


def from_cache(result):
    """True, False, or None where it could not be found out."""
    if result["rate"]["from_cache"]:
        return True
    return None if result["source"]["device_read_bytes"] is None else False


def summary(document):
    """The first result in the terms of a table. None stands for what is not known."""
    if not finished(document):
        raise DocumentError("the run did not finish")
    result = document["results"][0]
    cpu = [result["cpu"]["user_s_per_gib"], result["cpu"]["system_s_per_gib"]]
    paths = result["paths"] or []
    device = result["device"]
    return {
        "gib_per_s": result["rate"]["gib_per_s"],
        "iops": result["rate"]["iops"],
        "p50_us": result["latency"]["p50_us"],
        "p99_us": result["latency"]["p99_us"],
        "cpu_s_per_gib": None if None in cpu else sum(cpu),
        "path": max(paths, key=lambda p: p["bytes"])["path"] if paths else None,
        "reasons": [r["reason"] for r in result["reasons"] or []],
        "from_cache": from_cache(result),
        "memory_backed": result["source"]["memory_backed"],
        "network_backed": result["source"]["network_backed"],
        "device": device["name"] if device else None,
        "emulated": device["emulated"] if device else None,
    }
