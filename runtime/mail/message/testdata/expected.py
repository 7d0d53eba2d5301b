"""What Python's email package makes of messages.zip: subject and file names.

Run it in this folder after changing messages.zip: python3 expected.py > expected.json
It was last run with Python 3.13.0.
"""
import email
import email.policy
import encodings.aliases
import json
import zipfile

encodings.aliases.aliases["windows_874"] = "cp874"  # the name that mail uses for it


def files(part):
    """The names of files, without looking into messages that are enclosed."""
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        return [name for inner in part.get_payload() for name in files(inner)]
    name = part.get_filename()
    return [name.strip()] if name and name.strip() else []


def expected(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    try:
        return {"subject": str(message["subject"] or "").strip(), "files": files(message)}
    except Exception as failure:  # its parser stumbles over some messages
        return {"failed": type(failure).__name__}


with zipfile.ZipFile("messages.zip") as messages:
    results = {name: expected(messages.read(name)) for name in sorted(messages.namelist())}
print(json.dumps(results, indent=1, ensure_ascii=True))
