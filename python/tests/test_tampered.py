"""Every field of a file of carom impact is changed: `carom verify` refuses it or lists it as not judged."""

from __future__ import annotations

import re

import pytest

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")

FILES = {
    "samples": ["tripod", "--samples", 256],
    "enclosed": ["box_wall", "--samples", 256, "--enclose", "--never", "B normal > 3"],
    "restitution": ["compass_gait", "--samples", 128, "--restitution", 0.5, "--paths", 128],
}
# What is said stays true of the changed problem: a looser tolerance, a mode that stays the same, a
# wider interval of a bound that has room.
HARMLESS = {
    "@friction_directions",
    "@mode_tolerance",
    "@residual_tolerance",
    "@vary",
    "@velocity_tolerance",
    "impact_0@max_steps",
    "impact_0/problem/friction",
    "impact_0/problem/restitution",
    "impact_0/enclosure/invariant",
}


def changed(value):
    """A value of the same type that a reader would take for another."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return value[:-1] + ("7" if value[-1:] != "7" else "3")
    if isinstance(value, (float, np.floating)):
        return value * 1.01 + 1e-3 if np.isfinite(value) else type(value)(0.25)
    return value ^ 1


def fields(file):
    found = []

    def visit(name, item):
        found.extend((name, key) for key in item.attrs)
        if isinstance(item, h5py.Dataset) and item.size:
            found.append((name, None))

    visit("", file)
    file.visititems(visit)
    return found


def change(file, name, key, position):
    item = file[name or "/"]
    value = item.attrs[key] if key else item[()]
    if not isinstance(value, np.ndarray):
        new = changed(value)
    else:
        new = value.copy()
        at = position % value.size
        new.flat[at] = changed(value.flat[at])
    if key:
        item.attrs.modify(key, new)
    else:
        item[...] = new


def listed(name, key, not_judged):
    if key in ("axes", "unit", "meaning"):
        return True
    field = "/" + re.sub(r"_\d+", "_*", name) + (f"@{key}" if key else "")
    return any(field == each or field.startswith((each + "/", each + "@")) for each in not_judged)


@pytest.mark.parametrize("kind", FILES)
def test_every_field(command, kind, tmp_path):
    made = tmp_path / "made.h5"
    command("impact", *FILES[kind], "--quiet", "--output", made)
    whole = made.read_bytes()
    # without the line of its checksum: as other software would have written it
    whole = whole[: whole.rindex(b"carom crc32")]
    report = command("verify", made, "--json")
    assert report["sample"]["refuted"] == report["summary"]["refuted"] == 0
    assert report["sample"]["proven"] == FILES[kind][2]
    with h5py.File(made) as file:
        every = fields(file)
    path = tmp_path / "changed.h5"
    judged = 0
    for name, key in every:
        if listed(name, key, report["not_judged"]) or f"{name}@{key}" in HARMLESS or name in HARMLESS:
            continue
        judged += 1
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            change(file, name, key, position=3)
        with pytest.raises(AssertionError):
            command("verify", path, "--quiet")
    assert judged >= 30
