package fault_test

import (
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
	"github.com/platform-scheduler/platform-scheduler/test/silence"
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
	nodeClock    = "the wall clock of a node is an hour off"
	storeClock   = "the clock of the store is some seconds off"
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
	rules map[string]watch
	hook  string // the channel's id
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
	// labels are those of the jobs, by which rules see them.
	labels map[string]map[string]string
	// deadlines are those of the jobs that have one.
	deadlines []silence.Deadline
	// paused is when all jobs were.
	paused time.Time
	// steps are those of clocks.
	steps map[string]*stepped
	// repeats is until when the clock of the store shows what it has shown already.
	repeats time.Time
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
		phase:  8 * time.Second, rules: map[string]watch{}, answers: map[string]map[int]int{},
		took: map[string][]time.Duration{}, calls: map[string][]time.Time{},
		labels: map[string]map[string]string{}, steps: map[string]*stepped{},
	}
	p.receive()
	p.work()
	kinds := []string{
		killFailing,
		killLeader,
		killNotifier,
		hookDown,
		hookFails,
		hookBusy,
		killBroker,
		rebalance,
		nodeClock,
		storeClock,
	}
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
		p.expect()
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
	for kind, n := range p.steps {
		t.Logf("%s: %d steps, %d with an alert open (by type %v), %d with a deadline to come", kind, n.all, n.open, n.of,
			n.deadlines)
	}
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
	case nodeClock, storeClock:
		f.Step = p.stepClock(kind)
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
