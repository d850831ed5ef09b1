package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

// began waits until a handler of the run is entered.
func (s *scene) began(r *conformance.Run) {
	s.t.Helper()
	s.until("a begin of "+r.ID, func() bool { return s.wrote("begin " + r.Name()) })
}

// left waits until a handler of the run is left.
func (s *scene) handlerLeft(r *conformance.Run) {
	s.t.Helper()
	s.until("the handler's end of "+r.ID, func() bool { return s.wrote("end " + r.Name()) })
}

// ends counts the reports of an end of the run. The caller holds the lock.
func ends(r *conformance.Run) (n int) {
	for _, item := range r.Items {
		if item.End != nil {
			n++
		}
	}
	return n
}

func Test18TimeOut(t *testing.T) {
	for _, handler := range []string{"sleep", "async"} {
		t.Run(handler, func(t *testing.T) {
			s := play(t)
			r := run(handler, data{"ms": 60_000})
			r.TimeoutMs = 300
			s.Add(r)
			s.start()
			e := s.ended(r)
			require.Equal(t, "TIMEOUT", e.Status)
			require.GreaterOrEqual(t, *e.DurationMs, int64(270))
			require.True(t, s.wrote("end "+r.Name()+" timeout"), "%v", s.ledger())
			s.polls(3)
			s.Do(func() { require.Equal(t, 1, ends(r), "it is reported once") })
		})
	}
}

func Test19CancelOneOfThree(t *testing.T) {
	s := play(t)
	var runs []*conformance.Run
	for i := range 3 {
		r := run("sleep", data{"ms": 60_000})
		r.ID = string(rune('a' + i))
		runs = append(runs, s.Add(r))
	}
	s.start()
	for _, r := range runs {
		s.began(r)
	}
	s.Do(func() { runs[1].Cancel = "cancel" })
	require.Equal(t, "CANCELLED", s.ended(runs[1]).Status)
	require.True(t, s.wrote("end "+runs[1].Name()+" cancel"), "%v", s.ledger())
	s.polls(3)
	s.Do(func() {
		require.ElementsMatch(t, []string{runs[0].Name(), runs[2].Name()}, s.Newest("poll").Poll.Running)
		require.Equal(t, 1, ends(runs[1]))
	})
	s.Do(func() { runs[0].Cancel, runs[2].Cancel = "replaced", "timeout" })
	require.Equal(t, "CANCELLED", s.ended(runs[0]).Status)
	require.Equal(t, "TIMEOUT", s.ended(runs[2]).Status, "a server may say that the time is over")
}

func Test20ADeafHandler(t *testing.T) {
	s := play(t)
	s.env["PS_SLOTS"] = "1"
	s.Do(func() { s.Beat, s.Wait = 200*time.Millisecond, 200*time.Millisecond })
	r := run("deaf", data{"ms": 2500})
	r.TimeoutMs = 200
	s.Add(r)
	next := run("ok", nil)
	s.Add(next)
	s.start()
	s.began(r)
	s.polls(4)
	s.Do(func() {
		p := s.Newest("poll").Poll
		require.Zero(t, p.Free)
		require.Equal(t, []string{r.Name()}, p.Running)
		require.Nil(t, r.Ended(), "it has not ended")
	})
	require.Contains(t, []string{"SUCCESS", "TIMEOUT"}, s.ended(r).Status)
	require.True(t, s.wrote("end "+r.Name()), "its end follows the handler's")
	require.Equal(t, "SUCCESS", s.ended(next).Status)
}

// The answer to a poll is lost: the run comes again, and begins once.
func Test21AnAnswerIsLost(t *testing.T) {
	s := play(t)
	r := run("sleep", data{"ms": 700})
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind == "poll" && r.State == "waiting" {
			return &conformance.Fault{Lose: true}
		}
		return nil
	}
	s.Add(r)
	s.start()
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	s.polls(2)
	s.Do(func() {
		require.GreaterOrEqual(t, r.Delivered, 2)
		require.Equal(t, 1, ends(r))
	})
}

// An answer comes twice, also when the run has ended meanwhile: it begins once.
func Test21ARunIsDeliveredAgain(t *testing.T) {
	s := play(t)
	r := s.Add(run("ok", nil))
	again := 0
	s.Change = func(c *conformance.Call, answer map[string]any) {
		if c.Kind == "poll" && answer["seq"] == c.Poll.Seq && r.State == "SUCCESS" && again < 3 {
			again++
			answer["runs"] = []any{r.Delivery()}
		}
	}
	s.start()
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	s.until("late deliveries", func() bool { return again == 3 })
	s.polls(3)
	s.Do(func() { require.Equal(t, 1, ends(r), "and ends once") })
}

// Two polls are under way. A run in the answer to the older one is none of the worker's.
func Test21AnAnswerToAnOlderPoll(t *testing.T) {
	s := play(t)
	s.env["PS_SLOTS"] = "1"
	s.Do(func() { s.Beat, s.Wait = 2*time.Second, 2*time.Second })
	first, late := run("sleep", data{"ms": 400}), run("ok", nil)
	late.Token = 900
	given := int64(0)
	s.Change = func(c *conformance.Call, answer map[string]any) {
		// The server ends an older poll when a newer one comes. Here it has put a run into that answer.
		if c.Kind == "poll" && answer["leaseSeq"] == 0 && given == 0 && first.State == "SUCCESS" {
			given = s.Seq()
			answer["runs"] = []any{late.Delivery()}
		}
	}
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind == "poll" && given > 0 && c.Poll.Seq > given && late.State == "hidden" {
			if s.wrote("begin " + late.Name()) {
				t.Error("it has taken a run from the answer to an older poll")
			}
			late.State = "running" // so this poll gets it
		}
		return nil
	}
	s.Add(first)
	s.start()
	s.began(first)
	s.Do(func() { s.Hide(late) })
	require.Equal(t, "SUCCESS", s.ended(first).Status)
	s.until("two polls at once", func() bool { return given > 0 })
	require.Equal(t, "SUCCESS", s.ended(late).Status, "it comes by the newest poll")
}

// The answer to a report is lost: the end comes again.
func Test22AReceiptIsLost(t *testing.T) {
	s := play(t)
	r := run("ok", nil)
	lost := 0
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind == "report" && lost < 2 && c.Report.Items[0].End != nil {
			lost++
			return &conformance.Fault{Lose: true}
		}
		return nil
	}
	s.Add(r)
	s.start()
	s.until("the end again", func() bool { return ends(r) == 3 })
	s.until("a free slot", func() bool { return len(s.Newest("poll").Poll.Running) == 0 })
	s.Do(func() {
		require.Equal(t, 3, ends(r), "DUPLICATE is a receipt")
		reports := s.Calls("report")
		for _, c := range s.Calls("poll") {
			if c.At.After(reports[0].At) && c.At.Before(reports[2].At) {
				require.Contains(t, c.Poll.Running, r.Name(), "until its receipt it takes a slot")
			}
		}
	})
}

func Test22AnEndThatIsNotDecided(t *testing.T) {
	s := play(t)
	r := run("ok", nil)
	r.Receipt = "RETRY"
	s.Add(r)
	s.start()
	s.until("the end again", func() bool { return ends(r) == 2 })
	s.Do(func() { r.Receipt = "" })
	s.until("the end once more", func() bool { return r.State == "SUCCESS" })
	s.until("a free slot", func() bool { return len(s.Newest("poll").Poll.Running) == 0 })
}

func Test23NoServerHasTheStore(t *testing.T) {
	s := play(t)
	away := false
	s.Script = func(*conformance.Call) *conformance.Fault {
		if away {
			return &conformance.Fault{Status: 503, Code: "store_away"}
		}
		return nil
	}
	var runs []*conformance.Run
	for _, id := range []string{"a", "b", "c"} {
		r := run("sleep", data{"ms": 300})
		r.ID = id
		runs = append(runs, s.Add(r))
	}
	s.start()
	for _, r := range runs {
		s.began(r)
	}
	s.Do(func() { away = true })
	for _, r := range runs {
		s.handlerLeft(r)
	}
	s.polls(3)
	next := s.Add(run("ok", nil))
	s.polls(2)
	s.Do(func() { away = false })
	for _, r := range append(runs, next) {
		require.Equal(t, "SUCCESS", s.ended(r).Status)
	}
	s.Do(func() { require.Len(t, s.Calls("register"), 1, "it is the same life") })
}

func Test24TheNextServer(t *testing.T) {
	s := play(t)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	second := s.serve(1)
	s.servers = append(s.servers, second, dead)
	r := s.Add(run("sleep", data{"ms": 1500}))
	s.start()
	s.began(r)
	s.polls(1)
	at := 0
	s.Do(func() { at = s.Newest("poll").Server })
	s.servers[at].CloseClientConnections()
	s.servers[at].Listener.Close()
	s.servers[at].CloseClientConnections()
	s.until("a poll at the other server", func() bool { return s.Newest("poll").Server == 1-at })
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	s.Do(func() { require.Len(t, s.Calls("register"), 1, "no run is lost by it") })
}

// A server that stops asks its workers to come back elsewhere, and later.
func Test24AServerThatStops(t *testing.T) {
	s := play(t)
	s.servers = append(s.servers, s.serve(1))
	stopping := -1
	s.Change = func(c *conformance.Call, answer map[string]any) {
		if c.Kind == "poll" && c.Server == stopping {
			answer["retryAfterMs"] = 300
		}
	}
	s.start()
	s.registered()
	s.Do(func() { stopping = s.Newest("poll").Server })
	s.until("a poll at the other server", func() bool { return s.Newest("poll").Server != stopping })
	s.Do(func() {
		calls := s.Calls("poll")
		require.GreaterOrEqual(t, calls[len(calls)-1].At.Sub(calls[len(calls)-2].At), 280*time.Millisecond)
	})
	s.polls(2)
	s.Do(func() { require.NotEqual(t, stopping, s.Newest("poll").Server, "it stays there") })
}

// The store is away for all: the lease counts from each poll that is answered with hold.
func Test25Hold(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait, s.Lease = 300*time.Millisecond, 300*time.Millisecond, 2*time.Second })
	hold := false
	s.Change = func(c *conformance.Call, answer map[string]any) {
		if c.Kind == "poll" && hold {
			answer["hold"], answer["leaseSeq"] = true, 0
		}
	}
	r := s.Add(run("sleep", data{"ms": 5000}))
	s.start()
	s.began(r)
	s.Do(func() { hold = true })
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	require.True(t, s.wrote("end "+r.Name()+" returned"), "%v", s.ledger())
	s.Do(func() { require.Len(t, s.Calls("register"), 1) })
}

func Test26CutOffPastTheLease(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait, s.Lease = 300*time.Millisecond, 300*time.Millisecond, 2*time.Second })
	cut := false
	s.Script = func(*conformance.Call) *conformance.Fault {
		if cut {
			return &conformance.Fault{Drop: true}
		}
		return nil
	}
	r := run("sleep", data{"ms": 60_000})
	old := run("ok", nil)
	s.Add(r)
	s.start()
	s.began(r)
	s.Do(func() { cut = true })
	s.handlerLeft(r)
	s.Add(old)
	require.True(t, s.wrote("end "+r.Name()+" lost"), "%v", s.ledger())
	s.Do(func() { cut = false })
	require.Equal(t, "SUCCESS", s.ended(old).Status)
	s.polls(3)
	s.Do(func() {
		calls := s.Calls("register")
		require.NotEqual(t, calls[0].Registration.BootID, calls[len(calls)-1].Registration.BootID)
		require.Zero(t, ends(r), "the new life sends nothing that the old one held")
		require.Equal(t, int64(2), s.Newest("poll").Poll.Epoch)
		require.Empty(t, s.Newest("poll").Poll.Running)
	})
}

// A result that no server took when the lease ends is not sent by the next life.
func Test26AResultPastTheLease(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait, s.Lease = 300*time.Millisecond, 300*time.Millisecond, 2*time.Second })
	cut := false
	s.Script = func(*conformance.Call) *conformance.Fault {
		if cut {
			return &conformance.Fault{Drop: true}
		}
		return nil
	}
	r := s.Add(run("sleep", data{"ms": 600}))
	s.start()
	s.began(r)
	s.Do(func() { cut = true })
	s.handlerLeft(r)
	require.True(t, s.wrote("end "+r.Name()+" returned"))
	s.until("a call under no epoch", func() bool { return len(s.Calls("register")) > 1 })
	s.Do(func() { cut = false })
	s.until("a new life", func() bool { return s.Newest("poll").Poll.Epoch == 2 })
	s.polls(3)
	s.Do(func() { require.Zero(t, ends(r)) })
}

// Answers renew nothing while no beat is stored, and the lease counts from the moment the registration was sent.
func Test26TheLeaseCountsFromTheStoredCall(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait, s.Lease = 200*time.Millisecond, 200*time.Millisecond, 4*time.Second })
	late := make(chan struct{})
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind == "register" && c.N == 1 {
			time.AfterFunc(3*time.Second, func() { close(late) })
			return &conformance.Fault{Wait: late}
		}
		return nil
	}
	s.Change = func(c *conformance.Call, answer map[string]any) {
		if c.Kind == "poll" {
			answer["leaseSeq"] = 0
		}
	}
	s.start()
	s.until("a new life", func() bool { return len(s.Calls("register")) > 1 })
	s.Do(func() {
		calls := s.Calls("poll")
		// It has one second of its lease left when it hears of it; from the answer on it would be four.
		require.LessOrEqual(t, len(calls), 12, "a slow machine makes fewer")
		first := s.Calls("register")
		require.GreaterOrEqual(t, first[1].At.Sub(first[0].At), 3*time.Second)
	})
}

func Test27TheEpochIsLost(t *testing.T) {
	s := play(t)
	lost := false
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if lost && c.Kind != "register" {
			return &conformance.Fault{Status: 409, Code: "epoch_lost"}
		}
		lost = false
		return nil
	}
	r := s.Add(run("sleep", data{"ms": 60_000}))
	s.start()
	s.began(r)
	s.Do(func() { lost = true })
	s.handlerLeft(r)
	require.True(t, s.wrote("end "+r.Name()+" lost"), "%v", s.ledger())
	next := s.Add(run("ok", nil))
	require.Equal(t, "SUCCESS", s.ended(next).Status)
	s.Do(func() {
		calls := s.Calls("register")
		require.Len(t, calls, 2)
		require.NotEqual(t, calls[0].Registration.BootID, calls[1].Registration.BootID)
		require.Zero(t, ends(r))
	})
}

func Test27TheNameIsInUse(t *testing.T) {
	s := play(t)
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind == "register" && c.N == 1 {
			return &conformance.Fault{Status: 409, Code: "instance_in_use"}
		}
		return nil
	}
	s.start()
	s.registered()
	s.Do(func() { require.Len(t, s.Calls("register"), 2) })
}

func Test28AStaleReceipt(t *testing.T) {
	s := play(t)
	r := run("ok", nil)
	r.Receipt = "STALE"
	s.Add(r)
	s.start()
	s.ended(r)
	s.polls(3)
	s.Do(func() {
		require.Equal(t, 1, ends(r), "it is dropped")
		require.Empty(t, s.Newest("poll").Poll.Running)
		require.Equal(t, 8, s.Newest("poll").Poll.Free)
	})
}

// A server says that a run is another's now: its handler is told so, and its end counts nowhere.
func Test28ARunThatIsLost(t *testing.T) {
	s := play(t)
	r := s.Add(run("sleep", data{"ms": 60_000}))
	s.start()
	s.began(r)
	s.Do(func() { r.State = "given to another" })
	s.handlerLeft(r)
	require.True(t, s.wrote("end "+r.Name()+" lost"), "%v", s.ledger())
	s.until("a free slot", func() bool { return len(s.Newest("poll").Poll.Running) == 0 })
}
