package entity

import "time"

// AsideKind says what was set aside.
type AsideKind string

// The kinds. A row that is set aside stops nothing else.
const (
	// AsideEvent is an event whose evidence no alert could take, AsideLevel a look at a level, AsideDeadline a deadline.
	AsideEvent    AsideKind = "EVENT"
	AsideLevel    AsideKind = "LEVEL"
	AsideDeadline AsideKind = "DEADLINE"
	// AsidePlan is an alert whose messages could not be planned.
	AsidePlan AsideKind = "PLAN"
	// AsideDigest is a digest of ends that statistics lack.
	AsideDigest AsideKind = "DIGEST"
)

// AsideKinds lists the kinds.
func AsideKinds() []AsideKind {
	return []AsideKind{AsideEvent, AsideLevel, AsideDeadline, AsidePlan, AsideDigest}
}

// AsideState says what becomes of something that was set aside.
type AsideState string

// The states.
const (
	// AsideMissing: it was taken without its effect.
	AsideMissing AsideState = "MISSING"
	// AsideWaiting: it is tried again, AsideDead: it is tried no more.
	AsideWaiting AsideState = "WAITING"
	AsideDead    AsideState = "DEAD"
)

// AsideDays is how many days a row stays.
const AsideDays = 7

// SetAside is something that the store refuses, so that everything else goes on.
type SetAside struct {
	Kind AsideKind
	// ID is that of the event, the alert or the digest; of a look at a level the fingerprint of its alert, of a deadline
	// its job and fire.
	ID string
	// Job and Rule are ids; empty where it is about none, or about several.
	Job, Rule string
	State     AsideState
	// Reason is what the store answered, at most 1,000 characters.
	Reason string
	// Time is when it was set aside first, by the store's clock.
	Time time.Time
	// Data is the digest as it was stored; nil for other kinds. Lists leave it out.
	Data []byte
}
