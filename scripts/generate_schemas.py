"""Write the JSON Schemas that are published in src/blendwright/schemas, from the models that they describe.

python scripts/generate_schemas.py           writes what is not current
python scripts/generate_schemas.py --check   writes nothing; exit 1 when something is not current
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode
from run_documents import Receipt, RunReportDocument

from blendwright.batch.input.batch_file import BatchDocument
from blendwright.dialects.geonodes_models import GateEnvelope, GeonodesPlan, GeonodesResult
from blendwright.macros.definition import MacroDocument
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Negotiation, SessionContract
from blendwright.tools.render.annotation_document import AnnotationDocument
from blendwright.tools.scene.snapshot_model import Snapshot

SCHEMAS = Path(__file__).parent.parent / "src" / "blendwright" / "schemas"
PUBLISHED: dict[str, tuple[type[BaseModel], JsonSchemaMode]] = {
    "annotations.v1": (AnnotationDocument, "serialization"),
    "batch.v1": (BatchDocument, "validation"),
    "geonodes_gates.v1": (GateEnvelope, "serialization"),
    "geonodes_plan.v1": (GeonodesPlan, "validation"),
    "geonodes_result.v1": (GeonodesResult, "serialization"),
    "macro.v1": (MacroDocument, "validation"),
    "negotiation.v1": (Negotiation, "validation"),
    "policy.v1": (Policy, "validation"),
    "receipt.v1": (Receipt, "serialization"),
    "run_report.v1": (RunReportDocument, "serialization"),
    "scene_snapshot.v1": (Snapshot, "serialization"),
    "session_contract.v1": (SessionContract, "serialization"),
}


def schema_text(name: str, model: type[BaseModel], mode: JsonSchemaMode) -> str:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:blendwright:schema:{name}",
        **model.model_json_schema(mode=mode),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is not current")
    check = bool(parser.parse_args().check)
    stale = 0
    for name, (model, mode) in PUBLISHED.items():
        path = SCHEMAS / f"{name}.json"
        text = schema_text(name, model, mode)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{path.name} is not current" if check else f"{path.name} written")
        if not check:
            path.write_text(text, encoding="utf-8")
    if check and stale:
        print("Run: python scripts/generate_schemas.py")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
