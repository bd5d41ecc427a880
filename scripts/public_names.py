"""The public interface as a list of names: what a change of it must be announced for.

    python scripts/public_names.py            # print the names of this checkout
    python scripts/public_names.py --write    # at a release: they become tests/api/public_names.txt

Public are the names that ``imgcl`` and its packages list in ``__all__``, with the parameters of what ``imgcl`` itself
lists, and the commands of the command line with their options.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
from pathlib import Path

FILE = Path(__file__).parents[1] / "tests" / "api" / "public_names.txt"
PRIVATE = ("imgcl.cli", "imgcl._")


def names() -> list[str]:
    """Every public name, sorted."""
    return sorted({*library(), *command_line()})


def library() -> list[str]:
    """``module.name``, and ``module.name(parameter)`` for what the package itself offers."""
    import imgcl

    found = []
    packages = [module.name for module in pkgutil.walk_packages(imgcl.__path__, "imgcl.") if module.ispkg]
    for module in ("imgcl", *packages):
        if not module.startswith(PRIVATE):
            found += [f"{module}.{name}" for name in getattr(importlib.import_module(module), "__all__", ())]
    for name, home in imgcl._HOMES.items():
        public = getattr(importlib.import_module(home), name)
        if not (inspect.isclass(public) and issubclass(public, Exception)):
            found += [f"imgcl.{name}({parameter}=)" for parameter in inspect.signature(public).parameters]
    return found


def command_line() -> list[str]:
    """``imgcl command``, its arguments and its options."""
    import typer

    from imgcl.cli import app

    found = []
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        found.append(f"imgcl {name}")
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                found.append(f"imgcl {name} {str(parameter.name).upper()}")
            else:
                found += [f"imgcl {name} {option}" for option in parameter.opts + parameter.secondary_opts]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    text = "\n".join(names()) + "\n"
    if parser.parse_args().write:
        FILE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
