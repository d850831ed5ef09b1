package chain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func job(next ...entity.Next) *entity.Job {
	return &entity.Job{
		ID: "01a21fe9-938d-796d-b6f7-1b5848b4d259", Name: "extract", Group: "pay", Version: 1, Next: next,
		Schedule: schedule.Spec{Kind: schedule.Cron, TimeZone: "Asia/Shanghai"},
	}
}

func run(j *entity.Job, status entity.Status, change func(e *entity.Execution)) *entity.Execution {
	e := &entity.Execution{
		JobID: j.ID, FireKey: identity.FireKey(noon), ScheduledTime: noon, ShardTotal: 1, JobVersion: 1, Status: status,
		EndTime: noon.Add(time.Minute), Attempt: 1,
	}
	e.ID = identity.ExecutionID(noon, j.ID, e.FireKey, 0)
	if change != nil {
		change(e)
	}
	return e
}

// The values of params are those of the run that ended; what is missing says what to do.
func TestParamsAreFilledFromTheRunThatEnded(t *testing.T) {
	const result = `{"rows": 42, "big": 12345678901234567890, "path": {"to": "a \"b\""}, "none": null, "list": [1, "x"]}`
	for _, c := range []struct{ params, want, wrong string }{
		{``, ``, ""},
		{`{}`, `{}`, ""},
		{`{"n": 1.50, "t": true, "x": null, "l": ["a"]}`, `{"l":["a"],"n":1.50,"t":true,"x":null}`, ""},
		{`{"s": "${status} ${reason}"}`, `{"s":"FAILED EXIT_CODE"}`, ""},
		{`{"d": "${scheduledTime:yyyy-MM-dd HH}"}`, `{"d":"2026-11-20 20"}`, ""},
		{`{"p": "${params.day}", "q": "${params.none:-x}"}`, `{"p":"monday","q":"x"}`, ""},
		{`{"r": "${result.rows}", "b": "${result.big}", "l": "${result.list}"}`, `{"b":12345678901234567890,"l":[1,"x"],"r":42}`, ""},
		{`{"r": "${result.path.to}", "n": "${result.none}"}`, `{"n":null,"r":"a \"b\""}`, ""},
		{`{"r": ["${result.gone:-7}"]}`, `{"r":["7"]}`, ""},
		{`{"e": "$${result.rows} $${status} $${params.x}"}`, `{"e":"${result.rows} ${status} ${params.x}"}`, ""},
		{`{"r": "${result.gone}"}`, "", "has no gone"},
		{`{"r": "${result.rows.deeper}"}`, "", "has no rows.deeper"},
		{`{"r": "at ${result.rows}"}`, "", "whole string"},
		{`{"r": "${result..rows}"}`, "", "no placeholder"},
		{`{"r": "${results}"}`, "", "no placeholder"},
		{`{"p": "${params.none}"}`, "", "params.none"},
		{`{"s": "${secret.KEY}"}`, "", "secret"},
		{`{"p": "${nonsense}"}`, "", "nonsense"},
	} {
		t.Run(c.params, func(t *testing.T) {
			j := job(entity.Next{Job: "b", On: entity.NextOnEnd, Params: json.RawMessage(c.params)})
			e := run(j, entity.StatusFailed, func(e *entity.Execution) {
				e.Reason, e.Result, e.Params = entity.ReasonExitCode, result, `{"day": "monday"}`
			})
			end, over := chain.EndOf(j, []*entity.Execution{e})
			require.True(t, over)
			starts := chain.Starts(end)
			require.Len(t, starts, 1)
			if c.wrong != "" {
				require.Contains(t, starts[0].Invalid, c.wrong)
				return
			}
			require.Empty(t, starts[0].Invalid)
			require.Equal(t, c.want, starts[0].Fire.Params)
		})
	}
}

// Params are checked when a job is saved, as far as they can be.
func TestParamsAreCheckedBeforeARun(t *testing.T) {
	for params, wrong := range map[string]string{
		`{"r": "${result.a.b}", "s": "${status}", "d": "${scheduledTime-1d:yyyy}", "p": "${params.x}"}`: "",
		`{"r": "x ${result.a}"}`: "whole string", `{"r": "${result.}"}`: "no placeholder", `{"r": "${secret.A}"}`: "secret",
		`{"r": "${nope}"}`: "nope", `[1]`: "object", `{"r": "${scheduledTime:QQ}"}`: "QQ",
	} {
		remedy := chain.Check(job(), json.RawMessage(params))
		if wrong == "" {
			require.Empty(t, remedy, params)
		} else {
			require.Contains(t, remedy, wrong, params)
		}
	}
}

// Too much is not handed on, and a fire of several shards has no one result.
func TestWhatCannotBeHandedOnIsSaid(t *testing.T) {
	j := job(entity.Next{Job: "b", On: entity.NextOnEnd, Params: json.RawMessage(`{"r": "${result}"}`)})
	for name, c := range map[string]struct {
		change func(e *entity.Execution)
		wrong  string
	}{
		"a long result":  {func(e *entity.Execution) { e.Result = strings.Repeat("x", chain.MaxParams) }, "at most"},
		"no result":      {func(*entity.Execution) {}, "no result"},
		"a sharded fire": {func(e *entity.Execution) { e.ShardTotal, e.Result = 2, "1" }, "several shards"},
	} {
		t.Run(name, func(t *testing.T) {
			end, over := chain.EndOf(j, []*entity.Execution{run(j, entity.StatusSuccess, c.change)})
			require.True(t, over)
			require.Contains(t, chain.Starts(end)[0].Invalid, c.wrong)
		})
	}
}

// The same rows make the same fire, whoever reads them: another end, job or shard makes another.
func TestAFireThatFollowsHasAComputedIdentity(t *testing.T) {
	j := job(entity.Next{Job: "b", On: entity.NextOnEnd})
	e := run(j, entity.StatusSuccess, nil)
	end, _ := chain.EndOf(j, []*entity.Execution{e})
	start := chain.Starts(end)[0]
	require.Equal(t, "next:1:"+e.ID+":"+identity.ExecutionID(e.EndTime, j.ID, e.FireKey, 0), start.Fire.Key)
	require.Equal(t, start.Fire.FirstID("b"), chain.ID(end, "b"))
	at, ok := identity.MomentOf(start.Fire.Key)
	require.True(t, ok)
	require.Equal(t, e.EndTime, at)
	require.Equal(t, e.EndTime.UnixMilli(), mustTime(t, chain.ID(end, "b")).UnixMilli())
	depth, parent, ok := identity.OfNextKey(start.Fire.Key)
	require.True(t, ok)
	require.Equal(t, 1, depth)
	require.Equal(t, e.ID, parent)
	require.LessOrEqual(t, len(strings.Replace(start.Fire.Key, "1", "16", 1)), 100, "the column of fire keys")
}

// While a shard is not final nothing is over, and the order of shards means nothing.
func TestAnEndIsThatOfTheWholeFire(t *testing.T) {
	j := job(entity.Next{Job: "b", On: entity.NextOnFailure})
	shard := func(i int, status entity.Status, ended time.Duration) *entity.Execution {
		return run(j, status, func(e *entity.Execution) {
			e.ShardIndex, e.ShardTotal, e.EndTime = i, 2, noon.Add(ended)
			e.ID = identity.ExecutionID(noon, j.ID, e.FireKey, i)
		})
	}
	a, b := shard(0, entity.StatusSuccess, time.Minute), shard(1, entity.StatusTimeout, time.Second)
	one, over := chain.EndOf(j, []*entity.Execution{a, b})
	require.True(t, over)
	other, _ := chain.EndOf(j, []*entity.Execution{b, a})
	require.Equal(t, one, other)
	require.Equal(t, []any{entity.StatusTimeout, a, a.EndTime}, []any{one.Outcome, one.First, one.Ended})
	b.Status = entity.StatusRunning
	_, over = chain.EndOf(j, []*entity.Execution{a, b})
	require.False(t, over)
	_, over = chain.EndOf(j, nil)
	require.False(t, over)
}

func mustTime(t *testing.T, id string) time.Time {
	t.Helper()
	at, ok := identity.TimeOf(id)
	require.True(t, ok)
	return at
}
