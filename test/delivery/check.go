package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// History is what the store and the ledger say when all is quiet.
type History struct {
	Receipts   []Receipt
	Alerts     []Alert
	Messages   []Message
	Deliveries []Attempt
	Faults     []Fault
	// Failed are the failed runs of each job, by the executions.
	Failed map[string]int
	// Copies are what the topic of alerts holds, each partition in its order; CopyFaults may cost the answer of a broker.
	Copies     []Copy
	CopyFaults []Fault
	// Changed is how far the store says that each alert has come.
	Changed []Changed
}

// Alert is a row of an alert.
type Alert struct {
	ID, Fingerprint, Rule, Job, Status string
	// Fired: it reached FIRING.
	Fired bool
	Count int
	// Each: the rule counts each failed run.
	Each        bool
	Start, Last time.Time
	// Channels are those that have to hear of it.
	Channels []string
}

// Message is a notification.
type Message struct {
	ID, Group, Channel, State string
	Number                    int
	Alerts                    []string
}

// Attempt is a row of a delivery.
type Attempt struct {
	Message, Result string
	Number          int
	Start, End      time.Time
}

// Fault is something that may cost an answer or a result.
type Fault struct {
	Kind        string
	From, Until time.Time
	// Step is by how much the clock was off that dates the rows.
	Step time.Duration
}

const (
	sent    = "SENT"
	failed  = "FAILED"
	unknown = "UNKNOWN"
	firing  = "FIRING"
)

// slack is how far the clocks of ledger and store, and the ways between, may be apart.
const slack = 2 * time.Second

// Check returns everything that is broken.
func Check(h History) []string {
	c := &checker{
		History: h, messages: map[string]Message{}, byID: map[string][]Receipt{}, rows: map[string][]Attempt{},
	}
	for _, m := range h.Messages {
		c.messages[m.ID] = m
	}
	for _, r := range h.Receipts {
		c.byID[r.ID] = append(c.byID[r.ID], r)
	}
	for _, a := range h.Deliveries {
		c.rows[a.Message] = append(c.rows[a.Message], a)
	}
	c.delivered()
	c.ordered()
	c.told()
	c.recorded()
	c.counted()
	c.episodes()
	c.copied()
	return c.broken
}

type checker struct {
	History
	messages map[string]Message
	byID     map[string][]Receipt
	rows     map[string][]Attempt
	broken   []string
}

func (c *checker) say(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

// accepted is when a message was taken first, and last; zero: never.
func (c *checker) accepted(id string) (first, last time.Time, times int) {
	for _, r := range c.byID[id] {
		if r.Accepted {
			if times++; first.IsZero() {
				first = r.At
			}
			last = r.At
		}
	}
	return first, last, times
}

// waits is how long a sender waits for the answer of a receiver: an attempt may end so much later than its receipt.
const waits = 10 * time.Second

// off is by how much the row of an attempt may be dated wrongly that was received at a moment. Its end is dated later.
func (c *checker) off(at time.Time) (most time.Duration) {
	for _, f := range c.Faults {
		if f.Step > most && !at.Add(waits).Before(f.From.Add(-slack)) && !at.After(f.Until.Add(slack)) {
			most = f.Step
		}
	}
	return most
}

// stepped reports whether the rows between two moments may be dated in another order than they were written.
func (c *checker) stepped(from, until time.Time) bool {
	if until.Before(from) {
		from, until = until, from
	}
	return slices.ContainsFunc(c.Faults, func(f Fault) bool {
		return f.Step > 0 && !f.From.Add(-f.Step-slack).After(until) && !f.Until.Add(f.Step+slack).Before(from)
	})
}

// delivered: each alert that fired is in the ledger, once per channel at least.
func (c *checker) delivered() {
	heard := map[[2]string]bool{}
	for _, m := range c.Messages {
		if m.State != sent {
			c.say("the message %s is %s at the end", m.ID, m.State)
		}
		if _, _, times := c.accepted(m.ID); times > 0 {
			for _, a := range m.Alerts {
				heard[[2]string{a, m.Channel}] = true
			}
		}
	}
	for _, a := range c.Alerts {
		for _, channel := range a.Channels {
			if a.Fired && !heard[[2]string{a.ID, channel}] {
				c.say("nobody heard of the alert %s by %s", a.ID, channel)
			}
		}
	}
}

// ordered: within group key and channel, messages are taken in the order of their numbers.
func (c *checker) ordered() {
	list := slices.Clone(c.Messages)
	slices.SortFunc(list, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Number, b.Number))
	})
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if a.Group != b.Group || a.Channel != b.Channel {
			continue
		}
		former, _, _ := c.accepted(a.ID)
		later, _, times := c.accepted(b.ID)
		if times > 0 && (former.IsZero() || later.Before(former)) {
			c.say("the message %s of number %d came before %s of number %d", b.ID, b.Number, a.ID, a.Number)
		}
	}
}

// told: what the messages themselves say of a fingerprint goes forward, from episode to episode and
// from firing to its end. One message lists its episodes newest first. Repetitions are left out.
func (c *checker) told() {
	type step struct {
		alert string
		over  bool
		at    time.Time
	}
	last, seen := map[string]step{}, map[string]bool{}
	for _, r := range c.Receipts {
		if !r.Accepted || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		for _, a := range slices.SortedFunc(slices.Values(r.Alerts), func(a, b Told) int {
			return strings.Compare(a.ID, b.ID)
		}) {
			now, was := step{a.ID, a.Status != firing, r.At}, last[r.Channel+a.Fingerprint]
			if now.alert < was.alert && !c.stepped(was.at, r.At) || now.alert == was.alert && was.over && !now.over {
				c.say("the message %s goes back: alert %s %s after %s", r.ID, a.ID, a.Status, was.alert)
			}
			last[r.Channel+a.Fingerprint] = now
		}
	}
}

// recorded: each receipt is an attempt of the store; what the store calls SENT was received; no
// message comes again but for a fault.
func (c *checker) recorded() {
	for id, got := range c.byID {
		rows := c.rows[id]
		if len(got) > len(rows) {
			c.say("the message %s came %d times, of %d recorded attempts", id, len(got), len(rows))
		}
		for _, r := range got {
			if !slices.ContainsFunc(rows, func(a Attempt) bool {
				slack := slack + c.off(r.At)
				return !r.At.Before(a.Start.Add(-slack)) && !r.At.After(a.End.Add(slack))
			}) {
				c.say("the message %s came at %s, when no attempt was recorded", id, r.At.Format("15:04:05.000"))
			}
		}
		first, last, times := c.accepted(id)
		faults := 0
		for _, f := range c.Faults {
			if f.From.Before(last.Add(slack)) && f.Until.Add(slack).After(first) {
				faults++
			}
		}
		if times > 1+faults {
			c.say("the message %s was taken %d times, with %d faults", id, times, faults)
		}
	}
	for id, rows := range c.rows {
		_, _, times := c.accepted(id)
		for _, a := range rows {
			if !slices.Contains([]string{sent, failed, unknown}, a.Result) {
				c.say("the attempt %d of the message %s has the result %q", a.Number, id, a.Result)
			}
			if a.Result == sent && times == 0 {
				c.say("the attempt %d of the message %s is SENT, and nobody got it", a.Number, id)
			}
		}
		if n := len(slices.DeleteFunc(slices.Clone(rows), func(a Attempt) bool { return a.Result != sent })); n > times {
			c.say("%d attempts of the message %s are SENT, and it was taken %d times", n, id, times)
		}
	}
}

// counted: each failed run is counted in the alerts of each rule about single failures once.
func (c *checker) counted() {
	sums := map[[2]string]int{}
	for _, a := range c.Alerts {
		if a.Each {
			sums[[2]string{a.Rule, a.Job}] += a.Count
		}
	}
	for of, n := range sums {
		if n != c.Failed[of[1]] {
			c.say("%d runs of the job %s failed, and the rule %s counted %d", c.Failed[of[1]], of[1], of[0], n)
		}
	}
	for job, n := range c.Failed {
		if !slices.ContainsFunc(c.Alerts, func(a Alert) bool { return a.Job == job }) {
			c.say("%d runs of the job %s failed, and no alert tells of them", n, job)
		}
	}
}

// episodes: those of a fingerprint follow one another.
func (c *checker) episodes() {
	list := slices.Clone(c.Alerts)
	slices.SortFunc(list, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.ID, b.ID))
	})
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.Fingerprint == b.Fingerprint && !b.Start.After(a.Last) &&
			!c.stepped(b.Start, a.Last) {
			c.say("the episode %s begins before %s of the same fingerprint is over", b.ID, a.ID)
		}
	}
}
