"""Writes which states AWS Step Functions enters in random machines whose states fail and catch, and what becomes of
maps with items that fail, as TSV.

The machines are run by the interpreter in moto, which follows the Amazon States Language; nothing is called. It knows
no tolerated failures: those rules stand in TestMapsOfStepFunctions, as their documentation has them.

    pip install "moto[stepfunctions]==5.2.5"
    python3 stepfunctions_rules.py paths > ../workflow/testdata/stepfunctions-paths.tsv
    python3 stepfunctions_rules.py maps > ../workflow/testdata/stepfunctions-maps.tsv
"""

import itertools
import json
import logging
import os
import random
import sys
import time

import boto3
import moto

MACHINES = 500
ROLE = "arn:aws:iam::123456789012:role/none"


def machine(r):
    """A machine without circles: each state goes on to a later one or ends, and may catch its failure."""
    n = r.randint(1, 8)
    nexts, catches = {}, {}
    for i in range(n):
        later = range(i + 1, n)
        nexts[i] = r.choice(later) if later and r.random() < 0.85 else None
        catches[i] = r.choice(later) if later and r.random() < 0.5 else None
    reached, ahead = set(), [0]
    while ahead:
        i = ahead.pop()
        if i is not None and i not in reached:
            reached.add(i)
            ahead += [nexts[i], catches[i]]
    return sorted(reached), nexts, catches, [i for i in sorted(reached) if r.random() < 0.35]


def state(i, nexts, catches, failing):
    work = {"Type": "Fail", "Error": "E"} if i in failing else {"Type": "Pass", "End": True}
    # A failure can be caught of a state with branches alone, as long as nothing is called.
    made = {"Type": "Parallel", "Branches": [{"StartAt": "work", "States": {"work": work}}]}
    if catches[i] is not None:
        made["Catch"] = [{"ErrorEquals": ["States.ALL"], "Next": f"s{catches[i]}"}]
    return made | ({"End": True} if nexts[i] is None else {"Next": f"s{nexts[i]}"})


def run(client, name, definition, given="{}"):
    made = client.create_state_machine(name=name, definition=json.dumps(definition), roleArn=ROLE)
    begun = client.start_execution(stateMachineArn=made["stateMachineArn"], name=name, input=given)
    while (found := client.describe_execution(executionArn=begun["executionArn"]))["status"] == "RUNNING":
        time.sleep(0.005)
    return found, client.get_execution_history(executionArn=begun["executionArn"])["events"]


def paths(client):
    r = random.Random(28)
    for k in range(MACHINES):
        states, nexts, catches, failing = machine(r)
        definition = {"StartAt": "s0", "States": {f"s{i}": state(i, nexts, catches, failing) for i in states}}
        found, events = run(client, f"m{k}", definition)
        entered = [e["stateEnteredEventDetails"]["name"] for e in events if e["type"] == "ParallelStateEntered"]
        listed = [",".join(f"{i}>{to[i]}" for i in states if to[i] is not None) or "-" for to in (nexts, catches)]
        print(",".join(map(str, states)), *listed, ",".join(map(str, failing)) or "-",
              ",".join(name[1:] for name in entered), found["status"], sep="\t")


def maps(client):
    choice = {"Type": "Choice", "Choices": [{"Variable": "$.fails", "BooleanEquals": True, "Next": "fail"}],
              "Default": "pass"}
    each = {"StartAt": "choice", "States": {
        "choice": choice, "fail": {"Type": "Fail", "Error": "E"}, "pass": {"Type": "Pass", "End": True}}}
    for most in (0, 1, 2):
        state = {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": most, "ItemProcessor": each, "End": True}
        for n in range(6):
            for fails in itertools.product((False, True), repeat=n):
                name = f"x{most}-{n}-" + "".join(str(int(f)) for f in fails)
                given = json.dumps({"items": [{"at": i, "fails": f} for i, f in enumerate(fails)]})
                found, _ = run(client, name, {"StartAt": "map", "States": {"map": state}}, given)
                order = [item["at"] for item in json.loads(found["output"])] if "output" in found else None
                print(most, n, ",".join(str(i) for i, f in enumerate(fails) if f) or "-", found["status"],
                      "-" if order is None else json.dumps(order), sep="\t")


HEADS = {
    "paths": "# Columns: states, next (from>to), catches (from>to), states that fail, states entered in order, status.",
    "maps": "# Columns: most at once (0: all), items, items that fail, status, the items of the results in order.",
}


@moto.mock_aws(config={"stepfunctions": {"execute_state_machine": True}})
def main(asked):
    logging.disable(logging.CRITICAL)
    print(f"# What Step Functions makes of machines: moto {moto.__version__} (Apache-2.0) was run.")
    print(f"# Made by test/oracle/stepfunctions_rules.py {asked}.")
    print(HEADS[asked])
    {"paths": paths, "maps": maps}[asked](boto3.client("stepfunctions", region_name="us-east-1"))


os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}
main(sys.argv[1])
