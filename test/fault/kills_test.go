package fault_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var (
	kills = flag.Int("fault.kills", 24, "how many kills of nodes and workers there are beside the runs of workers")
	under = flag.Int("fault.under", 400, "how many runs of workers are under way meanwhile")
)

const (
	// lasts is how long each run is under way, each how often its job fires: a job has a hundred runs at once.
	lasts, each = 20 * time.Second, 200 * time.Millisecond
	// more is how many percent of the runs that are to be under way are planned, by one job more at least: kills end some.
	more = 125
	// perWorker is how many runs a worker is to have; half of its slots.
	perWorker = 250
	// fewest is how many workers there are at least: a kill ends the runs of one, which wait for most of half a minute.
	fewest = 16
)

// Gateways and workers are killed while thousands of runs are under way on workers: each planned fire has one outcome,
// and no attempt runs beside another.
func TestKillsWhileRunsOfWorkersAreUnderWay(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make prove")
		return
	}
	s := newStage(t, true, false)
	client := s.client()
	ids := s.crew(client, max(*under/perWorker, fewest))
	jobs, err := crash.CreateLong(t.Context(), client, s.url, *under*more/100/int(lasts/each)+1, each, lasts, ids)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.underWay() >= *under }, 2*time.Minute, time.Second, "runs are under way")

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a seed that can be repeated is the point
	counts, at := map[string]int{}, []time.Time{}
	for n := range *kills {
		at = append(at, time.Now())
		if n%2 == 0 {
			m := s.rig.Members[random.IntN(len(s.rig.Members))]
			m.Kill()
			time.Sleep(time.Duration(100+random.IntN(800)) * time.Millisecond)
			require.NoError(t, m.Revive(t.Context()))
			counts["nodes"]++
			continue
		}
		w := s.rig.Workers[random.IntN(len(s.rig.Workers))]
		w.Kill()
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		_, err := w.Start()
		require.NoError(t, err)
		counts["workers"]++
	}
	require.NoError(t, s.rig.Heal(t.Context()))
	s.settle()
	h, err := crash.Quiet(t.Context(), client, jobs, &crash.Hand{})
	require.NoError(t, err)
	h.Calls = s.target.Calls()
	require.NoError(t, fault.Former(t.Context(), client, &h))
	seen, again := inProgress(h.Calls, at), 0
	for _, r := range h.Rows {
		if r.Attempt > 1 {
			again++
		}
	}
	t.Logf("%d kills of nodes and %d of workers; runs under way at a kill: %d at least, %d in the middle; %d rows, %d of "+
		"them with a later attempt, which began after %s", counts["nodes"], counts["workers"], seen[0],
		seen[len(seen)/2], len(h.Rows), again, waits(h.Calls))
	require.NotZero(t, again, "no run was lost")
	require.GreaterOrEqual(t, seen[len(seen)/2], *under, "runs under way")
	for i, v := range history.Check(h) {
		require.Less(t, i, shown, "and more")
		prooftest.Violation(t, "%s: %s", v.Rule, v.Detail)
	}
}

// crew hires so many workers, and returns their ids when all are there.
func (s *stage) crew(client *crash.Client, n int) (ids []string) {
	s.t.Helper()
	token, err := client.CreateWorkerGroup(s.t.Context(), "shop")
	require.NoError(s.t, err)
	binary, err := rig.BuildWorker(s.t.Context(), s.rig.Dir, rig.ShopWorker)
	require.NoError(s.t, err)
	s.rig.WorkerSlots = 2 * perWorker
	for i := range n {
		w, err := s.rig.Hire(binary, "shop", token, fmt.Sprintf("w%d", i), crash.WorkerHandler)
		require.NoError(s.t, err)
		_, err = w.Start()
		require.NoError(s.t, err)
	}
	require.Eventually(s.t, func() bool {
		up, err := client.Workers(s.t.Context())
		ids = ids[:0]
		for _, id := range up {
			ids = append(ids, id)
		}
		return err == nil && len(up) == n
	}, time.Minute, 200*time.Millisecond, "the workers are there")
	return ids
}

// inProgress are how many calls there were at each moment, in order of size.
func inProgress(calls []history.Call, at []time.Time) []int {
	seen := make([]int, len(at))
	for _, c := range calls {
		for i, t := range at {
			if c.Start.Before(t) && c.End.After(t) {
				seen[i]++
			}
		}
	}
	slices.Sort(seen)
	return seen
}

// underWay is how many runs workers hold.
func (s *stage) underWay() int {
	return s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE claim_key >= 'R@' AND claim_key < 'RA'")
}

// waits tells how long it was from the end of a call that broke off to the begin of the next attempt.
func waits(calls []history.Call) string {
	cut := map[string]time.Time{}
	for _, c := range calls {
		if c.Answer == history.AnswerCut {
			cut[fmt.Sprint(c.Execution, c.Attempt)] = c.End
		}
	}
	var all []time.Duration
	for _, c := range calls {
		if end, ok := cut[fmt.Sprint(c.Execution, c.Attempt-1)]; ok {
			all = append(all, c.Start.Sub(end))
		}
	}
	if len(all) == 0 {
		return "(none)"
	}
	slices.Sort(all)
	return fmt.Sprintf("p50 %s, p99 %s, max %s", all[len(all)/2].Round(time.Millisecond),
		all[len(all)*99/100].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
}
