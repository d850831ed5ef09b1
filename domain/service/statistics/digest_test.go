package statistics_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// decoded are the ends of the digests of executions.
func decoded(t require.TestingT, executions []*entity.Execution) (ends []statistics.End) {
	digests, leftOut := statistics.Encode(executions, now)
	require.Zero(t, leftOut)
	for _, d := range digests {
		read, err := statistics.Decode(d.Data)
		require.NoError(t, err)
		require.Len(t, read, d.Ends)
		require.LessOrEqual(t, len(read), statistics.MaxEnds)
		ends = append(ends, read...)
	}
	return ends
}

func TestADigestHoldsWhatStatisticsNeed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		executions := rapid.SliceOfN(rapid.Custom(execution), 0, 450).Draw(t, "executions")
		ends := decoded(t, executions)
		require.Len(t, ends, len(executions))
		for i, e := range executions {
			got := ends[i]
			require.Equal(t, e.JobID, identity.Text(got.Job))
			require.Equal(t, []any{e.Status, e.Trigger, e.Reason, e.NodeID, e.JobVersion, e.RetryCount},
				[]any{got.Status, got.Trigger, got.Reason, got.Node, got.Version, got.Retries})
			require.Equal(t, e.EndTime.Truncate(time.Millisecond), got.At)
			require.Equal(t, e.Attempt > 0, got.Started)
			require.Equal(t, e.Duration.Truncate(time.Millisecond), got.Duration)
			require.Equal(t, e.Attempt == 1 && e.Trigger == entity.TriggerSchedule, got.Timed)
			if got.Timed {
				require.Equal(t, e.Lateness().Truncate(time.Millisecond), got.Lateness)
			}
			require.Equal(t, max(1, e.SkipCount), got.Fires)
			if e.ShardTotal > 1 && !e.IsRange() {
				require.Equal(t, []int{e.ShardIndex, e.ShardTotal}, []int{got.Shard, got.Shards})
			} else {
				require.Zero(t, got.Shards)
			}
		}
	})
}

func TestAPlainEndTakesAtMost32Bytes(t *testing.T) {
	t.Parallel()
	worst := plain(60_000)
	worst.JobVersion, worst.Duration = 16_383, 3*24*time.Hour
	worst.DueTime = worst.StartTime.Add(-34 * time.Minute)
	for _, e := range []*entity.Execution{plain(0), worst} {
		one, _ := statistics.Encode([]*entity.Execution{e}, now)
		two, _ := statistics.Encode([]*entity.Execution{e, e}, now)
		require.LessOrEqual(t, len(two[0].Data)-len(one[0].Data), 32)
	}
	many := make([]*entity.Execution, statistics.MaxEnds)
	for i := range many {
		many[i] = worst
	}
	digests, _ := statistics.Encode(many, now)
	require.Len(t, digests, 1)
	require.LessOrEqual(t, len(digests[0].Data), 32*len(many)+64)
}

func TestEndsOfAnySizeAreStored(t *testing.T) {
	t.Parallel()
	e := plain(0)
	e.JobVersion, e.RetryCount, e.Attempt = math.MaxInt, -1, 1
	e.Duration, e.StartTime, e.DueTime = math.MaxInt64, now.Add(-time.Hour), now
	e.EndTime = time.Date(999_999, 1, 1, 0, 0, 0, 0, time.UTC)
	e.NodeID = strings.Repeat("n", 1000)
	e.Reason, e.Trigger = "OF_TOMORROW", "OF_TOMORROW"
	got := decoded(t, []*entity.Execution{e, plain(0)})
	require.Equal(t, math.MaxInt32, got[0].Version)
	require.Zero(t, got[0].Retries)
	require.Greater(t, got[0].Duration, 30*365*24*time.Hour)
	require.Empty(t, got[0].Reason, "a reason that this release does not know")
	require.Empty(t, got[0].Trigger)
	require.Len(t, got[0].Node, 255)
	require.Equal(t, "scheduler-a-1:8080", got[1].Node)

	early := plain(0)
	early.DueTime = early.StartTime.Add(time.Minute)
	early.EndTime = time.Time{}
	got = decoded(t, []*entity.Execution{early})
	require.Zero(t, got[0].Lateness, "a run that started early is not late")
	require.Equal(t, now, got[0].At, "an end without a time is now")
}

func TestWhatIsNoEndIsLeftOut(t *testing.T) {
	t.Parallel()
	running, other := plain(0), plain(0)
	running.Status, other.JobID = entity.StatusRunning, "job-1"
	digests, leftOut := statistics.Encode([]*entity.Execution{running, plain(1), other}, now)
	require.Equal(t, 2, leftOut)
	require.Len(t, digests, 1)
	require.Equal(t, 1, digests[0].Ends)
	digests, leftOut = statistics.Encode([]*entity.Execution{running}, now)
	require.Equal(t, 1, leftOut)
	require.Empty(t, digests)
}

// A fire with shards that is decided not to run is one execution. One whose shards end
// at once, where they are made, is not.
func TestAFireThatDoesNotRunIsNoShard(t *testing.T) {
	t.Parallel()
	job := &entity.Job{ID: someJob, ShardCount: 3}
	fire := entity.PlannedFire(now, now, entity.TriggerSchedule)
	skipped := decoded(t, []*entity.Execution{entity.NewSkipped(job, fire, now, entity.ReasonOverlap), plain(0)})
	require.Zero(t, skipped[0].Shards)

	refused := entity.NewExecutions(job, fire, now)
	for i, e := range refused {
		refused[i] = e.Rejected(now, "no")
	}
	for i, e := range decoded(t, refused) {
		require.Equal(t, []int{i, 3}, []int{e.Shard, e.Shards})
	}

	waited := entity.NewExecutions(job, fire, now.Add(-time.Hour))
	require.NoError(t, waited[0].Skip(entity.ReasonDeadline, now))
	require.Equal(t, 3, decoded(t, waited[:1])[0].Shards, "a shard that has waited is one")

	again := entity.NewExecutions(job, fire, now.Add(-time.Hour))[1:2]
	again[0].RetryOf = "some other"
	require.NoError(t, again[0].Cancel("", now))
	require.Zero(t, decoded(t, again)[0].Shards, "a shard that is repeated by hand runs alone")

	job.ShardCount = statistics.MaxShards + 1
	vast := entity.NewExecutions(job, fire, now.Add(-time.Hour))[:1]
	require.NoError(t, vast[0].Cancel("", now))
	require.Zero(t, decoded(t, vast)[0].Shards)
}

func TestEveryStateTriggerAndReasonHasACode(t *testing.T) {
	t.Parallel()
	for _, status := range finals() {
		e := plain(0)
		e.Status = status
		require.Equal(t, status, decoded(t, []*entity.Execution{e})[0].Status)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../entity/execution.go", nil, 0)
	require.NoError(t, err)
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		of := spec.Type.(*ast.Ident).Name
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		e := plain(0)
		switch of {
		case "Trigger":
			e.Trigger = entity.Trigger(text)
		case "Reason":
			e.Reason = entity.Reason(text)
		}
		got := decoded(t, []*entity.Execution{e})[0]
		require.Equal(t, []any{e.Trigger, e.Reason}, []any{got.Trigger, got.Reason})
		found++
		return true
	})
	require.Greater(t, found, 20, "the constants of triggers and reasons are found")
}

// The form is stored: one that changes needs a version of its own.
func TestADigestIsFrozen(t *testing.T) {
	t.Parallel()
	failed := plain(250)
	failed.Status, failed.Reason, failed.RetryCount, failed.Attempt = entity.StatusDead, entity.ReasonExitCode, 2, 3
	shard := plain(500)
	shard.FireKey, shard.ShardIndex, shard.ShardTotal, shard.NodeID = "2026-11-22T10:20:00.000Z", 2, 3, "b"
	skipped := &entity.Execution{
		JobID: someJob, Trigger: entity.TriggerSchedule, Status: entity.StatusSkipped, Reason: entity.ReasonPaused,
		EndTime: now, SkipFrom: now.Add(-time.Hour), SkipTo: now, SkipCount: 360,
	}
	digests, _ := statistics.Encode([]*entity.Execution{plain(0), failed, shard, skipped}, now)
	require.Equal(t, strings.ReplaceAll(frozen, "\n", ""), fmt.Sprintf("%x", digests[0].Data))
}

const frozen = `
0104000001a202c58a2b
031101a1fae082e07c38bfcc281165379a91010300dc0b0c
0d6101a1fae082e07c38bfcc281165379a910103f303dc0b0a02
231101a1fae082e07c38bfcc281165379a910203e707dc0b0c1e280c6d245ec0ea0203
145101a1fae082e07c38bfcc281165379a9100000005e802
02127363686564756c65722d612d313a383038300162
`

func TestOldAndHostileDigestsAreRefused(t *testing.T) {
	t.Parallel()
	digests, _ := statistics.Encode([]*entity.Execution{plain(0), plain(1)}, now)
	good := digests[0].Data
	for n := range good {
		_, err := statistics.Decode(good[:n])
		require.ErrorIs(t, err, statistics.ErrCorrupt, "%d bytes", n)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"another version":     func(b []byte) []byte { b[0] = 2; return b },
		"no ends":             func(b []byte) []byte { b[1] = 0; return b },
		"more ends than data": func(b []byte) []byte { b[1] = 200; return b },
		"too many ends":       func(b []byte) []byte { b[1] = 201; return append(b, make([]byte, 10_000)...) },
		"a moment far away":   func(b []byte) []byte { b[2] = 0x7f; return b },
		"an unknown flag":     func(b []byte) []byte { b[10] |= 0x80; return b },
		"an unknown state":    func(b []byte) []byte { b[11] = 0xf1; return b },
		"no state":            func(b []byte) []byte { b[11] = 0x01; return b },
		"a node without name": func(b []byte) []byte { b[28] = 2; return b },
		"bytes behind":        func(b []byte) []byte { return append(b, 0) },
	} {
		_, err := statistics.Decode(change(slices.Clone(good)))
		require.ErrorIs(t, err, statistics.ErrCorrupt, name)
	}
}

func FuzzDecode(f *testing.F) {
	shard := plain(0)
	shard.ShardIndex, shard.ShardTotal, shard.Reason = 1, 4, entity.ReasonError
	span := entity.SkippedRange{First: now.Add(-time.Hour), End: now, Count: 9}
	skipped := entity.NewRange(&entity.Job{ID: someJob}, span, now)
	for _, executions := range [][]*entity.Execution{{plain(0)}, {shard, skipped}} {
		digests, _ := statistics.Encode(executions, now)
		f.Add(digests[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ends, err := statistics.Decode(data)
		if err != nil {
			require.ErrorIs(t, err, statistics.ErrCorrupt)
			require.Nil(t, ends)
			return
		}
		require.LessOrEqual(t, len(ends), statistics.MaxEnds)
		sums := statistics.NewSums()
		for i := range ends {
			require.NotEmpty(t, ends[i].Status)
			require.Positive(t, ends[i].Fires)
			sums.Add(&ends[i], "")
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	executions := make([]*entity.Execution, statistics.MaxEnds)
	for i := range executions {
		executions[i] = plain(i)
		executions[i].JobID = identity.RandomID(now)
	}
	b.ReportAllocs()
	for b.Loop() {
		statistics.Encode(executions, now)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(executions)), "ns/end")
}

func BenchmarkFold(b *testing.B) {
	executions := make([]*entity.Execution, statistics.MaxEnds)
	for i := range executions {
		executions[i] = plain(i)
		executions[i].JobID = identity.RandomID(now)
	}
	digests, _ := statistics.Encode(executions, now)
	b.ReportAllocs()
	for b.Loop() {
		sums := statistics.NewSums()
		ends, _ := statistics.Decode(digests[0].Data)
		for i := range ends {
			sums.Add(&ends[i], "")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(executions)), "ns/end")
}
