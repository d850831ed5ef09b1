package alerting

import (
	"maps"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Interval is the time between two looks at levels.
const Interval = 5 * time.Second

// refreshAfter is how old the latest evidence of a level may be before it is written again.
const refreshAfter = time.Minute

// Change is what evidence, or its absence, does to an alert.
type Change struct {
	// Alert is the new state; nil: nothing changes.
	Alert *alert.Alert
	// Opens: the alert is a new episode. Else it is to be written over the change Former.
	Opens  bool
	Former int64
}

// changed is a change of an alert that there is.
func changed(a *alert.Alert, former int64) Change {
	if a.Seq == former {
		return Change{}
	}
	a.Seq = former + 1 // one write is one change
	return Change{Alert: a, Former: former}
}

// open begins an episode.
func open(s *Signal, now time.Time) Change {
	a := &alert.Alert{
		ID: s.EpisodeID(), Fingerprint: s.Fingerprint(), Held: true, Type: s.Rule.Type, Level: s.Rule.Level,
		Status: alert.Pending, RuleID: s.Rule.ID, RuleVersion: s.Rule.Version, Group: s.Group, JobID: s.JobID,
		ExecutionID: s.ExecutionID, LastExecutionID: s.ExecutionID, NodeID: s.NodeID, Labels: s.labels(),
		Content: s.Content, Details: maps.Clone(s.Details), Count: 1, PendingSince: now, LastTime: s.At,
		EvidenceUntil: s.At, CreateTime: s.At, UpdateTime: now,
	}
	if s.Rule.ForSec == 0 || !a.IsLevel() {
		a.Fire(now)
	}
	if s.Rule.Type.IsMomentary() {
		a.Resolve(alert.ByNature, s.At, now)
	}
	a.Seq = 1
	return Change{Alert: a, Opens: true}
}

// Happened says what evidence of something that happened does, where latest is the newest
// episode of the fingerprint, nil for none. Evidence that an episode has seen already, by
// its time, never opens another: also not after it was resolved by hand.
func Happened(latest *alert.Alert, s *Signal, now time.Time) Change {
	if latest == nil || !latest.Open() && s.At.After(latest.EvidenceUntil) && !latest.Held && !joins(latest, s) {
		return open(s, now)
	}
	a := *latest
	a.Repeat(s.At, now, s.ExecutionID)
	if !latest.Open() { // it came late; it counts, and nobody is told
		return changed(&a, latest.Seq)
	}
	if a.LastExecutionID == s.ExecutionID {
		a.Content, a.Details = s.Content, maps.Clone(s.Details)
	}
	due := !a.NotifyDue.IsZero() && !a.NotifyDue.After(now)
	if s.Rule.Notify == alert.NotifyEach && a.Status == alert.Firing && !due {
		a.NotifyDue = now
	}
	return changed(&a, latest.Seq)
}

// eachAtMost is how often what is over at once opens an episode, where each is told.
const eachAtMost = time.Minute

// joins reports whether evidence of something that is over at once counts in the episode
// before it.
func joins(latest *alert.Alert, s *Signal) bool {
	return s.Rule.Type.IsMomentary() && s.Rule.Notify == alert.NotifyEach &&
		!s.At.Before(latest.CreateTime) && s.At.Before(latest.CreateTime.Add(eachAtMost))
}

// Above says what a level above its line does, where held is the alert that holds the
// fingerprint, nil for none.
func Above(held *alert.Alert, s *Signal, now time.Time) Change {
	if held == nil {
		return open(s, now)
	}
	if !held.Open() { // somebody has resolved it by hand; it is quiet until it falls
		return Change{}
	}
	a := *held
	a.Persist(now)
	a.Rewind(now)
	if a.Status == alert.Pending && !now.Before(a.PendingSince.Add(time.Duration(s.Rule.ForSec)*time.Second)) {
		a.Fire(now)
	}
	if now.Sub(a.LastTime) >= refreshAfter {
		a.Repeat(s.At, now, "")
	}
	c := changed(&a, held.Seq)
	if c.Alert != nil {
		a.Content, a.Details = s.Content, maps.Clone(s.Details)
	}
	return c
}

// Below says what a level below its line does to the alert that holds the fingerprint.
func Below(held *alert.Alert, r *alert.Rule, now time.Time) Change {
	a := *held
	switch {
	case !a.Open():
		a.Release(now)
	case a.Status == alert.Pending:
		a.Resolve(alert.ByRecovery, now, now)
	default:
		a.Rewind(now)
		a.Clear(now)
		if now.Sub(a.ClearSince) >= r.Keep(Interval) {
			a.Resolve(alert.ByRecovery, now, now)
		}
	}
	return changed(&a, held.Seq)
}

// Ended resolves an episode for a reason that lies outside of its rule. Evidence until a
// moment belongs to it; the zero time is its own evidence alone.
func Ended(held *alert.Alert, why alert.Resolution, evidence, now time.Time) Change {
	a := *held
	if !a.Open() {
		a.Release(now)
	} else {
		a.Resolve(why, evidence, now)
	}
	return changed(&a, held.Seq)
}

// Expired resolves an episode of events that had none for as long as the rule says.
func Expired(held *alert.Alert, r *alert.Rule, now time.Time) Change {
	if held.IsLevel() || held.Type.Stands() || now.Before(held.LastTime.Add(r.ResolveAfter())) {
		return Change{}
	}
	return Ended(held, alert.BySilence, time.Time{}, now)
}
