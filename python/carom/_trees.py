"""User-defined mechanisms as dicts, with the keys of the command's files (docs/reference/files.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._arrays import refuse

_LINK = ("name", "parent", "joint", "place", "axis", "mass", "inertia", "mass_centre", "stiffness", "rest", "damping",
         "effort")  # fmt: skip
_CONTACT = ("name", "link", "point", "friction")
_SURFACE = ("normal", "offset", "friction")
_SPRING = ("from", "from_point", "to", "to_point", "stiffness", "length", "damping")
_TREE = {
    2: ("dimension", "floating", "gravity", "links", "contacts", "half_spaces", "springs"),
    3: ("dimension", "floating", "gravity", "links", "contacts", "half_spaces"),
}
_VECTORS = ("place", "mass_centre", "point", "normal", "from_point", "to_point", "gravity")


def _known(given: Any, known: Sequence[str] | Mapping[str, Any], where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise refuse(where, repr(given), "must be a dict")
    for key in given:
        if key not in known:
            raise refuse(f"{where}: {key}", "no key", "known are " + ", ".join(known))
    return given


def _parts(tree: Mapping[str, Any], key: str, known: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for i, each in enumerate(tree.get(key, ())):
        yield f"{key}[{i}]", _known(each, known, f"{key}[{i}]")


def _number(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refuse(where, repr(value), "must be a number")
    return float(value)


def _value(where: str, key: str, value: Any, dimension: int) -> Any:
    """As the library's fields have it."""
    lengths: tuple[int, ...] = ()
    if key in _VECTORS or (key == "axis" and dimension == 3):
        lengths = (dimension,)
    elif key == "inertia" and dimension == 3:
        lengths = (3, 6)
    if not lengths:
        return value if key == "name" else _number(f"{where}: {key}", value)
    numbers = [] if isinstance(value, str) or not hasattr(value, "__len__") else [float(each) for each in value]
    if len(numbers) not in lengths:
        raise refuse(f"{where}: {key}", repr(value), "must be " + " or ".join(map(str, lengths)) + " numbers")
    return numbers + [0.0] * (lengths[-1] - len(numbers))


def resolved(description: Any) -> tuple[int, dict[str, Any]]:
    """Its dimension; it with links by their numbers and every contact against every half-space, with
    the larger of the frictions. Errors: InvalidInput naming part and field."""
    dimension = description.get("dimension", 2) if isinstance(description, Mapping) else 2
    if dimension not in _TREE:
        raise refuse("dimension", repr(dimension), "must be 2 or 3")
    tree = _known(description, _TREE[dimension], "mechanism")
    if "links" not in tree:
        raise refuse("links", "missing", "must be there")
    numbers: dict[str, int] = {}

    def link(where: str, key: str, name: Any, optional: bool = False) -> int:
        if optional and name is None:
            return -1
        if name not in numbers:
            raise refuse(f"{where}: {key}", repr(name), "must be the name of a link, parents first")
        return numbers[name]

    links: list[dict[str, Any]] = []
    for where, each in _parts(tree, "links", _LINK):
        name = each.get("name")
        if not isinstance(name, str) or name in numbers:
            raise refuse(f"{where}: name", repr(name), "must be a word that no other link has")
        if "mass" not in each:
            raise refuse(f"{where}: mass", "missing", "must be there")
        made: dict[str, Any] = {"parent": link(where, "parent", each.get("parent"), optional=True)}
        joint = each.get("joint", "hinge")
        joints = ("hinge", "slide") if dimension == 2 else ("hinge", "slide", "ball")
        if joint not in joints:
            raise refuse(f"{where}: joint", repr(joint), "must be " + " or ".join(joints))
        if joint == "ball" and "axis" in each:
            raise refuse(f"{where}: axis", repr(each["axis"]), "must be left out: a ball joint has none")
        made["slides"] = joint == "slide"
        made["ball"] = joint == "ball"
        for key, value in each.items():
            if key not in ("parent", "joint"):
                made[key] = _value(where, key, value, dimension)
        numbers[name] = len(links)
        links.append(made)
    surfaces = [
        {key: _value(where, key, value, dimension) for key, value in each.items()}
        for where, each in _parts(tree, "half_spaces", _SURFACE)
    ] or [{}]
    contacts = []
    for where, each in _parts(tree, "contacts", _CONTACT):
        own = {key: _value(where, key, value, dimension) for key, value in each.items() if key != "link"}
        own["link"] = link(where, "link", each.get("link"))
        for k, surface in enumerate(surfaces):
            name = own.get("name", "") + (f"/{k + 1}" if len(surfaces) > 1 else "")
            friction = max(surface.get("friction", 0.0), own.get("friction", 0.0))
            contacts.append({**surface, **own, "name": name, "friction": friction})
    springs = []
    for where, each in _parts(tree, "springs", _SPRING):
        made = {key: _value(where, key, value, dimension) for key, value in each.items() if key not in ("from", "to")}
        for key in ("from", "to"):
            made[key] = link(where, key, each.get(key), optional=True)
        springs.append(made)
    floating = tree.get("floating", True)
    if not isinstance(floating, bool):
        raise refuse("floating", repr(floating), "must be True or False")
    more = {"gravity": _value("mechanism", "gravity", tree["gravity"], dimension)} if "gravity" in tree else {}
    return dimension, {"floating": floating, "links": links, "contacts": contacts, "springs": springs, **more}
