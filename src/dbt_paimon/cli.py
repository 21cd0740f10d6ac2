"""The commands of `dbt-paimon`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from dbt.cli.options import MultiOption
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.paimon import behavior_flags
from dbt.adapters.paimon.machine.processes import has_clients
from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.profile import load_credentials, project_root
from dbt.adapters.paimon.spark import server
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt_paimon import selected_nodes
from dbt_paimon import stream as streams
from dbt_paimon.diff import command as diffs
from dbt_paimon.diff import sides
from dbt_paimon.env import command as environments
from dbt_paimon.env.create import create as create_environment
from dbt_paimon.env.project import Project as EnvironmentProject
from dbt_paimon.env.project import schema_suffix
from dbt_paimon.env.promote import promote as promote_environment
from dbt_paimon.plan import command as preview
from dbt_paimon.report import charts
from dbt_paimon.report import command as reporting
from dbt_paimon.report import page as pages
from dbt_paimon.server import control
from dbt_paimon.shell import prompt
from dbt_paimon.shell.project import Project
from dbt_paimon.words import SOME_COMMANDS_ONLY, command_at, options, without

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest


_TARGET_OPTIONS = (
    click.option("--project-dir", help="Folder of dbt_project.yml."),
    click.option("--profiles-dir", help="Folder of profiles.yml."),
    click.option("--profile", help="Profile to use instead of the project's."),
    click.option("--target", "-t", help="Target to use instead of the profile's default."),
    click.option("--vars", help="Variables for the project and the profile, as YAML."),
)

# The key under which click's context has dbt's options.
_DBT_OPTIONS: Final = "dbt-paimon.dbt"

_TOKEN_FLAG: Final = behavior_flags.SERVER_TOKEN["name"]

# Resolved from the current folder; dbt itself would resolve it from the project's folder.
_FOLDER: Final = click.Path(resolve_path=True)
# An option with several selectors, as in dbt.
_SELECTOR: Final[dict[str, Any]] = {"cls": MultiOption, "type": tuple, "multiple": True, "metavar": "SELECTOR…"}


class _Commands(click.Group):
    """The group of all commands; like dbt, it accepts dbt's options before the command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = command_at(args)
        own = {name for param in self.get_params(ctx) for name in param.opts}
        if 0 < at < len(args) and not own & set(args[:at]):
            args = [args[at], *args[:at], *args[at + 1 :]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Show errors of dbt and the adapter as a message without a traceback."""
        try:
            return super().invoke(ctx)
        except DbtBaseException as exc:
            raise click.ClickException(str(exc)) from None


class _SelectingCommand(click.Command):
    """A command that selects nodes: passes dbt's options through to dbt (see `_dbt_arguments`)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from dbt.cli.main import cli

        own = {name for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        dbts = {name for param in cli.params for name in (*param.opts, *param.secondary_opts)}
        rest, ctx.meta[_DBT_OPTIONS] = without([str(arg) for arg in args], {*dbts, *SOME_COMMANDS_ONLY} - own)
        return super().parse_args(ctx, rest)


# dbt's options that select nodes; the value of a short one may follow without a blank.
_SELECTING: Final = re.compile(r"--(?:select|selector|models?)(?==|$)|-[sm](?!-)")
_WITH_SAMPLES: Final = click.option(
    "--samples", default=5, show_default=True, help="How many rows of each kind to show."
)
_WITH_DIFF_OUTPUT: Final = click.option(
    "--output",
    type=click.Choice([diffs.TEXT, diffs.JSON, diffs.MARKDOWN]),
    default=diffs.TEXT,
    show_default=True,
    help="Text for people, one line of JSON per table, or Markdown for a pull request comment.",
)


def _with_target(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_TARGET_OPTIONS):
        command = option(command)
    return command


def _dbt_arguments(select: Sequence[str] = (), exclude: Sequence[str] = (), **values: str | int | None) -> list[str]:
    """The arguments for dbt: those that `_SelectingCommand` passes through, and this command's own options."""
    arguments = options(values)
    for name, selectors in (("--select", select), ("--exclude", exclude)):
        if selectors:
            arguments += [name, *selectors]
    return [*click.get_current_context().meta[_DBT_OPTIONS], *arguments]


@click.group(cls=_Commands)
@click.version_option(package_name="dbt-paimon")
def main() -> None:
    """Commands for Apache Paimon in addition to dbt's."""


@main.group("server")
def server_group() -> None:
    """A warm local Spark: targets with `method: connect` and no host run on it without starting a JVM."""


@server_group.command()
@_with_target
@click.option(
    "--idle-minutes",
    default=30.0,
    show_default=True,
    help="Stop the server after this many minutes without a client or a statement.",
)
def start(idle_minutes: float, **target: str | None) -> None:
    """Start the server of a target, unless it is already running."""
    runtime = Runtime(load_credentials(**target))
    server.require_warm_target(runtime.credentials)
    flags = behavior_flags.of_project(project_root(target["project_dir"]))
    asks_token = behavior_flags.is_on(flags, behavior_flags.SERVER_TOKEN)
    path = server.note_path(runtime.credentials)
    if (note := server.read_note(path)) is not None:
        _require_same_settings(note, runtime, asks_token)
        click.echo(f"Already running: {control.line(note)}")
        return
    # Report wrong versions, jars and settings here rather than in the log of the server's process.
    _ = runtime.conf
    if not asks_token:
        click.echo(
            f"Warning: {behavior_flags.SERVER_TOKEN['description']} The flag {_TOKEN_FLAG} is false in "
            "dbt_project.yml, and will be removed in 1.0: delete it.",
            err=True,
        )
    click.echo(control.line(control.start(path, idle_minutes, asks_token, target)))


def _require_same_settings(note: server.ServerNote, runtime: Runtime, asks_token: bool) -> None:
    if differences := server.mismatches(note, runtime):
        raise click.ClickException(
            f"A server of this target is already running (process {note.pid}), but does not match: "
            f"{'; '.join(differences)}. Stop it first: {server.STOP}"
        )
    if note.asks_token != asks_token:
        raise click.ClickException(
            f"The flag {_TOKEN_FLAG} is {str(asks_token).lower()}, but the server of this target (process "
            f"{note.pid}) was started when it was {str(note.asks_token).lower()}. Stop it first: {server.STOP}"
        )


@server_group.command()
def status() -> None:
    """Show the running servers; exit code 1 if no server runs."""
    notes = server.running()
    for note in notes:
        click.echo(control.line(note))
    if not notes:
        click.echo(f"No warm Spark server is running. Start one: {server.START}")
        sys.exit(1)


@server_group.command()
@_with_target
@click.option("--all", "every", is_flag=True, help="Stop all servers of this user.")
@click.option("--force", is_flag=True, help="Stop the server even if a client may be connected to it.")
def stop(every: bool, force: bool, **target: str | None) -> None:
    """Stop the server of a target, or all servers, unless a client is connected."""
    if every:
        notes = server.running()
    else:
        own = server.read_note(server.note_path(load_credentials(**target)))
        notes = [own] if own is not None else []
    for note in [] if force else notes:
        if (found := has_clients(note.port)) is not False:
            what = "A client is connected" if found else "This system does not show whether a client is connected"
            raise click.ClickException(
                f"{what} (dbt, a shell, a notebook), and its statements would fail: {control.line(note)}. End it "
                f"first, or stop the server anyway: {server.STOP} --force"
            )
    for note in notes:
        control.stop(note)
        click.echo(f"Stopped: {control.line(note)}")
    if not notes:
        click.echo(f"No warm Spark server is running{'' if every else ' for this target'}.")


@main.command()
@_with_target
@click.option(
    *("--select", "-s"),
    **_SELECTOR,
    required=True,
    help="Streaming models to run, in dbt's selection syntax (one or more).",
)
@click.option("--exclude", **_SELECTOR, help="Models to exclude.")
@click.option("--full-refresh", is_flag=True, help="Rebuild the tables from scratch first.")
def stream(select: tuple[str, ...], exclude: tuple[str, ...], full_refresh: bool, **target: str | None) -> None:
    """Run streaming models until Ctrl-C, which stops each after its current batch.

    They check for new rows every `processing_time` (config).
    """
    if not streams.run(select, exclude, full_refresh, target):
        sys.exit(1)


@main.command(cls=_SelectingCommand)
@_with_target
@click.option(*("--select", "-s"), **_SELECTOR, help="Models, seeds and snapshots, in dbt's selection syntax.")
@click.option("--exclude", **_SELECTOR, help="Nodes to exclude.")
@click.option(
    "--state",
    type=_FOLDER,
    help="Folder of an earlier manifest, for state:modified and --defer; on its own, selects what the changes affect.",
)
@click.option("--full-refresh", is_flag=True, help="Show what a run with --full-refresh would do.")
@click.option("--threads", type=int, help="How many nodes to preview at once.")
@click.option(
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, or one line of JSON per node.",
)
@click.option("--fail-on-loss", is_flag=True, help="Exit with 3 if the run would lose table snapshots or tags.")
def plan(full_refresh: bool, output: str, fail_on_loss: bool, **selection: Any) -> None:
    """Show what `dbt run` would do with each node, without writing anything.

    With --state, and neither a selection nor --defer, shows the nodes that changes since that state affect, and why.
    Exit code 1 if a node would fail. All other options are dbt's.
    """
    if selection["state"] and not (selection["select"] or selection["exclude"] or _passed("--defer", "--selector")):
        if fail_on_loss:
            raise click.ClickException(
                "--fail-on-loss needs a plan, and --state on its own only lists what changes affect. Add a selection: "
                "--select state:modified+"
            )
        _affected(selection, full_refresh=full_refresh, as_json=output == "json")
        return
    found = preview.run(_dbt_arguments(**selection), full_refresh, as_json=output == "json")
    if any(node.does is Action.FAIL or node.asks for node in found):
        sys.exit(1)
    if fail_on_loss and any(node.loses for node in found):
        sys.exit(3)


def _passed(*names: str) -> bool:
    """Whether one of dbt's options was given."""
    given = click.get_current_context().meta[_DBT_OPTIONS]
    return any(word.partition("=")[0] in names for word in given)


def _affected(selection: Mapping[str, Any], *, full_refresh: bool, as_json: bool) -> list[str]:
    """Print the nodes that the changes since a state affect; returns dbt's selectors for these nodes."""
    # Imported here, because importing sqlglot takes a second.
    from dbt_paimon.lineage import command

    target = {name: value for name, value in selection.items() if name not in ("select", "exclude", "state")}
    return command.changed(_dbt_arguments(**target), selection["state"], full_refresh=full_refresh, as_json=as_json)


def _affected_tables(selected: Sequence[str], state: str | None, target: Mapping[str, Any]) -> list[str]:
    """dbt's selectors for the tables that the changes since a state affect."""
    if selected or state is None:
        raise click.ClickException(
            "--affected selects what the changes since a state affect. Give it --state PATH and no other selection; "
            "--exclude is allowed, too."
        )
    from dbt_paimon.lineage import command

    return command.changed_tables(_dbt_arguments(**target), state)


@main.command(cls=_SelectingCommand)
@_with_target
@click.argument("column", metavar="MODEL[.COLUMN]")
@click.option("--up", is_flag=True, help="Only what the column is computed from.")
@click.option("--down", is_flag=True, help="Only what is computed from the column.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@click.option("--mermaid", is_flag=True, help="Print a Mermaid flowchart, which GitHub, GitLab and many wikis draw.")
@click.option("--threads", type=int, help="How many nodes to compile at once.")
def lineage(column: str, up: bool, down: bool, as_json: bool, mermaid: bool, **target: Any) -> None:
    """Show which columns a column is computed from, and which are computed from it.

    Value edges: a column's value is used. Row edges: it decides which rows there are (WHERE, JOIN, GROUP BY, windows).
    All other options are dbt's.
    """
    if as_json and mermaid:
        raise click.ClickException("--json and --mermaid print different formats. Leave one out.")
    from dbt_paimon.lineage import command

    output = "json" if as_json else "mermaid" if mermaid else "text"
    command.lineage(_dbt_arguments(**target), column, up=up or not down, down=down or not up, output=output)


@main.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@_with_target
@click.option("--affected", is_flag=True, required=True, help="Build what the changes since --state affect.")
@click.option("--state", type=_FOLDER, required=True, help="Folder of an earlier manifest with compiled code.")
@click.option("--full-refresh", is_flag=True, help="Rebuild incremental models.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[DBT'S OPTIONS]…")
def build(affected: bool, state: str, full_refresh: bool, arguments: tuple[str, ...], **target: str | None) -> None:
    """Build and test the nodes that the changes since a state affect; without --affected, this is `dbt build`.

    Prints the nodes with reasons first, as `dbt-paimon plan --state` does. All other options are dbt's.
    """
    from dbt.cli.main import cli

    from dbt_paimon.lineage import command

    if refused := next(filter(None, map(_SELECTING.match, arguments)), None):
        raise click.ClickException(
            f"{refused[0]} and --affected both select nodes. Leave one out: `dbt-paimon build {refused[0]} …` builds a "
            "selection. --exclude is allowed, too."
        )
    places = options(target)
    # Compile with these options only; `arguments` are for dbt's build.
    selectors = command.changed(places, state, full_refresh=full_refresh, as_json=False)
    if not selectors:
        return
    refresh = ["--full-refresh"] if full_refresh else []
    cli.main(args=["build", *places, *refresh, "--state", state, *arguments, "--select", *selectors])


@main.command(cls=_SelectingCommand)
@_with_target
@click.option(*("--select", "-s"), **_SELECTOR, help="Models, seeds, snapshots, sources, in dbt's selection syntax.")
@click.option("--exclude", **_SELECTOR, help="Nodes to exclude.")
@click.option("--state", type=_FOLDER, help="Folder of an earlier manifest, for state:modified.")
@click.option("--threads", type=int, help="How many tables to read at once.")
@click.option(
    "--output",
    *("-o", "path"),
    default="target/paimon_report.html",
    show_default=True,
    type=click.Path(dir_okay=False),
    help="File of the page.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON instead of writing the page.")
@click.option(
    "--results",
    multiple=True,
    type=click.Path(exists=True),
    help="run_results.json of an earlier run, or its folder; can be repeated.",
)
@click.option(
    "--fail-on", type=click.Choice(["warn"]), help="Exit with 3 if there is advice, or a table cannot be read."
)
def report(path: str, as_json: bool, results: tuple[str, ...], fail_on: str | None, **selection: Any) -> None:
    """Write one HTML page: tables, runs, advice and lineage.

    Reads metadata only. The page needs no server and no network. All other options are dbt's.
    """
    if not as_json:
        charts.pygal()  # Before any table is read, fail if pygal is not installed.
    made = reporting.run(_dbt_arguments(**selection), results)
    click.echo(pages.as_json(made) if as_json else pages.write(made, Path(path)))
    if fail_on and (made.advice or made.unread):
        sys.exit(3)


@main.command(cls=_SelectingCommand)
@_with_target
@click.argument("models", nargs=-1)
@click.option(*("--select", "-s"), **_SELECTOR, help="More models, seeds and snapshots, in dbt's selection syntax.")
@click.option("--exclude", **_SELECTOR, help="Nodes to exclude.")
@click.option(
    "--from",
    "from_",
    help="What to compare with: previous (before the newest commit), now, tag:…, snapshot:…, timestamp:…, branch:…, "
    "target:…, table:[catalog.]schema.name, or state. The default is state with --state, now with --to, else previous.",
)
@click.option("--to", help="The other side, in the same form; now by default.")
@click.option("--state", type=_FOLDER, help="Folder of an earlier manifest, for state and state:modified.")
@click.option("--affected", is_flag=True, help="The models, seeds and snapshots that the changes since --state affect.")
@click.option("--key", help="Columns by which rows are matched, separated by commas; the primary key by default.")
@_WITH_SAMPLES
@click.option("--threads", type=int, help="How many tables to compare at once.")
@_WITH_DIFF_OUTPUT
@click.option("--fail-on-diff", is_flag=True, help="Exit with 3 if a table differs.")
def diff(
    models: tuple[str, ...],
    select: tuple[str, ...],
    exclude: tuple[str, ...],
    from_: str | None,
    to: str | None,
    state: str | None,
    affected: bool,
    key: str | None,
    samples: int,
    threads: int | None,
    output: str,
    fail_on_diff: bool,
    **target: str | None,
) -> None:
    """Show how the rows of MODELS differ between two states of a table, two targets, or a pull request and its base.

    Exit code 1 if a table could not be compared. All other options are dbt's.
    """
    selected = [*models, *select]
    if affected:
        selected += _affected_tables(selected, state, target)
        if not selected:
            click.echo("The changes affect no model, seed or snapshot. Nothing was compared.")
            return
    arguments = _dbt_arguments(selected, exclude, threads=threads)
    usual = sides.Kind.STATE if state else sides.Kind.NOW if to else sides.Kind.PREVIOUS
    found = diffs.run(
        arguments,
        target,
        sides.read("--from", from_ or usual.value),
        sides.read("--to", to or sides.Kind.NOW.value),
        state=state,
        key=list(filter(None, map(str.strip, (key or "").split(",")))),
        samples=samples,
        output=output,
    )
    if any(difference.problem for difference in found):
        sys.exit(1)
    if fail_on_diff and not all(difference.is_empty for difference in found):
        sys.exit(3)


@main.group("env")
def env_group() -> None:
    """Environments: build and test changed nodes beside production, then publish their tables with one command."""


@env_group.command()
@_with_target
@click.argument("name")
@click.option("--state", type=_FOLDER, required=True, help="Folder of the manifest.json of production's last run.")
@click.option("--full-refresh", is_flag=True, help="Build incremental models in full, not from production's rows.")
def create(name: str, state: str, full_refresh: bool, **target: str | None) -> None:
    """Create the environment NAME, or replace it: build and test nodes that differ from production, and their readers.

    Run it with production's target. Exit code 1 if a node or a data test fails.
    """
    if not create_environment(EnvironmentProject(target, schema_suffix(name)), state, full_refresh=full_refresh):
        sys.exit(1)


@env_group.command("diff")
@_with_target
@click.argument("name")
@_WITH_SAMPLES
@_WITH_DIFF_OUTPUT
def diff_of_environment(name: str, samples: int, output: str, **target: str | None) -> None:
    """Show how the rows of the environment NAME differ from production's.

    Exit code 1 if a table could not be compared.
    """
    found = environments.diff(EnvironmentProject(target, schema_suffix(name)), samples=samples, output=output)
    if any(difference.problem for difference in found):
        sys.exit(1)


@env_group.command()
@_with_target
@click.argument("name")
def promote(name: str, **target: str | None) -> None:
    """Publish all tables of the environment NAME in production, one by one, or finish an interrupted promotion."""
    promote_environment(EnvironmentProject(target, schema_suffix(name)))


@env_group.command()
@_with_target
@click.argument("name")
@click.option("--force", is_flag=True, help="Drop it even if its promotion is not complete.")
def drop(name: str, force: bool, **target: str | None) -> None:
    """Drop the environment NAME; an interrupted promotion is finished first."""
    environments.drop(EnvironmentProject(target, schema_suffix(name)), force=force)


@main.command()
@_with_target
@click.option("--watch", is_flag=True, help="Begin with `watch`: build and test what you save.")
def shell(watch: bool, **target: str | None) -> None:
    """A prompt for dbt commands that keeps Spark and the project loaded, so that each command begins at once."""
    folder = project_root(target["project_dir"])
    if not (folder / "dbt_project.yml").is_file():
        raise click.ClickException(
            f"There is no dbt_project.yml in {folder}. Change to the project's folder, or set --project-dir."
        )
    prompt.start(Project(folder, target, run_loaded), watch)


def run_loaded(words: Sequence[str], manifest: Manifest | None) -> int:
    """Run a `dbt-paimon` command in this process, with its Spark, and return the exit code.

    With a manifest, the command does not parse the project.
    """
    loaded = selected_nodes.LOADED.set(manifest)
    try:
        main.main(args=list(words), prog_name="dbt-paimon", standalone_mode=False)
    except SystemExit as exc:
        return int(exc.code or 0)
    except click.ClickException as exc:
        # To stdout, which is sent to the client; stderr is the shell's own.
        click.echo(f"Error: {exc.format_message()}")
        return exc.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    finally:
        selected_nodes.LOADED.reset(loaded)
    return 0


if __name__ == "__main__":
    main()
