"""Checks citations and links; see check-docs.sh."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(".")
files = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
docs = {f: pathlib.Path(f).read_text(encoding="utf-8") for f in files if f.endswith(".md") and pathlib.Path(f).is_file()}
bad = []


rules = set(re.findall(r"^- \*\*(R\d\d)\b", docs.get("docs/safety.md", ""), re.M))
kube = set(re.findall(r"^- \*\*(K\d\d)\b", docs.get("docs/kubernetes.md", ""), re.M))
cases = set(re.findall(r"^\| ([SAQLGOP]\d\d) \|", docs.get("docs/cases.md", ""), re.M))
sections = {
    name: set(re.findall(r"^#{1,3} (\d+(?:\.\d+)?)\.? ", docs.get(f"docs/{name}.md", ""), re.M))
    for name in ("rocketmq", "rocketmq-live")
}


def heading_ids(text):
    out = set()
    for line in re.findall(r"^#{1,6} (.+)$", text, re.M):
        slug = re.sub(r"[^\w\- ]", "", line.strip().lower()).replace(" ", "-")
        out.add(slug)
    return out


for f in files:
    p = pathlib.Path(f)
    if not p.is_file() or p.suffix not in {".go", ".md", ".sh", ".yaml", ".yml"}:
        continue
    text = p.read_text(encoding="utf-8", errors="replace")
    in_docs = f in ("docs/cases.md", "docs/rocketmq.md", "docs/rocketmq-live.md")
    if not in_docs:
        for kind, known in (("R", rules), ("K", kube)):
            for m in set(re.findall(rf"(?<![A-Za-z0-9]){kind}\d\d(?![A-Za-z0-9])", text)):
                if m not in known:
                    bad.append(f"{f}: cites {m}, which docs/{'safety' if kind == 'R' else 'kubernetes'}.md does not have")
        if p.suffix == ".go":
            for m in set(re.findall(r"(?:[Cc]ases? |Test)([SAQLGOP]\d\d)(?![0-9A-Za-z])", text)):
                if m not in cases:
                    bad.append(f"{f}: cites case {m}, which docs/cases.md does not have")
    for name in sections:
        for m in set(re.findall(rf"(?<![a-z-]){re.escape(name)}\.md (\d+(?:\.\d+)?)", text)):
            if m not in sections[name]:
                bad.append(f"{f}: cites {name}.md {m}, which docs/{name}.md does not have")
    if p.suffix == ".md":
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, frag = target.partition("#")
            dest = (p.parent / path) if path else p
            if not dest.exists():
                bad.append(f"{f}: the link to {target} leads nowhere")
            elif frag and dest.suffix == ".md" and frag not in heading_ids(dest.read_text(encoding="utf-8")):
                bad.append(f"{f}: the link to {target} names a heading that is not there")

print("\n".join(bad) if bad else f"citations and links are good ({len(rules)} rules R, {len(kube)} rules K, {len(cases)} cases)")
sys.exit(1 if bad else 0)
