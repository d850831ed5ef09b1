package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	token    = "psw_conformance"
	workerID = "@shop.0123456789abc"
	maxItems = 500
	maxBody  = 1 << 20
)

// Gateway is a scripted gateway with a store of runs. Without a script it does what docs/workers/delivery.md asks for.
// Several addresses may lead to it, as to the nodes of a cluster with one store.
type Gateway struct {
	// Beat, Lease and Wait are what it tells the worker.
	Beat, Lease, Wait time.Duration
	// Script says what goes wrong with a call; nil: nothing. It is called with the lock held.
	Script func(c *Call) *Fault
	// Change changes an answer before it is sent; nil: nothing. It is called with the lock held.
	Change func(c *Call, answer map[string]any)
	// Token is the one that it takes.
	Token string

	mu      sync.Mutex
	changed chan struct{}
	calls   []*Call
	counts  map[string]int
	faults  []string
	runs    []*Run
	epoch   int64
	boot    string
	tokens  int64
	// seq is the newest poll, left that the worker has left.
	seq  int64
	left bool
}

// NewGateway makes a gateway whose worker calls twice a second.
func NewGateway() *Gateway {
	return &Gateway{
		Beat: 500 * time.Millisecond, Lease: 30 * time.Second, Wait: 500 * time.Millisecond, Token: token,
		changed: make(chan struct{}), counts: map[string]int{},
	}
}

// Add puts a run into the store, which waits for a free slot.
func (g *Gateway) Add(r *Run) *Run {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.State = "waiting"
	g.runs = append(g.runs, r)
	g.tell()
	return r
}

// Hide puts a run with a token into the store that only a script delivers. The caller holds the lock.
func (g *Gateway) Hide(r *Run) {
	r.State = "hidden"
	g.runs = append(g.runs, r)
}

// Seq is the newest poll. The caller holds the lock.
func (g *Gateway) Seq() int64 { return g.seq }

// Do changes what the gateway knows.
func (g *Gateway) Do(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	g.tell()
}

// Look reports what of the gateway's knowledge a test asks for, and what to wait for until it changes.
func (g *Gateway) Look(ask func() bool) (ok bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return ask(), g.changed
}

// Calls are those of a kind so far. The caller holds the lock, or the worker has ended.
func (g *Gateway) Calls(kind string) []*Call {
	return slices.DeleteFunc(slices.Clone(g.calls), func(c *Call) bool { return c.Kind != kind })
}

// Newest is the newest call of a kind, nil without one. The caller holds the lock.
func (g *Gateway) Newest(kind string) *Call {
	if calls := g.Calls(kind); len(calls) > 0 {
		return calls[len(calls)-1]
	}
	return nil
}

func (g *Gateway) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// wrong notes what breaks the protocol; the test fails in the end. The caller holds the lock.
func (g *Gateway) wrong(format string, args ...any) {
	if len(g.faults) < 20 {
		g.faults = append(g.faults, fmt.Sprintf(format, args...))
	}
}

// Handler serves one address of the gateway.
func (g *Gateway) Handler(server int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		c := &Call{Kind: kindOf(r), Server: server, At: time.Now(), Header: r.Header.Clone(), Raw: raw}
		g.counts[c.Kind]++
		c.N = g.counts[c.Kind]
		g.calls = append(g.calls, c)
		g.read(c)
		g.tell()
		g.serve(w, r, c)
		c.Done = true
		g.tell()
	})
}

func kindOf(r *http.Request) string {
	switch rest := strings.TrimPrefix(r.URL.Path, "/api/v1/workers"); {
	case r.Method != http.MethodPost:
	case rest == "":
		return "register"
	case strings.HasPrefix(rest, "/"+workerID+"/"):
		return strings.TrimPrefix(rest, "/"+workerID+"/")
	case strings.HasPrefix(rest, "/"+strings.ReplaceAll(workerID, "@", "%40")+"/"):
		return rest[strings.LastIndex(rest, "/")+1:]
	}
	return r.Method + " " + r.URL.Path
}

func (g *Gateway) read(c *Call) {
	var into any
	switch c.Kind {
	case "register":
		into = &c.Registration
	case "poll":
		into = &c.Poll
	case "report":
		into = &c.Report
	case "jobs":
		into = &c.Declaration
	case "leave":
		return
	default:
		g.wrong("a call that the protocol does not have: %s", c.Kind)
		return
	}
	if len(c.Raw) > maxBody {
		g.wrong("%s %d has more than 1 MiB", c.Kind, c.N)
	}
	if err := json.Unmarshal(c.Raw, into); err != nil {
		g.wrong("%s %d is no JSON of the protocol: %v", c.Kind, c.N, err)
	}
}

// serve answers a call. The lock is held, and let go while the call is parked.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, c *Call) {
	f := &Fault{}
	if g.Script != nil {
		if scripted := g.Script(c); scripted != nil {
			f = scripted
		}
	}
	switch {
	case f.Drop:
		g.hangUp(c)
		return
	case f.Status != 0:
		g.refuse(w, c, f.Status, f.Code, f.Header)
		return
	case c.Header.Get("Authorization") != "Bearer "+g.Token:
		g.refuse(w, c, http.StatusUnauthorized, "unauthorized", nil)
		return
	}
	status, answer := g.answer(r, c)
	if f.Wait != nil {
		g.park(r, c, f.Wait)
	}
	switch {
	case r.Context().Err() != nil:
		c.Cut = true
	case f.Lose:
		g.hangUp(c)
	case status >= http.StatusBadRequest:
		g.refuse(w, c, status, fmt.Sprint(answer["code"]), nil)
	default:
		if g.Change != nil {
			g.Change(c, answer)
		}
		c.Answer = answer
		reply(w, c, status, answer, nil)
	}
}

func (g *Gateway) park(r *http.Request, c *Call, until <-chan struct{}) {
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-until:
	case <-r.Context().Done():
	}
}

func (g *Gateway) refuse(w http.ResponseWriter, c *Call, status int, code string, header map[string]string) {
	reply(w, c, status, map[string]any{
		"status": status, "code": code, "title": "refused", "detail": "the script of the suite refuses this call",
	}, header)
}

func reply(w http.ResponseWriter, c *Call, status int, answer map[string]any, header map[string]string) {
	c.Status = status
	w.Header().Set("Content-Type", "application/json")
	for name, value := range header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_ = json.NewEncoder(w).Encode(answer) // the worker may be gone
	}
}

// hangUp closes the connection without an answer.
func (g *Gateway) hangUp(c *Call) {
	c.Done = true
	g.tell()
	panic(http.ErrAbortHandler)
}

// Faults are what broke the protocol.
func (g *Gateway) Faults() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.faults)
}

// History tells the last calls, for people who look for a fault.
func (g *Gateway) History() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for _, c := range g.calls[max(len(g.calls)-60, 0):] {
		raw := string(c.Raw)
		answer, _ := json.Marshal(c.Answer) //nolint:errchkjson // it was sent as JSON
		fmt.Fprintf(&b, "%s %s %d server %d: %.600s → %d %.600s cut=%v\n", c.At.Format("05.000"), c.Kind, c.N, c.Server, raw,
			c.Status, answer, c.Cut)
	}
	return b.String()
}
