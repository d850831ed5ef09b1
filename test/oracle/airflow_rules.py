"""Writes what the trigger rules of Apache Airflow say of all states of up to five upstream tasks, as TSV.

It runs airflow/ti_deps/deps/trigger_rule_dep.py as it is; only what that file imports from the rest of Airflow is
replaced, so that no database is needed.

    pip download --no-deps apache-airflow-core==3.3.2
    python3 airflow_rules.py apache_airflow_core-3.3.2-py3-none-any.whl > ../workflow/testdata/airflow-trigger-rules.tsv
"""

import itertools
import sys
import types
import zipfile
from unittest import mock

RULES = [
    "all_success", "all_failed", "all_done", "all_skipped", "one_success", "one_failed", "one_done", "none_failed",
    "none_failed_min_one_success", "none_skipped", "all_done_min_one_success",
]
STATES = ["success", "failed", "skipped", "upstream_failed"]


def module(name, source=None, **names):
    made = types.ModuleType(name)
    made.__dict__.update(names)
    sys.modules[name] = made
    if source is not None:
        exec(compile(source, name, "exec"), made.__dict__)
    return made


class BaseTIDep:
    """Of the base class the rules use these two alone."""

    def _failing_status(self, reason=""):
        return types.SimpleNamespace(passed=False, reason=reason)

    def _passing_status(self, reason=""):
        return types.SimpleNamespace(passed=True, reason=reason)


def load(wheel):
    with zipfile.ZipFile(wheel) as z:
        def text(path):
            return z.read("airflow/" + path).decode()

        anything = mock.MagicMock()
        module("sqlalchemy", and_=anything, func=anything, or_=anything, select=anything)
        for name in ("airflow", "airflow.models", "airflow.task", "airflow.ti_deps", "airflow.ti_deps.deps",
                     "airflow.utils", "airflow.serialization", "airflow.serialization.definitions"):
            module(name).__path__ = []
        module("airflow.settings", json=anything)
        module("airflow.exceptions", NotMapped=type("NotMapped", (Exception,), {}))
        module("airflow.models.expandinput", NotFullyPopulated=type("NotFullyPopulated", (Exception,), {}))
        module("airflow.models.taskinstance", PAST_DEPENDS_MET="past_depends_met", TaskInstance=anything)
        module("airflow.serialization.definitions.mappedoperator", is_mapped=lambda task: False)
        module("airflow.ti_deps.deps.base_ti_dep", BaseTIDep=BaseTIDep)
        rules = module("airflow.task.trigger_rule", text("task/trigger_rule.py"))
        # The states are an enumeration of texts.
        states = types.SimpleNamespace(
            SUCCESS="success", FAILED="failed", SKIPPED="skipped", UPSTREAM_FAILED="upstream_failed", REMOVED="removed")
        module("airflow.utils.state", TaskInstanceState=states)
        dep = module("airflow.ti_deps.deps.trigger_rule_dep", text("ti_deps/deps/trigger_rule_dep.py"))
    return rules.TriggerRule, dep.TriggerRuleDep


def answer(rule, dep, upstreams):
    """run, or the state that Airflow gives the task, or wait."""
    tasks = [
        types.SimpleNamespace(task_id=f"u{i}", is_setup=False, get_needs_expansion=lambda: False)
        for i in range(len(upstreams))
    ]
    task = types.SimpleNamespace(
        upstream_list=tasks, upstream_task_ids={t.task_id for t in tasks}, trigger_rule=rule, is_teardown=False, dag=None,
        get_upstreams_only_setups=lambda: [], get_closest_mapped_task_group=lambda: None, task_group=None,
    )
    given = []
    ti = types.SimpleNamespace(
        task=task, map_index=-1, run_id="r", dag_id="d", get_dagrun=lambda session: None,
        set_state=lambda state, session: given.append(state) or True,
    )
    finished = [
        types.SimpleNamespace(task=tasks[i], task_id=tasks[i].task_id, state=s, map_index=-1)
        for i, s in enumerate(upstreams)
    ]
    context = types.SimpleNamespace(
        ensure_finished_tis=lambda dagrun, session: finished, flag_upstream_failed=True, have_changed_ti_states=False,
        wait_for_past_depends_before_skipping=False,
    )
    failing = [s for s in dep()._get_dep_statuses(ti=ti, dep_context=context, session=None) if not s.passed]
    if given:
        return given[-1]
    return "wait" if failing else "run"


def main():
    rules, dep = load(sys.argv[1])
    print("# What airflow/ti_deps/deps/trigger_rule_dep.py of apache-airflow-core 3.3.2 says of final upstream tasks.")
    print("# Source: https://pypi.org/project/apache-airflow-core/3.3.2/ (Apache License 2.0).")
    print("# Made by test/oracle/airflow_rules.py. Columns: rule, states of the upstream tasks, state of the task.")
    for rule in RULES:
        for n in range(1, 6):
            for upstreams in itertools.combinations_with_replacement(STATES, n):
                print(rule, ",".join(upstreams), answer(rules(rule), dep, upstreams), sep="\t")


main()
