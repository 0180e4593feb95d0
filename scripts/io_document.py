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


def first_run(document):
    runs = document.get("runs")
    if not runs:
        raise DocumentError("the document has no run")
    return runs[0]
