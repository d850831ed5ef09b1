// Package alert holds the objects of alerting and their transitions: alerts, the rules
// that raise them, where they are sent, and what became of each message. It knows no
// store and no clock.
package alert

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Status is the state of an alert.
type Status string

// The states. PENDING: the condition holds, but not yet for as long as the rule asks.
const (
	Pending      Status = "PENDING"
	Firing       Status = "FIRING"
	Acknowledged Status = "ACKNOWLEDGED"
	Resolved     Status = "RESOLVED"
)

// Statuses lists the states.
func Statuses() []Status { return []Status{Pending, Firing, Acknowledged, Resolved} }

// Level says how urgent an alert is.
type Level string

// The levels, least urgent first.
const (
	Info     Level = "INFO"
	Warning  Level = "WARNING"
	Critical Level = "CRITICAL"
)

// Resolution says why an episode ended.
type Resolution string

// The resolutions.
const (
	// ByRecovery: a later run of the job succeeded, or the level is below its line.
	ByRecovery Resolution = "RECOVERED"
	// BySilence: nothing was seen for as long as the rule says.
	BySilence Resolution = "EXPIRED"
	ByHand    Resolution = "MANUAL"
	// ByPause, ByDeletion and ByEndOfSchedule: the job is not expected to run any more.
	ByPause         Resolution = "JOB_PAUSED"
	ByDeletion      Resolution = "JOB_DELETED"
	ByEndOfSchedule Resolution = "JOB_FINISHED"
	// ByRule: the rule was deleted, switched off, or does not name the object any more.
	ByRule Resolution = "RULE_CHANGED"
	// ByNature: the type tells of something that is over at once, such as a success.
	ByNature Resolution = "MOMENTARY"
)

// Alert is one episode of something that a rule found: from its first evidence until it
// is resolved. Times are in UTC, to the millisecond.
type Alert struct {
	// ID is computed from the fingerprint and the first evidence, so that whoever opens
	// the episode a second time meets the first.
	ID string
	// Fingerprint names what the alert is about: the rule, and the job or the node.
	Fingerprint string
	// Held: the fingerprint is taken, so that no other episode of it opens. An alert holds
	// it while it is open. One that was resolved by hand while its level was above the
	// line holds it until the level falls.
	Held        bool
	Type        RuleType
	Level       Level
	Status      Status
	RuleID      string
	RuleVersion int
	// Group is that of the job; empty: the alert is about the cluster.
	Group string
	// JobID, ExecutionID and NodeID are empty where the alert is not about one.
	JobID       string
	ExecutionID string
	// LastExecutionID is the execution of the latest evidence.
	LastExecutionID string
	NodeID          string
	Labels          map[string]string
	// Content is one English sentence. Details are its numbers, from which a template
	// makes a sentence in any language.
	Content string
	Details map[string]string
	// Count is how many pieces of evidence the episode has.
	Count int
	// PendingSince is when the condition was seen first, StartTime when it had held for
	// long enough, LastTime when it was seen latest, EndTime when the episode ended.
	PendingSince time.Time
	StartTime    time.Time
	LastTime     time.Time
	EndTime      time.Time
	// ClearSince is since when the condition does not hold; zero while it does.
	ClearSince time.Time
	// EvidenceUntil: what happened until then belongs to this episode and opens no other.
	EvidenceUntil time.Time
	AckedBy       string
	AckTime       time.Time
	// ResolvedBy is the person who resolved it by hand.
	ResolvedBy string
	Resolution Resolution
	// Comment is what the person said who acknowledged or resolved it last.
	Comment string
	// Seq counts the changes; each write names the one that it has read.
	Seq int64
	// NotifyDue is when to plan a notification again; zero is never.
	NotifyDue  time.Time
	CreateTime time.Time
	UpdateTime time.Time
}

// Open reports whether the episode goes on.
func (a *Alert) Open() bool { return a.Status != Resolved }

// IsLevel reports whether the alert is about a state that is looked at again and again.
// A rule about a level learns from an execution that something happened.
func (a *Alert) IsLevel() bool { return a.Type.IsLevel() && a.ExecutionID == "" }

// change notes that the alert was changed at a moment.
func (a *Alert) change(at time.Time) {
	a.Seq++
	a.UpdateTime = at
}

// Fire makes a pending alert a firing one.
func (a *Alert) Fire(at time.Time) {
	if a.Status != Pending {
		return
	}
	a.Status, a.StartTime, a.NotifyDue = Firing, at, at
	a.change(at)
}

// Repeat adds evidence that happened at a moment, of an execution if it has one. Evidence
// may come out of order: the latest by its time stays the latest.
func (a *Alert) Repeat(evidence, at time.Time, executionID string) {
	a.Count++
	if evidence.After(a.LastTime) {
		a.LastTime = evidence
		if executionID != "" {
			a.LastExecutionID = executionID
		}
	}
	if evidence.After(a.EvidenceUntil) {
		a.EvidenceUntil = evidence
	}
	a.change(at)
}

// Rewind lets the waits of a level begin at a moment, where they began after it: the clock
// has stepped back, and they would last so much longer.
func (a *Alert) Rewind(now time.Time) {
	pending := a.Status == Pending && a.PendingSince.After(now)
	if !pending && !a.ClearSince.After(now) {
		return
	}
	if pending {
		a.PendingSince = now
	}
	if a.ClearSince.After(now) {
		a.ClearSince = now
	}
	a.change(now)
}

// Clear notes that the level was seen below its line, and Persist that it is above it
// again. They report whether that changes the alert.
func (a *Alert) Clear(at time.Time) bool {
	if !a.ClearSince.IsZero() {
		return false
	}
	a.ClearSince = at
	a.change(at)
	return true
}

// Persist is the opposite of Clear.
func (a *Alert) Persist(at time.Time) bool {
	if a.ClearSince.IsZero() {
		return false
	}
	a.ClearSince, a.LastTime = time.Time{}, at
	a.change(at)
	return true
}

// Acknowledge says that somebody takes care. It stops repeats and escalation; the alert
// still resolves. A second one changes nothing.
func (a *Alert) Acknowledge(by string, at time.Time) error {
	switch a.Status {
	case Acknowledged:
		return nil
	case Resolved:
		return apperror.Conflict("alert_resolved", "the alert was resolved before; there is nothing to acknowledge")
	case Pending:
		return apperror.Conflict("alert_pending", "the alert does not fire yet; acknowledge it once it is FIRING")
	}
	a.Status, a.AckedBy, a.AckTime, a.NotifyDue = Acknowledged, by, at, time.Time{}
	a.change(at)
	return nil
}

// Resolve ends the episode. An event until the evidence, or until the latest
// evidence of the episode, opens no other. One that is over stays as it is.
func (a *Alert) Resolve(why Resolution, evidence, at time.Time) {
	if !a.Open() {
		return
	}
	notify := at
	if a.Status == Pending {
		notify = time.Time{} // nobody was told of it
	}
	a.Status, a.Resolution, a.EndTime, a.Held, a.NotifyDue = Resolved, why, at, false, notify
	a.ClearSince = time.Time{}
	if evidence.After(a.EvidenceUntil) {
		a.EvidenceUntil = evidence
	}
	a.change(at)
}

// ResolveByHand is Resolve by a person. A level holds its fingerprint until it
// falls, so that the same state does not open another episode at once.
func (a *Alert) ResolveByHand(by string, at time.Time) error {
	if !a.Open() {
		return apperror.Conflict("alert_resolved", "the alert was resolved before")
	}
	level := a.IsLevel() && a.ClearSince.IsZero()
	a.Resolve(ByHand, time.Time{}, at)
	a.ResolvedBy, a.Held = by, level
	return nil
}

// Release lets another episode of the fingerprint open.
func (a *Alert) Release(at time.Time) {
	if a.Open() || !a.Held {
		return
	}
	a.Held = false
	a.change(at)
}
