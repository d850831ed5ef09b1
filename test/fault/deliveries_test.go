package fault_test

import (
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var deliveriesFor = flag.Duration("deliveries.for", 0,
	"how long the test of deliveries disturbs; 0 is its short form, with each fault of a process once")

// What is done while alerts are delivered.
const (
	killFailing  = "kill -9 the node of the run that fails"
	killLeader   = "kill -9 the leader when a run fails"
	killNotifier = "kill -9 the node that sends"
	hookDown     = "the receivers are down"
	hookFails    = "the receivers answer 500 and 451"
	hookBusy     = "the receiver answers 429 with Retry-After"
	hookSlow     = "the receiver answers later than the sender waits"
	storePaused  = "the store is stopped for 3 s"
	nodeFrozen   = "a node is frozen for 6 s"
	killBroker   = "kill -9 the broker when a run fails"
	stopBroker   = "the broker is restarted"
	brokerAway   = "the broker is away for 20 s"
	rebalance    = "a stranger joins those who wait for messages, and leaves"
)

// deliveryBound is how long it may take from an event to its delivery when a process dies then.
const deliveryBound = 15 * time.Second

// post is a stage with receivers of alerts and jobs that fail.
type post struct {
	*stage
	random *mathrand.Rand
	ledger *delivery.Ledger
	// ways are those to the receivers.
	ways  []*rig.Proxy
	rules map[string]string // rule to channel
	hook  string            // the channel's id
	mail  string
	began time.Time
	phase time.Duration
	jobs  []string
	// web is where the jobs call.
	web string

	mu      sync.Mutex
	answers map[string]map[int]int // of the jobs' target, by execution
	probed  func(execution string)
	faults  []delivery.Fault
	// copyFaults are those that may cost the answer of a broker.
	copyFaults []delivery.Fault
	// calls are those of each job in turn, for the outside view of its fires.
	calls map[string][]time.Time
	took  map[string][]time.Duration
}

// TestDeliveries kills who delivers alerts and who receives them, and compares what the store says
// with a ledger outside of it.
func TestDeliveries(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test and make fault")
		return
	}
	seed := number(t, "FAULT_SEED", time.Now().UnixNano())
	t.Logf("seed %d", seed)
	p := &post{
		stage:  newStage(t, true, false, "kafka"),
		random: mathrand.New(mathrand.NewPCG(uint64(seed), 16)), //nolint:gosec // a plan
		phase:  8 * time.Second, rules: map[string]string{}, answers: map[string]map[int]int{},
		took: map[string][]time.Duration{}, calls: map[string][]time.Time{},
	}
	p.receive()
	p.work()
	kinds := []string{killFailing, killLeader, killNotifier, hookDown, hookFails, hookBusy, killBroker, rebalance}
	if *deliveriesFor > 0 {
		kinds = append(kinds, hookSlow, storePaused, nodeFrozen, stopBroker, brokerAway)
	}
	for until := time.Now().Add(*deliveriesFor); ; {
		p.random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, kind := range kinds {
			p.strike(kind)
		}
		if time.Now().After(until) {
			break
		}
	}
	h := p.quiet()
	for _, kind := range []string{killFailing, killLeader, killNotifier, killBroker} {
		worst := time.Duration(0)
		for _, d := range p.took[kind] {
			worst = max(worst, d)
		}
		t.Logf("%s: %d times, from the event to its delivery at most %s", kind, len(p.took[kind]),
			worst.Round(time.Millisecond))
	}
	t.Logf("%d alerts, %d messages, %d attempts, %d receipts, %d copies, %d faults", len(h.Alerts), len(h.Messages),
		len(h.Deliveries), len(h.Receipts), len(h.Copies), len(h.Faults)+len(h.CopyFaults))
	for _, broken := range delivery.Check(h) {
		t.Error(broken)
	}
}

// receive starts the receivers, each behind a proxy, and makes a channel and a rule for each.
func (p *post) receive() {
	var err error
	p.ledger, err = delivery.NewLedger(filepath.Join(p.rig.Dir, "receipts.jsonl"))
	require.NoError(p.t, err)
	web := httptest.NewServer(p.ledger)
	p.t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = p.ledger.Close()
	})
	listener, err := (&net.ListenConfig{}).Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	server := smtp.NewServer(p.ledger)
	server.Domain = "receiver.example"
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	p.t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Close() // Close knows no listener that Serve has not taken yet
		<-done
	})
	for _, address := range []string{web.Listener.Addr().String(), listener.Addr().String()} {
		way, err := rig.NewProxy(address)
		require.NoError(p.t, err)
		p.t.Cleanup(way.Close)
		p.ways = append(p.ways, way)
	}
	host, port, err := net.SplitHostPort(p.ways[1].Addr())
	require.NoError(p.t, err)
	p.hook = p.call("POST", "/api/v1/alert-channels", map[string]any{
		"name": "hook", "type": "WEBHOOK", "config": map[string]any{"url": "http://" + p.ways[0].Addr() + "/hook"},
	})["id"].(string)
	p.mail = p.call("POST", "/api/v1/alert-channels", map[string]any{
		"name": "mail", "type": "EMAIL", "config": map[string]any{
			"host": host, "port": atoi(p.t, port), "tls": "NONE", "from": "ops@example.com", "to": []string{"on@example.com"},
		},
	})["id"].(string)
}

func atoi(t *testing.T, text string) (n int) {
	t.Helper()
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err)
	return n
}

// work starts jobs that fail for a while, succeed for a while, and so on. A mail channel takes 20
// messages a minute: it hears of one job and of the probes.
func (p *post) work() {
	p.began = time.Now()
	web := httptest.NewServer(http.HandlerFunc(p.answer))
	p.t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	p.web = web.URL
	for channel, rule := range map[string]string{p.hook: "all failures", p.mail: "few failures"} {
		body := map[string]any{
			"name": rule, "type": "JOB_FAILED", "level": "CRITICAL", "channelIds": []string{channel},
		}
		if channel == p.mail {
			body["scope"] = map[string]any{"labels": map[string]string{"mail": "yes"}}
		}
		p.rules[p.call("POST", "/api/v1/alert-rules", body)["id"].(string)] = channel
	}
	for i := range 4 {
		p.jobs = append(p.jobs, p.make(fmt.Sprint("turns ", i), fmt.Sprintf("/turn/%d", i), i == 0, 1000))
	}
	require.Eventually(p.t, func() bool {
		return p.count("SELECT COUNT(*) FROM scheduler_alert_evaluation") == 1
	}, time.Minute, 100*time.Millisecond, "a leader evaluates the rules")
}

// make makes a job; everyMs 0 is one by hand.
func (p *post) make(name, path string, mailed bool, everyMs int) string {
	body := map[string]any{
		"name": name, "jobType": "HTTP", "timeoutSec": 60, "onNodeLoss": "RETRY",
		"jobData": map[string]any{"url": p.web + path, "method": "POST"},
	}
	if mailed {
		body["labels"] = map[string]string{"mail": "yes"}
	}
	if everyMs > 0 {
		body["schedule"] = map[string]any{"kind": "FIXED_RATE", "intervalMs": everyMs}
	}
	return p.call("POST", "/api/v1/jobs", body)["id"].(string)
}

// answer is the target of the jobs. Probes always fail.
func (p *post) answer(w http.ResponseWriter, r *http.Request) {
	status, execution := http.StatusOK, r.Header.Get("X-Scheduler-Execution-Id")
	turn := 0
	if n, _ := fmt.Sscanf(r.URL.Path, "/turn/%d", &turn); n == 0 || (int(time.Since(p.began)/p.phase)+turn)%2 == 1 {
		status = http.StatusInternalServerError
	}
	p.mu.Lock()
	if p.answers[execution] == nil {
		p.answers[execution] = map[int]int{}
	}
	p.answers[execution][status]++
	p.calls[r.URL.Path] = append(p.calls[r.URL.Path], time.Now())
	probed := p.probed
	p.mu.Unlock()
	w.WriteHeader(status)
	if strings.HasPrefix(r.URL.Path, "/probe") && probed != nil {
		_ = http.NewResponseController(w).Flush()
		probed(execution)
	}
}

// strike does one thing, and notes from when until when.
func (p *post) strike(kind string) {
	p.t.Logf("%s %s", time.Now().Format("15:04:05.000"), kind)
	f := delivery.Fault{Kind: kind, From: time.Now()}
	switch kind {
	case killFailing, killLeader, killNotifier, killBroker:
		p.probe(kind)
	case stopBroker, brokerAway, rebalance:
		p.disturbBroker(kind)
	case hookDown:
		for _, way := range p.ways {
			way.Set(rig.Cut)
		}
		rig.Sleep(p.t.Context(), p.span(2))
		for _, way := range p.ways {
			way.Set(rig.Pass)
		}
	case hookFails, hookBusy, hookSlow:
		mode := map[string]delivery.Mode{hookFails: delivery.Fails, hookBusy: delivery.Busy, hookSlow: delivery.Slow}[kind]
		p.ledger.Answer(mode)
		rig.Sleep(p.t.Context(), p.span(2))
		p.ledger.Answer(delivery.Takes)
	case storePaused:
		require.NoError(p.t, p.server.Freeze())
		rig.Sleep(p.t.Context(), 3*time.Second)
		require.NoError(p.t, p.server.Thaw())
	case nodeFrozen:
		m := p.rig.Members[p.random.IntN(len(p.rig.Members))]
		m.Freeze()
		rig.Sleep(p.t.Context(), 6*time.Second)
		m.Thaw()
	}
	f.Until = time.Now()
	p.note(f)
	rig.Sleep(p.t.Context(), p.span(1))
}

// span is about so many seconds.
func (p *post) span(sec int) time.Duration {
	return time.Duration(sec)*time.Second + time.Duration(p.random.IntN(1000))*time.Millisecond
}

// probe has a run fail, kills a node at that moment, and measures until each channel has taken a
// message about it.
func (p *post) probe(kind string) {
	job := p.make(fmt.Sprint("probe ", p.random.Uint64()), "/probe", true, 0)
	var once sync.Once
	var event time.Time
	var victim *rig.Member
	killed := make(chan struct{})
	kill := func(query string, args ...any) {
		var id string
		err := p.db.QueryRowContext(p.t.Context(), query, args...).Scan(&id)
		for _, m := range p.rig.Members {
			if err == nil && m.ID == id {
				victim = m
				m.Kill()
			}
		}
		close(killed)
	}
	p.mu.Lock()
	p.probed = func(execution string) {
		switch kind {
		case killFailing:
			once.Do(func() {
				event = time.Now()
				kill("SELECT node_id FROM scheduler_job_execution WHERE id = ?", execution)
			})
		case killBroker:
			once.Do(func() {
				event = time.Now()
				if err := p.server.KillBroker(p.t.Context()); err != nil {
					p.t.Error(err)
				}
				close(killed)
			})
		case killLeader:
			once.Do(func() {
				event = time.Now()
				kill("SELECT node_id FROM scheduler_alert_evaluation")
			})
		}
	}
	p.mu.Unlock()
	if kind == killNotifier {
		p.ledger.Arrived(func(r delivery.Receipt) bool {
			mine := false
			for _, a := range r.Alerts {
				mine = mine || a.JobID == job
			}
			answer := true
			if mine {
				once.Do(func() {
					event, answer = time.Now(), false
					kill("SELECT lease_node FROM scheduler_notification WHERE id = ?", r.ID)
				})
			}
			return answer
		})
	}
	p.call("POST", "/api/v1/jobs/"+job+"/trigger", map[string]any{})
	select {
	case <-killed:
	case <-time.After(30 * time.Second):
		require.Fail(p.t, "the run has not failed", kind)
	}
	p.ledger.Arrived(nil)
	require.True(p.t, victim != nil || kind == killBroker, kind)
	for _, m := range p.rig.Members {
		if m.Up() {
			p.base = m.Base()
		}
	}
	if victim != nil && (*deliveriesFor == 0 || p.random.IntN(2) == 0) { // a supervisor is there, or it is not
		require.NoError(p.t, victim.Revive(p.t.Context()))
	}
	took := time.Duration(0)
	for _, channel := range []string{p.hook, p.mail} {
		var at time.Time
		require.Eventually(p.t, func() bool {
			at = p.heard(job, channel)
			return !at.IsZero()
		}, time.Minute, 50*time.Millisecond, "%s: a message by %s", kind, channel)
		took = max(took, at.Sub(event))
	}
	p.took[kind] = append(p.took[kind], took)
	p.t.Logf("%s: delivered %s after it", kind, took.Round(time.Millisecond))
	if took > deliveryBound {
		p.t.Errorf("%s: delivered after %s", kind, took)
	}
	if kind == killBroker {
		require.NoError(p.t, p.server.Up(p.t.Context()))
	}
	require.NoError(p.t, p.rig.Heal(p.t.Context()))
}

// heard is when a channel took a message about a job first.
func (p *post) heard(job, channel string) time.Time {
	ids := map[string]bool{}
	for _, id := range p.executions("SELECT t.notification_id FROM scheduler_notification_alert t JOIN scheduler_alert a "+
		"ON a.id = t.alert_id JOIN scheduler_notification n ON n.id = t.notification_id WHERE a.job_id = ? AND "+
		"n.channel_id = ?", job, channel) {
		ids[id] = true
	}
	for _, r := range p.ledger.Receipts() {
		if r.Accepted && ids[r.ID] {
			return r.At
		}
	}
	return time.Time{}
}
