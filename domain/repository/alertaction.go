package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Grant says whether an action may act now.
type Grant int

// The grants. GrantLost: somebody else has the action, or it is not open any more.
const (
	GrantLost Grant = iota
	GrantGiven
	// GrantFull: the rule has done as much as it may.
	GrantFull
)

// AlertActions is what those who act for rules ask of the store, and where they note that
// rules were evaluated.
type AlertActions interface {
	// DueActions returns OPEN ones that may be tried, those first that have waited longest.
	DueActions(ctx context.Context, now time.Time, limit int) ([]alert.Action, error)
	// AllowAction takes an action until next, if its rule was allowed less than most since a
	// moment. One that was allowed before is not counted again.
	AllowAction(ctx context.Context, a alert.Action, most int, since, now, next time.Time) (Grant, error)
	// EndAction is that of AlertWriter, in a transaction of its own.
	EndAction(ctx context.Context, a alert.Action) (bool, error)
	// StartedBy reports whether an action of a rule that acted since a moment has started an
	// execution.
	StartedBy(ctx context.Context, ruleID, executionID string, since time.Time) (bool, error)
	// RefusedActions are those that were refused since a moment for one of the codes, the
	// latest first.
	RefusedActions(ctx context.Context, codes []string, since time.Time, limit int) ([]alert.Action, error)
	// NoteEvaluation says that a node has evaluated the rules at a moment of the store's
	// clock. An older moment changes nothing.
	NoteEvaluation(ctx context.Context, node string, at time.Time) error
	// LastEvaluation is the latest of these; zero: there was none.
	LastEvaluation(ctx context.Context) (time.Time, error)
}

// PlannedMessage is what has been planned to tell of an alert through a channel, in one group and state. Messages that
// different causes held back are separate entries.
type PlannedMessage struct {
	AlertID   string
	ChannelID string
	GroupKey  string
	State     alert.NotificationState
	// Why is what holds it back, where State is SUPPRESSED.
	Why string
	// Fresh: it is OPEN, and nobody has tried to send it.
	Fresh bool
	// Seq is the latest change of the alert that they tell of.
	Seq int64
	// To are the mail addresses that the latest of them went to, or goes to; none: those of
	// the channel.
	To []string
	// At is when the latest of them was sent; where it was not, when it is to be tried.
	At time.Time
}
