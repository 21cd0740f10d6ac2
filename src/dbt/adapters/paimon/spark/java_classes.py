"""Compiles the Java classes of this folder in the JVM."""

from __future__ import annotations

from importlib import resources
from typing import Any


def constructor(jvm: Any, name: str, parent: Any = None) -> Any:
    """The constructor of the class in `<name>.java`; `parent` is the class loader for its imports.

    The class is compiled with the compiler that Spark uses for queries, so that dbt-paimon need not ship a jar.
    """
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    if parent is not None:
        compiler.setParentClassLoader(parent)
    source = resources.files("dbt.adapters.paimon.spark") / f"{name}.java"
    compiler.cook(source.read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass(f"dbt.paimon.{name}").getConstructors()[0]
