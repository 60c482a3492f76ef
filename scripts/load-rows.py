#!/usr/bin/env python3
"""Loads rows with Hugging Face `datasets` and prints their counts, to be compared with `machinery rows stats --json`.

    machinery rows export --format parquet --out normalised
    python3 scripts/load-rows.py normalised/*.parquet

Needs `pip install datasets pillow`. Reads local files only.
"""

import json
import sys

from datasets import load_dataset


def main(files):
    rows = load_dataset("parquet", data_files=files, split="train")
    superseded = {link for row in rows.select_columns(["id", "chain"]) for link in row["chain"] if link != row["id"]}
    counts = {"rows": 0, "tips": 0, "finished": 0, "partial": 0, "images": 0, "calls": 0, "messages": 0}
    for row in rows:
        machinery = json.loads(row["machinery_json"] or "{}")
        gates = machinery.get("catalogue_check") == "success" and machinery.get("probe") == "success"
        counts["rows"] += 1
        counts["tips"] += row["id"] not in superseded
        counts["finished"] += row["complete"] and machinery.get("outcome") == "settled" and gates
        counts["partial"] += not row["complete"]
        counts["images"] += len(row["images"])
        counts["messages"] += len(row["messages"])
        counts["calls"] += sum(len(message["tool_calls"]) for message in row["messages"])
    print(json.dumps({**counts, "image_feature": str(rows.features["images"])}, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
