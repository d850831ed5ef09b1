package fault_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// What a node's loss costs, and what does not cost a node.
func TestLossesOfNodes(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := newStage(t, true, false)
	var ticking []string
	for i := range 60 {
		ticking = append(ticking, s.job(fmt.Sprint("tick ", i), 1, "500"))
	}
	time.Sleep(3 * time.Second)
	t.Run("slow store", s.slow)
	t.Run("killed", func(t *testing.T) { s.lose(t, ticking, false) })
	t.Run("frozen", func(t *testing.T) { s.lose(t, ticking, true) })
	t.Run("flooded", s.flood)
}

// lose takes a node away and measures until its fires go on and its runs begin
// again elsewhere.
func (s *stage) lose(t *testing.T, ticking []string, freeze bool) {
	jobs := s.spread(9, 40_000)
	victim, held := s.busiest(jobs)
	at := time.Now()
	if freeze {
		victim.Freeze()
	} else {
		victim.Kill()
	}
	time.Sleep(8 * time.Second)
	fires, runs := time.Duration(0), time.Duration(0)
	for _, job := range ticking { // the longest pause of any of them
		last := at
		for _, c := range s.target.Calls() {
			if c.Job == job && c.Start.After(at) {
				fires = max(fires, c.Start.Sub(last))
				last = c.Start
			}
		}
		require.True(t, last.After(at), "its fires go on")
	}
	for _, id := range held {
		first := time.Time{}
		for _, c := range s.began(jobs) {
			if c.Execution == id && c.Attempt > 1 {
				first = c.Start
			}
		}
		require.False(t, first.IsZero(), "the run %s begins again", id)
		runs = max(runs, first.Sub(at))
	}
	thawed := time.Now()
	if freeze {
		victim.Thaw()
	} else {
		require.NoError(t, victim.Revive(t.Context()))
	}
	s.settle()
	stopped := time.Duration(0)
	for _, c := range s.began(jobs) { // its own calls end soon after it woke
		if slices.Contains(held, c.Execution) && c.Attempt == 1 && freeze {
			require.Equal(t, history.AnswerCut, c.Answer)
			stopped = max(stopped, c.End.Sub(thawed))
		}
	}
	cause := ""
	for _, m := range s.rig.Members {
		for _, line := range strings.Split(m.Node.Stderr(), "\n") {
			if strings.Contains(line, "stopped beating") && strings.Contains(line, `"DOWN"`) &&
				strings.Contains(line, victim.ID) {
				cause = line[strings.Index(line, `"age"`):]
			}
		}
	}
	t.Logf("%s: the longest pause of a fire was %s, the last of %d runs began again after %s; the node stopped %s after "+
		"it woke; %s",
		map[bool]string{false: "kill -9", true: "frozen"}[freeze], fires.Round(time.Millisecond), len(held),
		runs.Round(time.Millisecond), stopped.Round(time.Millisecond), cause)
	most := map[bool]time.Duration{false: 3 * time.Second, true: 4500 * time.Millisecond}[freeze]
	require.Less(t, fires, most+500*time.Millisecond, "and what was due in between")
	require.Less(t, runs, 5*time.Second)
	require.Less(t, stopped, 2*time.Second)
}

// slow lets each answer of the store take half a second for everybody.
func (s *stage) slow(t *testing.T) {
	span := 10 * time.Second
	if *leaseLong {
		span = time.Minute
	}
	before, stops := s.epochs(), s.logged(stopsItsWork)
	s.settle()
	for _, m := range s.rig.Members {
		m.Store.SlowBy(500 * time.Millisecond)
	}
	time.Sleep(span)
	require.NoError(t, s.rig.Heal(t.Context()))
	t.Logf("0.5 s for each answer of the store, for %s: %d nodes died, %d stops", span, s.epochs()-before,
		s.logged(stopsItsWork)-stops)
	require.Equal(t, before, s.epochs())
	require.Equal(t, stops, s.logged(stopsItsWork))
	s.settle()
}

// flood lets 60 callers wait for a job whose row somebody holds.
func (s *stage) flood(t *testing.T) {
	s.settle()
	victim := s.rig.Members[0]
	jobs := s.spread(6, 30_000)
	before, stops := s.epochs(), s.logged(stopsItsWork)
	locked := s.job("locked "+rand.Text(), 1, "")
	tx, err := s.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	var name string
	require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT id FROM scheduler_job_definition WHERE id = ? FOR UPDATE",
		locked).Scan(&name))
	until := time.Now().Add(9 * time.Second)
	var callers sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 60 {
		callers.Go(func() {
			for time.Now().Before(until) {
				status, _ := s.ask(t.Context(), victim.Base(), "POST", "/api/v1/jobs/"+locked+"/trigger", map[string]any{})
				mu.Lock()
				answers[status]++
				mu.Unlock()
			}
		})
	}
	suspect := 0
	for time.Now().Before(until) {
		suspect += s.count("SELECT COUNT(*) FROM scheduler_node_registry WHERE status <> 'UP'")
		time.Sleep(50 * time.Millisecond)
	}
	callers.Wait()
	again := 0
	for _, c := range s.began(jobs) {
		if c.Attempt > 1 || c.Answer == history.AnswerCut {
			again++
		}
	}
	t.Logf("60 callers of a job that is locked: answers by status %v; seen SUSPECT %d times, %d runs disturbed", answers,
		suspect, again)
	require.NotZero(t, answers[503])
	require.Zero(t, answers[500])
	require.Zero(t, suspect+again)
	require.Equal(t, before, s.epochs())
	require.Equal(t, stops, s.logged(stopsItsWork))
}
