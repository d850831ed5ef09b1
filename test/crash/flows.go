package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The workflows that a driver steers.
const (
	flowHeld     = "flow, held"
	flowApproval = "flow, approval"
	flowSteered  = "flow, steered"
	flowEdited   = "flow, edited"
	flowLate     = "late" // an approval that is voted about when its time is over, or not at all
	flowAfter    = "flow, after"
	flowShards   = "flow, shards"
	flowBelow    = "flow, below"
)

// voters are the users who vote.
func voters() []string { return []string{"voter-1", "voter-2", "voter-3"} }

// sketch draws steps that call one target.
type sketch struct {
	target string
	// version is what the calls carry.
	version int
}

// step is one that waits so many milliseconds, fails in so many of a hundred executions, and tells the target what it
// read of others.
func (s sketch) step(name string, ms, odds int, reads ...string) map[string]any {
	in := make([]string, len(reads))
	for i, r := range reads {
		in[i] = fmt.Sprintf(`%q: "${steps.%s.output.v:-}"`, r, r)
	}
	return s.of(name, name, ms, odds, in...)
}

func (s sketch) of(name, key string, ms, odds int, in ...string) map[string]any {
	return map[string]any{"name": name, "http": map[string]any{
		"method": "POST", "url": fmt.Sprintf("%s%s?ms=%d&odds=%d", s.target, StepPath, ms, odds),
		"headers": map[string]any{"Content-Type": "application/json"},
		"body": fmt.Sprintf(`{"run": "${run.id}", "step": %q, "v": %d, "in": {%s}}`, key, s.version,
			strings.Join(in, ", ")),
	}}
}

// each makes a map of a step.
func (s sketch) each(name, list string, ms, odds, window, tolerate int) map[string]any {
	step := s.of(name, name+"[${index}]", ms, odds, `"item": "${item}"`)
	step["forEach"] = map[string]any{
		"items": "${steps." + list + ".output.list}", "maxParallel": window, "tolerate": map[string]any{"count": tolerate},
	}
	return step
}

// wide is a map over more items than one transaction starts.
func (s sketch) wide(name string, items, window int) map[string]any {
	step := s.of(name, name+"[${index}]", 1, 1, `"item": "${item}"`)
	list := make([]string, items)
	for i := range list {
		list[i] = fmt.Sprintf("w%d", i)
	}
	step["forEach"] = map[string]any{"items": list, "maxParallel": window, "tolerate": map[string]any{"count": items}}
	return step
}

// gather reads all results of a map.
func (s sketch) gather(name, of string) map[string]any {
	return s.of(name, name, 5, 0, fmt.Sprintf(`"outputs": ${steps.%s.outputs:-null}`, of))
}

// with adds fields.
func with(step map[string]any, fields map[string]any) map[string]any {
	maps.Copy(step, fields)
	return step
}

func needs(names ...any) map[string]any { return map[string]any{"needs": names} }

func on(step string, words ...string) map[string]any {
	return map[string]any{"step": step, "on": words}
}

// chain is a chain of so many steps.
func (s sketch) chain(n, ms int) []any {
	steps := []any{s.step("s0", ms, 0)}
	for i := 1; i < n; i++ {
		before := fmt.Sprintf("s%d", i-1)
		steps = append(steps, with(s.step(fmt.Sprintf("s%d", i), ms, 0, before), needs(before)))
	}
	return steps
}

// graph draws steps with every kind of edge.
func (s sketch) graph(r *rand.Rand) []any {
	words := []string{"success", "failure", "blocked", "skipped", "unsuccessful", "ok", "done"}
	var steps []any
	for i := range 6 + r.IntN(6) {
		var edges []any
		var reads []string
		takes := 0 // a success
		for k := range i {
			if r.IntN(3) > 0 {
				continue
			}
			name := fmt.Sprintf("s%d", k)
			reads = append(reads, name)
			if r.IntN(2) == 0 {
				word := words[r.IntN(len(words))]
				if edges = append(edges, on(name, word)); !slices.Contains([]string{"success", "ok", "done"}, word) {
					continue
				}
			} else {
				edges = append(edges, name)
			}
			takes++
		}
		step := s.step(fmt.Sprintf("s%d", i), 2+r.IntN(60), 25, reads...)
		if r.IntN(6) == 0 {
			step["tolerate"] = true
		}
		if len(edges) > 0 {
			step["needs"] = edges
			switch draw := r.IntN(4); {
			case draw == 0 && takes > 0:
				step["minSuccess"] = 1 + r.IntN(takes)
			case draw == 1:
				step["join"] = "ANY"
			case draw == 2:
				step["when"] = fmt.Sprintf(`steps.%s.status != "SUCCESS" or steps.%s.output.n > 3`, reads[0], reads[0])
			}
		}
		if r.IntN(6) == 0 {
			step["retryPolicy"] = map[string]any{"maxRetries": 1, "intervalMs": 50}
		}
		steps = append(steps, step)
	}
	if r.IntN(2) == 0 {
		steps = append(steps, with(s.step("last", 5, 15), map[string]any{"finally": true}))
	}
	return steps
}

// steered are the steps of workflows that a person acts on.
func (s sketch) steered() []any {
	return []any{
		s.step("first", 60, 0),
		with(map[string]any{"name": "pause", "wait": map[string]any{"forSec": 1}}, needs("first")),
		with(s.step("slow", 400, 10, "first"), needs("first")),
		with(s.each("each", "first", 80, 10, 2, 2), needs("first")),
		with(s.step("next", 30, 0, "slow"), needs("slow", on("pause", "done"))),
		with(s.step("end", 10, 0, "next"), needs(on("next", "done"), on("each", "done"))),
		with(s.step("last", 10, 0), map[string]any{"finally": true}),
	}
}

func flow(name string, seconds int, steps []any, fields map[string]any) definition {
	data := map[string]any{"steps": steps}
	body := map[string]any{"jobType": "WORKFLOW", "jobData": data, "schedule": map[string]any{"kind": "NONE"}}
	job := history.Job{Name: name, Flow: true}
	if seconds > 0 {
		body["schedule"], job.Step = every(seconds, nil), time.Duration(seconds)*time.Second
	}
	for field, value := range fields {
		switch field {
		case "onStepFailure":
			data[field] = value
		case "overlapPolicy":
			job.OneAtATime = true
			body[field] = value
		case "next":
			for _, next := range value.([]any) {
				of := next.(map[string]any)
				job.Next = append(job.Next, history.Next{Name: of["job"].(string), On: of["on"].(string)})
			}
			body[field] = value
		default:
			body[field] = value
		}
	}
	return definition{job, body}
}

// named is a step that starts another job and tells it who it is.
func named(name, job, before string) map[string]any {
	params := map[string]any{"run": "${run.id}", "step": name, "in": "${steps." + before + ".output.v}"}
	return with(map[string]any{"name": name, "job": map[string]any{"name": job, "params": params}}, needs(before))
}

// flows are workflows of every kind of step and edge, and the jobs that they start. The same seed draws the same ones.
func flows(target string, size Size) []definition {
	s := sketch{target, 1}
	flow := func(name string, seconds int, steps []any, fields map[string]any) definition {
		return flow(name, seconds*max(size.Pace, 1), steps, fields)
	}
	r := rand.New(rand.NewPCG(size.Seed, 3)) //nolint:gosec // it is to be repeatable
	plain := map[string]any{"kind": "NONE"}
	ofAStep := s.of("", "${params.step}", 30, 10, `"above": "${params.in}"`)["http"].(map[string]any)
	ofAStep["body"] = strings.Replace(ofAStep["body"].(string), "${run.id}", "${params.run}", 1)
	below := []any{
		s.of("s0", "s0", 20, 0, `"above": "${params.in}"`), with(s.step("s1", 20, 20, "s0"), needs("s0")),
		with(s.step("s2", 20, 0, "s1"), needs("s1")),
	}
	list := []definition{
		{
			history.Job{Name: flowAfter, Called: true},
			map[string]any{"jobData": call(target, "ms=5"), "schedule": plain},
		},
		{history.Job{Name: flowShards, Called: true, Shards: 3}, map[string]any{
			"jobType": "HTTP", "jobData": ofAStep, "schedule": plain, "shardCount": 3,
		}},
		flow(flowBelow, 0, below, nil),
		flow("flow, chain", 2, s.chain(10, 5), map[string]any{"next": []any{map[string]any{"job": flowAfter, "on": "END"}}}),
		flow("flow, map", 3, []any{
			s.step("list", 5, 0),
			with(s.each("each", "list", 40, 15, 3, 1), needs("list")),
			with(s.gather("gather", "each"), needs(on("each", "done"))),
			with(s.step("lost", 5, 0), needs(on("each", "failure"))),
		}, nil),
		flow("flow, named", 3, []any{
			s.step("a", 10, 0),
			named("shards", flowShards, "a"),
			named("below", flowBelow, "a"),
			with(s.step("b", 10, 0, "a"), needs("a", on("shards", "success", "failure"), on("below", "done"))),
			with(s.step("bad", 10, 0), needs(on("below", "failure"))),
		}, nil),
		flow("flow, stop", 3, []any{
			s.step("a", 10, 20), s.step("b", 200, 10), with(s.step("c", 10, 20, "a"), needs("a")),
			with(s.step("d", 10, 0, "b", "c"), needs("b", "c")),
			with(s.step("last", 10, 10), map[string]any{"finally": true}),
		}, map[string]any{"onStepFailure": "STOP"}),
		flow(flowHeld, 3, []any{
			s.step("a", 10, 50), s.step("b", 100, 20), with(s.step("c", 10, 30, "a"), needs("a")),
			with(s.step("d", 10, 0, "b", "c"), needs(on("b", "ok"), on("c", "ok"))),
			with(s.each("e", "d", 20, 30, 2, 0), needs("d")),
			with(s.step("f", 10, 0), needs(on("e", "ok"))),
		}, map[string]any{"onStepFailure": "HOLD"}),
		flow(flowApproval, 3, []any{
			s.step("a", 10, 0),
			with(map[string]any{"name": "ask", "approval": map[string]any{"users": voters(), "need": 2}}, needs("a")),
			with(map[string]any{"name": flowLate, "approval": map[string]any{
				"users": voters(), "timeoutSec": 1, "onTimeout": "APPROVE",
			}}, needs("a")),
			with(map[string]any{"name": "never", "tolerate": true, "approval": map[string]any{
				"users": voters(), "need": 3, "timeoutSec": 1, "onTimeout": "FAIL",
			}}, needs("a")),
			with(s.step("then", 10, 0, "a"), needs(flowLate, on("never", "done"), "a")),
			with(s.step("yes", 10, 0, "a"), needs("ask")), with(s.step("no", 10, 0, "a"), needs("a", on("ask", "failure"))),
		}, nil),
		flow(flowSteered, 2, s.steered(), nil),
		flow("flow, timed", 3, append(s.chain(8, 120), with(s.step("last", 10, 0), map[string]any{"finally": true})),
			map[string]any{"timeoutSec": 1}),
		flow("flow, wide", 15, []any{s.wide("each", 220, 210), with(s.step("end", 5, 0), needs("each"))}, nil),
		flow(flowEdited, 2, s.chain(4, 20), nil),
		flow("flow, replace", 1, s.chain(5, 150), map[string]any{"overlapPolicy": "REPLACE"}),
		flow("flow, serial", 2, s.chain(4, 150), map[string]any{"overlapPolicy": "SERIAL"}),
	}
	for i := range 4 {
		list = append(list, flow(fmt.Sprintf("flow, graph %d", i), 3, s.graph(r), nil))
	}
	if size.Small {
		list = append(list, small(s, size)...)
	}
	return list
}
