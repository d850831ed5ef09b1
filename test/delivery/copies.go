package delivery

import (
	"slices"
	"time"
)

// Copy is a message on the topic of alerts: one change of an alert.
type Copy struct {
	// ID is that of the event, Key what decides about its partition.
	ID, Key string
	// At is when the broker has taken it.
	At                         time.Time
	Alert, Fingerprint, Status string
	Seq                        int
}

// Changed is what the store says of an alert at the end: Seq counts its changes.
type Changed struct {
	Alert, Fingerprint, Status string
	Seq                        int
}

// copied: each change of an alert is on the topic at least once and at most 1 + faults times, those of a fingerprint
// first in their order. Nothing is there that the store does not know.
func (c *checker) copied() {
	type change struct {
		alert string
		seq   int
	}
	when := map[string]time.Time{} // the latest copy of a fingerprint came
	store := map[string]Changed{}
	for _, a := range c.Changed {
		store[a.Alert] = a
	}
	seen, last := map[change][]Copy{}, map[string]change{}
	for _, m := range c.Copies {
		now := change{m.Alert, m.Seq}
		seen[now] = append(seen[now], m)
		a, known := store[m.Alert]
		switch {
		case !known || m.Seq > a.Seq:
			c.say("the copy %s tells of the change %d of the alert %s, and the store has %d", m.ID, m.Seq, m.Alert, a.Seq)
		case m.Key != a.Fingerprint || m.Fingerprint != a.Fingerprint:
			c.say("the copy %s has the key %s, and the fingerprint is %s", m.ID, m.Key, a.Fingerprint)
		case m.Seq == a.Seq && m.Status != a.Status:
			c.say("the copy %s says that the alert is %s, and the store says %s", m.ID, m.Status, a.Status)
		}
		if m.ID != seen[now][0].ID {
			c.say("the change %d of the alert %s has the ids %s and %s", m.Seq, m.Alert, seen[now][0].ID, m.ID)
		}
		if len(seen[now]) > 1 {
			continue // a repetition may come after later ones
		}
		if was := last[m.Fingerprint]; now.alert < was.alert && !c.stepped(when[m.Fingerprint], m.At) ||
			now.alert == was.alert && now.seq < was.seq {
			c.say("the copy %s comes after the change %d of the alert %s", m.ID, was.seq, was.alert)
		}
		last[m.Fingerprint], when[m.Fingerprint] = now, m.At
	}
	for _, a := range c.Changed {
		for seq := 1; seq <= a.Seq; seq++ {
			c.times(a, seq, seen[change{a.Alert, seq}])
		}
	}
}

// times: how often a change was copied.
func (c *checker) times(a Changed, seq int, copies []Copy) {
	if len(copies) == 0 {
		c.say("the change %d of the alert %s was not copied", seq, a.Alert)
		return
	}
	at := func(a, b Copy) int { return a.At.Compare(b.At) }
	first, last := slices.MinFunc(copies, at).At, slices.MaxFunc(copies, at).At
	faults := 0
	for _, f := range c.CopyFaults {
		if f.From.Before(last.Add(slack)) && f.Until.Add(slack).After(first) {
			faults++
		}
	}
	if len(copies) > 1+faults {
		c.say("the change %d of the alert %s was copied %d times, with %d faults", seq, a.Alert, len(copies), faults)
	}
}
