package entity

import "time"

// PauseCause says what paused a job.
type PauseCause string

// The causes. PausedByUser is a pause of the job itself, which outlasts that
// of its group.
const (
	PausedByUser  PauseCause = ""
	PausedByGroup PauseCause = "GROUP"
)

// MaxPauseReason is the most characters of the reason of a pause.
const MaxPauseReason = 500

// Pause is what is known of a pause of a job or a group, beside its beginning.
type Pause struct {
	// Reason is why, at most MaxPauseReason characters; empty when nobody said.
	Reason string
	// User is the name of who paused; empty for the engine.
	User string
	// Until is when the pause ends by itself; zero: when somebody ends it.
	Until time.Time
}

// String describes the pause in the ledger.
func (p Pause) String() string {
	text := "paused"
	if p.User != "" {
		text += " by " + p.User
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}
