package event

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// EndObserver adds to what a transaction stores when executions end.
type EndObserver interface {
	// Ended gets the executions that a transaction has newly taken as final, at now
	// by the store's clock, and returns the rows that the same transaction inserts.
	// They are stored together with the ends, or not at all. It is called again when
	// the store runs the transaction again, so that it must answer the same, and keep
	// nothing. It must not wait, nor change the executions. Concurrent calls happen.
	Ended(ended []*entity.Execution, now time.Time) EndRows
}

// EndRows are what a transaction inserts beside the ends of executions.
type EndRows struct {
	Events []entity.Event
}

// Ends is the one point that every transaction passes which makes executions
// final: the completion of attempts, fires that do not run, and whatever ends what
// waits. Safe for concurrent use.
type Ends struct{ observers []EndObserver }

// NewEnds asks the observers in their order.
func NewEnds(observers ...EndObserver) *Ends { return &Ends{observers} }

// Record asks the observers about executions that are final by what the caller
// has written in the transaction, and inserts what they return. It costs no
// statement where they return nothing.
func (e *Ends) Record(ctx context.Context, tx repository.Tx, now time.Time, ended []*entity.Execution) error {
	if len(ended) == 0 {
		return nil
	}
	var events []entity.Event
	for _, o := range e.observers {
		events = append(events, o.Ended(ended, now).Events...)
	}
	if len(events) == 0 {
		return nil
	}
	if err := tx.Records.AddEvents(ctx, events); err != nil {
		return fmt.Errorf("add %d events: %w", len(events), err)
	}
	return nil
}

// Outbox is the EndObserver that tells subscribers of every end other than
// SUCCESS (engine rule 24).
type Outbox struct{}

// Ended implements EndObserver.
func (Outbox) Ended(ended []*entity.Execution, now time.Time) (rows EndRows) {
	for _, e := range ended {
		if e.Status != entity.StatusSuccess {
			rows.Events = append(rows.Events, Final(e, now))
		}
	}
	return rows
}
