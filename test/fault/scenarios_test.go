package fault_test

import (
	"crypto/rand"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// scene is a scenario of the conformance suite on three real nodes: the program is that of the suite.
type scene struct {
	stage
	program, token string
}

// hand is a worker of a scene, with the ledger of its handlers.
type hand struct {
	*rig.Worker
	t      *testing.T
	ledger string
}

// Scenarios of the conformance suite whose outcome depends on nodes, on three of them: one is killed meanwhile.
func TestScenariosOfWorkersOnThreeNodes(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make prove")
		return
	}
	s := newStage(t, true, false)
	token, err := s.client().CreateWorkerGroup(t.Context(), "shop")
	require.NoError(t, err)
	program, err := rig.BuildWorker(t.Context(), s.rig.Dir, rig.GoWorker)
	require.NoError(t, err)
	for _, one := range []struct {
		name string
		play func(s *scene)
	}{
		{"7 a run succeeds", (*scene).success},
		{"17 a checkpoint of the attempt before", (*scene).checkpoint},
		{"18 a time-out", (*scene).timeout},
		{"21 an answer is lost", (*scene).lostAnswer},
		{"22 a receipt is lost", (*scene).lostReceipt},
		{"26 cut off past the lease", (*scene).cutOff},
		{"30 the grace is over", (*scene).grace},
	} {
		t.Run(one.name, func(t *testing.T) {
			sc := &scene{*s, program, token}
			sc.t = t
			one.play(sc)
			require.NoError(t, s.rig.Heal(t.Context()))
			sc.settle()
		})
	}
}

func (s *scene) success() {
	a := s.hire()
	run := s.start("sleep", map[string]any{"ms": 4000}, nil)
	a.until("begin " + run)
	s.gatewayOf(a).Kill()
	s.await(run, "SUCCESS", 1)
	require.Equal(s.t, 1, a.count("begin "+run))
	require.Equal(s.t, 1, a.count("end "+run, "returned"))
}

func (s *scene) checkpoint() {
	a := s.hire()
	run := s.start("checkpoint", map[string]any{"n": 3, "ms": 6000}, nil)
	a.until("begin " + run)
	b := s.hire()
	s.stored(run)
	s.gatewayOf(a).Kill()
	a.Kill()
	s.await(run, "SUCCESS", 2)
	require.Equal(s.t, []int{1, 1}, []int{a.count("begin " + run), b.count("begin " + run)})
	require.Contains(s.t, s.output(run), "last c3")
}

func (s *scene) timeout() {
	a := s.hire()
	run := s.start("sleep", map[string]any{"ms": 600_000}, map[string]any{"timeoutSec": 4})
	a.until("begin " + run)
	s.gatewayOf(a).Kill()
	s.await(run, "TIMEOUT", 1)
	a.until("end "+run, "timeout")
	require.Equal(s.t, 1, a.count("begin "+run))
}

// The gateway claims for a poll whose answer nobody hears, and dies: another one delivers the run again.
func (s *scene) lostAnswer() {
	a := s.hire()
	gateway := s.gatewayOf(a)
	a.Set(rig.BlackHole)
	run := s.start("sleep", map[string]any{"ms": 700}, nil)
	require.Eventually(s.t, func() bool {
		return s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE id = ? AND status = 'RUNNING'", run) == 1
	}, 10*time.Second, 50*time.Millisecond, "it is claimed")
	gateway.Kill()
	require.Zero(s.t, a.count("begin "+run))
	a.Set(rig.Cut)
	a.Set(rig.Pass)
	s.await(run, "SUCCESS", 1)
	require.Equal(s.t, 1, a.count("begin "+run))
}

// Each gateway that stores an end dies before it says so: the end comes again, to another one.
func (s *scene) lostReceipt() {
	a := s.hire("PS_SLOTS=1")
	run := s.start("sleep", map[string]any{"ms": 15_000}, nil)
	a.until("begin " + run)
	before := s.fallen()
	for _, m := range s.rig.Members {
		m.Kill()
		require.NoError(s.t, m.ReviveAt(s.t.Context(), "complete.after-commit=kill@1"))
	}
	s.await(run, "SUCCESS", 1)
	require.NoError(s.t, s.rig.Heal(s.t.Context()))
	require.Greater(s.t, s.fallen(), before, "the gateway that stored the end has died")
	s.settle()
	s.await(s.start("ok", nil, nil), "SUCCESS", 1) // its one slot is free
	require.Equal(s.t, 1, a.count("begin "+run))
}

func (s *scene) cutOff() {
	a := s.hire()
	run := s.start("sleep", map[string]any{"ms": 600_000}, nil)
	a.until("begin " + run)
	b := s.hire()
	a.Set(rig.Cut)
	s.gatewayOf(b).Kill()
	b.until("begin " + run)
	require.Equal(s.t, 1, a.count("end "+run, "lost"), "it has ended before it begins elsewhere")
	a.Set(rig.Pass)
	require.Eventually(s.t, func() bool {
		return s.count("SELECT COUNT(*) FROM scheduler_worker WHERE instance = ? AND epoch = 2 AND status = 'UP'",
			a.Instance) == 1
	}, time.Minute, 200*time.Millisecond, "it registers anew")
	s.cancel(run)
	b.until("end "+run, "cancel")
	require.Equal(s.t, 1, a.count("begin "+run))
}

func (s *scene) grace() {
	a := s.hire("PS_GRACE_MS=1000")
	run := s.start("checkpoint", map[string]any{"n": 3, "ms": 600_000}, nil)
	a.until("begin " + run)
	b := s.hire()
	s.gatewayOf(a).Kill()
	require.Zero(s.t, a.Stop())
	require.Equal(s.t, 1, a.count("end "+run, "shutdown"))
	b.until("begin " + run)
	require.Eventually(s.t, func() bool { return strings.Contains(s.output(run), "last c3") }, 10*time.Second,
		200*time.Millisecond, "it goes on where it was")
	s.cancel(run)
	b.until("end "+run, "cancel")
}

// hire starts a worker of its own name, which leaves at the end of the scenario.
func (s *scene) hire(more ...string) *hand {
	s.t.Helper()
	name := strings.ToLower(rand.Text()[:8])
	w, err := s.rig.Hire(s.program, "shop", s.token, name)
	require.NoError(s.t, err)
	h := &hand{w, s.t, filepath.Join(s.rig.Dir, name+".ledger")}
	token := filepath.Join(s.rig.Dir, "token")
	require.NoError(s.t, os.WriteFile(token, []byte(s.token), 0o600))
	w.Env(append([]string{"PS_TOKEN_FILE=" + token, "PS_LEDGER=" + h.ledger}, more...)...)
	_, err = w.Start()
	require.NoError(s.t, err)
	s.t.Cleanup(func() { w.Stop() })
	require.Eventually(s.t, func() bool { return s.gateway(h) != "" }, 30*time.Second, 100*time.Millisecond, "it calls")
	return h
}

// gateway is the id of the node that has stored the worker's last beat; empty before the first one.
func (s *scene) gateway(h *hand) (id string) {
	_ = s.db.QueryRowContext(s.t.Context(), "SELECT COALESCE(gateway, '') FROM scheduler_worker WHERE instance = ? AND "+
		"status = 'UP'", h.Instance).Scan(&id)
	return id
}

func (s *scene) gatewayOf(h *hand) *rig.Member {
	s.t.Helper()
	id := s.gateway(h)
	for _, m := range s.rig.Members {
		if m.ID == id {
			return m
		}
	}
	require.Fail(s.t, "no gateway", "the worker has %q", id)
	return nil
}

// start makes a job for a handler, and runs it.
func (s *scene) start(handler string, data, more map[string]any) (execution string) {
	s.t.Helper()
	body := map[string]any{
		"name": handler + " " + rand.Text(), "jobType": "CUSTOM", "jobClass": handler, "jobData": data,
		"routing": map[string]any{"workers": "shop"},
	}
	maps.Copy(body, more)
	job := s.call("POST", "/api/v1/jobs", body)["id"].(string)
	return s.call("POST", "/api/v1/jobs/"+job+"/trigger", map[string]any{})["executionIds"].([]any)[0].(string)
}

// await waits for the end of a run by that attempt.
func (s *scene) await(run, status string, attempt int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE id = ? AND status NOT IN ('WAITING', 'RUNNING')",
			run) == 1
	}, 2*time.Minute, 100*time.Millisecond, "it ends")
	require.Equal(s.t, 1, s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE id = ? AND status = ? AND attempt = ?",
		run, status, attempt), "it ends as %s by attempt %d", status, attempt)
}

// stored waits until the store has a checkpoint of a run.
func (s *scene) stored(run string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE id = ? AND checkpoint = 'c3'", run) == 1
	}, 10*time.Second, 50*time.Millisecond, "its checkpoint is stored")
}

func (s *scene) cancel(run string) {
	s.t.Helper()
	s.call("POST", "/api/v1/executions/"+run+"/cancel", map[string]any{})
}

// output is what a run has put out.
func (s *scene) output(run string) string {
	s.t.Helper()
	var b strings.Builder
	items, _ := s.call("GET", "/api/v1/executions/"+run+"/logs?limit=100", nil)["items"].([]any)
	for _, item := range items {
		text, _ := item.(map[string]any)["line"].(string)
		b.WriteString(text + "\n")
	}
	return b.String()
}

// fallen is how many processes of nodes have ended by themselves.
func (s *scene) fallen() (n int) {
	for _, m := range s.rig.Members {
		n += len(m.Fell())
	}
	return n
}

// count is how many lines of the ledger begin so and, where that is asked, end so.
func (h *hand) count(begin string, end ...string) (n int) {
	text, _ := os.ReadFile(h.ledger)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, begin+":") && (len(end) == 0 || strings.HasSuffix(line, " "+end[0])) {
			n++
		}
	}
	return n
}

// until waits for such a line.
func (h *hand) until(begin string, end ...string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool { return h.count(begin, end...) > 0 }, 2*time.Minute, 50*time.Millisecond,
		"%s %v", begin, end)
}
