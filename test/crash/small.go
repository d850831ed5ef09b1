package crash

import (
	"strings"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The small workflows that a driver steers, and the job that one of them starts.
const (
	smallHeld    = "flow, small held"
	smallSteered = "flow, small steered"
	smallFails   = "flow, small fails"
	smallOne     = "flow, small one"
)

// onceEach is how often a small workflow fires that has no slower schedule, in seconds.
const onceEach = 1

// small are workflows of two to four steps. Most runs of a load are theirs, so that many runs close in little time.
// Together they have every kind of step, which the large ones of the other workflows meet less often.
func small(s sketch, size Size) []definition {
	slower := onceEach + 1
	handler, data := "noop", map[string]any{}
	if len(size.Handlers["last"]) > 0 {
		handler, data = "last", call(s.target, "ms=5")
	}
	one := s.of("", "${params.step}", 5, 5, `"above": "${params.in}"`)["http"].(map[string]any)
	one["body"] = strings.Replace(one["body"].(string), "${run.id}", "${params.run}", 1)
	work := map[string]any{"custom": map[string]any{"jobClass": handler, "data": data}}
	list := []definition{
		{history.Job{Name: smallOne, Called: true}, map[string]any{
			"jobType": "HTTP", "jobData": one, "schedule": map[string]any{"kind": "NONE"},
		}},
		flow("flow, small pair", onceEach, s.chain(2, 5), nil),
		flow("flow, small pair, too", onceEach, s.chain(2, 40), nil),
		flow("flow, small three", onceEach, s.chain(3, 5), nil),
		flow("flow, small three, too", onceEach, s.chain(3, 40), nil),
		flow("flow, small four", onceEach, s.chain(4, 5), nil),
		flow("flow, small diamond", onceEach, []any{
			s.step("a", 5, 0), with(s.step("b", 20, 15, "a"), needs("a")),
			with(s.step("c", 5, 10, "a"), map[string]any{"needs": []any{"a"}, "tolerate": true}),
			with(s.step("d", 5, 0, "b", "c"), needs("b", on("c", "done"))),
		}, nil),
		flow("flow, small any", onceEach, []any{
			s.step("a", 5, 20), s.step("b", 30, 20),
			with(s.step("c", 5, 0, "a", "b"), map[string]any{"needs": []any{"a", "b"}, "join": "ANY"}),
			with(s.step("d", 5, 0, "a"), map[string]any{
				"needs": []any{on("a", "done")}, "when": `steps.a.status != "SUCCESS" or steps.a.output.n > 3`,
			}),
			with(s.step("last", 5, 0), map[string]any{"finally": true}),
		}, nil),
		flow("flow, small list", onceEach, []any{
			s.step("list", 5, 0), with(s.each("each", "list", 10, 10, 3, 1), needs("list")),
			with(s.gather("gather", "each"), needs(on("each", "done"))),
		}, nil),
		flow("flow, small asked", onceEach, []any{
			s.step("a", 5, 0),
			with(map[string]any{"name": "ask", "approval": map[string]any{
				"users": voters(), "timeoutSec": 20, "onTimeout": "APPROVE",
			}}, needs("a")),
			with(s.step("b", 5, 0, "a"), needs("a", "ask")),
		}, nil),
		flow("flow, small job", onceEach, []any{
			s.step("a", 5, 0), named("one", smallOne, "a"), with(s.step("b", 5, 0, "a"), needs("a", on("one", "done"))),
		}, nil),
		flow("flow, small below", slower, []any{s.step("a", 5, 0), named("below", flowBelow, "a")}, nil),
		flow("flow, small custom", slower, []any{
			s.step("a", 5, 0), with(work, map[string]any{"name": "work", "needs": []any{"a"}}),
			with(s.step("b", 5, 0, "a"), needs("a", "work")),
		}, nil),
		flow("flow, small wait", slower, []any{
			s.step("a", 5, 0), with(map[string]any{"name": "pause", "wait": map[string]any{"forSec": 1}}, needs("a")),
			with(s.step("b", 5, 0, "a"), needs("a", "pause")),
		}, nil),
		flow("flow, small stop", slower, []any{
			s.step("a", 5, 30), s.step("b", 60, 0), with(s.step("c", 5, 0, "b"), needs("b")),
		}, map[string]any{"onStepFailure": "STOP"}),
		flow(smallFails, onceEach, []any{
			s.step("a", 5, 10), with(s.step("b", 5, 40, "a"), needs("a")), with(s.step("c", 5, 0, "a", "b"), needs("b")),
		}, nil),
		flow(smallHeld, onceEach, []any{
			s.step("a", 5, 50), with(s.step("b", 5, 40, "a"), needs(on("a", "ok"))),
		}, map[string]any{"onStepFailure": "HOLD"}),
		flow(smallSteered, onceEach, []any{
			s.step("first", 20, 0), with(map[string]any{"name": "pause", "wait": map[string]any{"forSec": 1}}, needs("first")),
			with(s.step("slow", 400, 10, "first"), needs("first")),
			with(s.step("end", 5, 0, "slow"), needs(on("slow", "done"), on("pause", "done"))),
		}, nil),
	}
	if size.Commands != "" {
		list = append(list, flow("flow, small command", slower, []any{
			s.step("a", 5, 0), with(map[string]any{"name": "work", "command": CommandData(size.Commands)}, needs("a")),
			with(s.step("b", 5, 0, "a"), needs("a", "work")),
		}, nil))
	}
	return list
}

// Passing is a workflow that someone deletes while its runs are open, and what the checker must know of it.
func Passing(target, name string) (job history.Job, body map[string]any) {
	s := sketch{target, 1}
	d := flow(name, 0, []any{
		s.step("first", 20, 0), with(map[string]any{"name": "pause", "wait": map[string]any{"forSec": 1}}, needs("first")),
		with(s.each("each", "first", 150, 0, 2, 0), needs("first")),
		with(s.step("slow", 300, 10, "first"), needs("first")),
		with(s.step("end", 5, 0, "slow"), needs("slow", "pause")),
		with(s.step("last", 5, 0), map[string]any{"finally": true}),
	}, nil)
	d.job.Passing = true
	return d.job, d.body
}
