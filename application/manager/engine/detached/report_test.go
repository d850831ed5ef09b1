package detached_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// News are stored by whoever gets them, in the order in which they come.
func TestNewsAreStoredByWhicheverNodeGetsThem(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := rigOn(t, cfg, 3)
		exec := r.detached(r.one(), r.job(nil).ID)
		state := "row 7"
		for i, report := range []entity.RunReport{
			says("one", "two\nthree"),
			{Progress: 40, Lines: []string{"four"}},
			{Progress: -1, Checkpoint: &state},
			says("five\x00"),
			{Progress: 60},
		} {
			require.NoError(t, r.report(r.nodes[i%3], exec.ID, 1, report))
		}
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, []any{60, "row 7", entity.StatusRunning}, []any{got.Progress, got.Checkpoint, got.Status})
		chunks := r.lines(exec.ID)
		require.Regexp(t, `^the target accepted the call of node node-\d and reports the end of the run, until 2026-11-20T12:01:00.000Z$`, chunks[0].Content)
		var lines []string
		for _, c := range chunks[1:] {
			require.Equal(t, entity.LogStdout, c.Type)
			lines = append(lines, strings.Split(c.Content, "\n")...)
		}
		require.Equal(t, []string{"one", "two", "three", "four", "five\ufffd"}, lines)
		require.NoError(t, r.report(r.nodes[2], exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusSuccess,
			Result: "42", Lines: []string{"six"},
		}))
		got = r.one().Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusSuccess, "42", 100, time.Duration(0)},
			[]any{got.Status, got.Result, got.Progress, got.Duration})
		chunks = r.lines(exec.ID)
		require.Equal(t, "six", chunks[len(chunks)-1].Content)
	})
}

// Reports of one run over several nodes at once neither lose nor overwrite lines.
func TestReportsAtTheSameTimeKeepEveryLine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := rigOn(t, cfg, 2)
		exec := r.detached(r.one(), r.job(nil).ID)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for k := range 10 {
					if err := r.report(r.nodes[i%2], exec.ID, 1, says(fmt.Sprintf("%d-%d", i, k), "and more")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		next, seen := map[string]int{}, int64(0)
		for _, c := range r.lines(exec.ID)[1:] {
			require.Greater(t, c.SeqFrom, seen)
			require.Equal(t, c.SeqFrom+1, c.SeqTo)
			seen = c.SeqTo
			who, n, _ := strings.Cut(strings.Split(c.Content, "\n")[0], "-")
			require.Equal(t, fmt.Sprint(next[who]), n)
			next[who]++
		}
		require.Equal(t, map[string]int{"0": 10, "1": 10, "2": 10, "3": 10}, next)
	})
}

// A caller without a token of the attempt learns nothing and changes nothing.
func TestOnlyTheTokenOfTheAttemptCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		job := r.job(nil)
		exec, other := r.detached(r.one(), job.ID), r.detached(r.one(), job.ID)
		mine := r.token(exec.ID, 1)
		for name, call := range map[string]struct{ id, token string }{
			"none":           {exec.ID, ""},
			"another run's":  {exec.ID, r.token(other.ID, 1)},
			"cut":            {exec.ID, mine[1:]},
			"changed":        {exec.ID, strings.Repeat("A", len(mine))},
			"long":           {exec.ID, mine + mine},
			"of nobody":      {"nobody", mine},
			"of a wrong run": {other.ID, mine},
		} {
			requireCode(t, r.nodes[1].Detached.Authorize(t.Context(), call.id, call.token), apperror.KindUnauthenticated,
				"run_token")
			err := r.nodes[1].Detached.Report(t.Context(), call.id, call.token, ended(entity.StatusSuccess))
			requireCode(t, err, apperror.KindUnauthenticated, "run_token")
			require.NotContains(t, err.Error(), mine, name)
		}
		require.NoError(t, r.nodes[1].Detached.Authorize(t.Context(), exec.ID, mine))
		require.Equal(t, entity.StatusRunning, r.one().Execution(t, exec.ID).Status)
		tokens := fmt.Sprint(r.one().Store.RunToken(t.Context(), exec.ID, entity.RunTokenHash(mine)))
		require.NotContains(t, tokens, mine, "the store keeps no token")
	})
}

// An end is an end: what comes after it counts for nothing, and is told so.
func TestAnEndIsTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		exec := r.detached(r.one(), r.job(nil).ID)
		require.NoError(t, r.report(r.one(), exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusSuccess,
			Result: "first",
		}))
		for _, late := range []entity.RunReport{
			ended(entity.StatusSuccess), ended(entity.StatusFailed),
			ended(entity.StatusFailed), says("late"),
		} {
			requireCode(t, r.report(r.nodes[1], exec.ID, 1, late), apperror.KindConflict, "run_over")
		}
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusSuccess, "first"}, []any{got.Status, got.Result})
		var evidence []string
		for _, c := range r.lines(exec.ID) {
			require.NotContains(t, c.Content, "late")
			if c.Type == entity.LogEvidence {
				evidence = append(evidence, c.Content)
			}
		}
		require.Equal(t, []string{"refused: the target reported FAILED for attempt 1, which is over; the run is SUCCESS; " +
			"its message was: no stock"}, evidence,
			"once, however often it is repeated; the same end again is none")
	})
}

// Two ends at the same moment: one of them counts.
func TestOfEndsAtTheSameTimeOneCounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := rigOn(t, cfg, 2)
		job := r.job(func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		for range 5 {
			exec := r.detached(r.one(), job.ID)
			var wg sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs {
				wg.Go(func() {
					errs[i] = r.report(r.nodes[i%2], exec.ID, 1, entity.RunReport{
						Progress: -1, Status: entity.StatusSuccess,
						Result: fmt.Sprint(i),
					})
				})
			}
			wg.Wait()
			taken := slices.IndexFunc(errs, func(err error) bool { return err == nil })
			require.GreaterOrEqual(t, taken, 0)
			for i, err := range errs {
				if i != taken {
					requireCode(t, err, apperror.KindConflict, "run_over")
				}
			}
			require.Equal(t, fmt.Sprint(taken), r.one().Execution(t, exec.ID).Result)
		}
	})
}

// A retry goes on from the checkpoint, and the attempt before it is not heard
// any more.
func TestARetryGetsTheCheckpointAndTheFormerAttemptIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		exec := r.detached(r.one(), r.job(limited(2)).ID)
		state, latest := "row 7", "row 9"
		require.NoError(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{Progress: 30, Checkpoint: &state}))
		r.one().Clock.Advance(limit)
		_, err := r.nodes[1].Detached.SweepDeadlines(t.Context())
		require.NoError(t, err)
		requireCode(t, r.report(r.nodes[1], exec.ID, 1, says("late")), apperror.KindConflict, "run_over")
		second := r.tryAgain(exec.ID, 2)
		require.Equal(t, "row 7", second.Checkpoint)
		attempts, err := r.one().Store.Executions.Attempts(t.Context(), exec.ID)
		require.NoError(t, err)
		require.Len(t, attempts, 1)
		require.Equal(t, []any{entity.StatusTimeout, entity.ReasonTimeout, 30},
			[]any{attempts[0].Status, attempts[0].Reason, attempts[0].Progress})
		require.Equal(t, "the target accepted the run and did not report its end within 1m0s", attempts[0].ErrorMessage)

		requireCode(t, r.report(r.nodes[1], exec.ID, 1, ended(entity.StatusSuccess)), apperror.KindConflict, "run_over")
		require.Equal(t, entity.StatusRunning, r.one().Execution(t, exec.ID).Status, "the second attempt goes on")
		require.NoError(t, r.report(r.one(), exec.ID, 2, entity.RunReport{
			Progress: 80, Status: entity.StatusFailed,
			Checkpoint: &latest, Lines: []string{"second"},
		}))
		third := r.tryAgain(exec.ID, 3)
		require.Equal(t, "row 9", third.Checkpoint)
		require.Equal(t, 2, third.RetryCount)
		seen := append(r.nodes[0].Script.Runs(), r.nodes[1].Script.Runs()...)
		var got []string
		for attempt := 1; attempt <= 3; attempt++ {
			for _, run := range seen {
				if run.Execution.Attempt == attempt {
					got = append(got, run.Execution.Checkpoint)
				}
			}
		}
		require.Equal(t, []string{"", "row 7", "row 9"}, got, "what the targets were given")
		var numbers []int64
		for _, c := range r.lines(exec.ID) {
			numbers = append(numbers, c.SeqFrom)
			if c.Content == "second" {
				require.Equal(t, entity.LineNumber(2, 1000), c.SeqFrom)
			}
		}
		require.True(t, slices.IsSorted(numbers))
	})
}

func TestATargetMayForbidRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		exec := r.detached(r.one(), r.job(limited(2)).ID)
		require.NoError(t, r.report(r.one(), exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusFailed,
			NoRetry: true,
		}))
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusFailed, "the target reported a failure and did not say why"},
			[]any{got.Status, got.ErrorMessage})
	})
}

// Targets end their lines as they like; a line that returns is replaced by the next one.
func TestReportedLinesEndAtEachKindOfEnd(t *testing.T) {
	r := newRig(t, 1)
	exec := r.detached(r.one(), r.job(nil).ID)
	require.NoError(t, r.report(r.one(), exec.ID, 1, says("one\r\ntwo\r\n", "a\rb\rc", "middle", "10%\r", "20%\r")))
	require.NoError(t, r.report(r.one(), exec.ID, 1, says("100%", "the end")))
	var got []string
	numbers := map[int64]bool{}
	for _, c := range r.lines(exec.ID) {
		if c.Type != entity.LogStdout {
			continue
		}
		lines := strings.Split(c.Content, "\n")
		require.Equal(t, c.SeqTo-c.SeqFrom+1, int64(len(lines)), "as many numbers as lines")
		for i, line := range lines {
			require.False(t, numbers[c.SeqFrom+int64(i)])
			numbers[c.SeqFrom+int64(i)] = true
			got = append(got, line)
		}
	}
	require.Equal(t, []string{"one", "two", "c", "middle", "20%\r", "100%", "the end"}, got)
}

// The log of an attempt is bounded, whoever writes it and in however many reports.
func TestReportedLinesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		exec := r.detached(r.one(), r.job(nil).ID)
		line := strings.Repeat("x", 7<<10)
		for range 200 {
			require.NoError(t, r.report(r.one(), exec.ID, 1, says(line, strings.Repeat("y", 20<<10))))
		}
		total, cut := 0, 0
		for _, c := range r.lines(exec.ID) {
			total += len(c.Content)
			if c.Truncated {
				cut++
			}
			for _, l := range strings.Split(c.Content, "\n") {
				require.LessOrEqual(t, len(l), entity.MaxLogLine)
			}
		}
		require.Equal(t, 1, cut)
		require.Less(t, total, entity.LogLimit+1000)
		require.Greater(t, total, entity.LogLimit-20<<10)
		require.NoError(t, r.report(r.one(), exec.ID, 1, ended(entity.StatusSuccess)), "what counts is taken all the same")

		chatty := r.detached(r.one(), exec.JobID)
		for range 100 {
			require.NoError(t, r.report(r.one(), chatty.ID, 1, says("")))
		}
		kept, _, err := r.one().Store.RunToken(t.Context(), chatty.ID, entity.RunTokenHash(r.token(chatty.ID, 1)))
		require.NoError(t, err)
		require.Greater(t, kept.Bytes, 100*60, "also empty lines cost their rows")
	})
}

// A target may report its progress for hours: what it says at its end is in the log.
func TestReportedProgressLeavesRoomForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		exec := r.detached(r.one(), r.job(nil).ID)
		bar := strings.Repeat("=", 8000) + "\r"
		for range 150 {
			require.NoError(t, r.report(r.one(), exec.ID, 1, says(bar)))
		}
		require.NoError(t, r.report(r.one(), exec.ID, 1, says(bar, "done", bar)))
		chunks := r.lines(exec.ID)
		last := chunks[len(chunks)-1]
		require.False(t, last.Truncated)
		require.Equal(t, "done", last.Content)
	})
}

// A store that does not answer takes no report, and the target may repeat it.
func TestATargetReportsAgainWhenTheStoreIsAway(t *testing.T) {
	for name, c := range map[string]struct {
		faults []enginetest.Fault
		// again is what a repeated report is told.
		again string
	}{
		"the store is away":                   {[]enginetest.Fault{enginetest.Refused}, ""},
		"the commit is lost":                  {[]enginetest.Fault{enginetest.LostCommit}, ""},
		"the answer of the store is lost":     {[]enginetest.Fault{enginetest.LostReply}, "run_over"},
		"the transaction runs more than once": {nil, "run_over"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 2)
				exec := r.detached(r.one(), r.job(nil).ID)
				if c.faults == nil {
					r.nodes[1].Faults.Next("complete", enginetest.Deadlock)
				} else {
					r.nodes[1].Faults.Next("complete", c.faults...)
				}
				report := entity.RunReport{Progress: -1, Status: entity.StatusSuccess, Result: "42", Lines: []string{"once"}}
				err := r.report(r.nodes[1], exec.ID, 1, report)
				if c.faults != nil {
					require.True(t, apperror.Is(err, apperror.KindUnavailable), "%v", err)
				} else {
					require.NoError(t, err)
				}
				err = r.report(r.one(), exec.ID, 1, report)
				if c.again != "" {
					requireCode(t, err, apperror.KindConflict, c.again)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, "42", r.one().Execution(t, exec.ID).Result)
				times := 0
				for _, chunk := range r.lines(exec.ID) {
					times += strings.Count(chunk.Content, "once")
					require.NotEqual(t, entity.LogEvidence, chunk.Type)
				}
				require.Equal(t, 1, times)
			})
		})
	}
	r := newRig(t, 1)
	exec := r.detached(r.one(), r.job(nil).ID)
	r.one().Faults.Away(true)
	require.True(t, apperror.Is(r.report(r.one(), exec.ID, 1, says("news")), apperror.KindUnavailable))
	r.one().Faults.Away(false)
	require.NoError(t, r.report(r.one(), exec.ID, 1, says("news")))
}

// The moment between the answer of the target and the detaching write.
func TestAReportMayComeBeforeTheRunIsDetached(t *testing.T) {
	for name, c := range map[string]struct {
		report entity.RunReport
		want   entity.Status
	}{
		"its end": {
			entity.RunReport{Progress: -1, Status: entity.StatusSuccess, Result: "quick"},
			entity.StatusSuccess,
		},
		"a failure that is tried again": {ended(entity.StatusFailed), entity.StatusWaiting},
		"its news":                      {entity.RunReport{Progress: 30, Lines: []string{"begun"}}, entity.StatusRunning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := firstAtWork(t, 2)
				n := r.one()
				reported := make(chan error, 1)
				n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
					o := r.Reply(ctx, run, rep)
					n.Clock.Advance(3 * time.Second)
					reported <- r.nodes[1].Detached.Report(t.Context(), run.Execution.ID, r.token(run.Execution.ID, 1), c.report)
					return o
				})
				exec := n.Trigger(t, r.job(limited(1)).ID)[0]
				require.NoError(t, <-reported)
				enginetest.Await(t, func() bool {
					running, _ := n.Runner.Load(entity.SlotGeneral)
					return running == 0
				}, "the slot is free")
				got := n.Execution(t, exec.ID)
				require.Equal(t, []any{c.want, c.want == entity.StatusRunning}, []any{got.Status, got.Detached()})
				if c.want == entity.StatusSuccess {
					require.Equal(t, []any{enginetest.Noon, 3 * time.Second, time.Duration(0)},
						[]any{got.StartTime, got.Duration, got.Lateness()}, "it began before the report")
				}
				if c.want == entity.StatusRunning {
					require.Equal(t, 30, got.Progress, "the detaching write keeps the news")
					require.NoError(t, r.report(n, exec.ID, 1, ended(entity.StatusSuccess)))
				}
				require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }), "there is nothing wrong with it")
				for _, chunk := range r.lines(exec.ID) {
					require.NotEqual(t, entity.LogEvidence, chunk.Type)
				}
			})
		})
	}
}

// A target that fails the run before it has answered may find the next attempt on
// the same node: the call that goes on is of no use any more.
func TestTheNextAttemptEndsTheCallOfTheFormer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		n := r.one()
		reported, cut, over := make(chan error, 1), make(chan error, 1), make(chan struct{})
		t.Cleanup(func() { close(over) })
		n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
			o := r.Reply(ctx, run, rep)
			if run.Execution.Attempt > 1 {
				return o
			}
			reported <- r.report(n, run.Execution.ID, 1, ended(entity.StatusFailed))
			select {
			case <-ctx.Done():
			case <-over:
			}
			cut <- context.Cause(ctx)
			return entity.Failed(entity.ReasonError, "no answer")
		})
		exec := n.Trigger(t, r.job(limited(1)).ID)[0]
		require.NoError(t, <-reported)
		r.tryAgain(exec.ID, 2)
		require.ErrorIs(t, <-cut, entity.ErrStopLost, "the call of the first attempt ends")
		require.True(t, n.Execution(t, exec.ID).Detached(), "the second attempt goes on")
	})
}
