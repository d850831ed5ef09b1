package event

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
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
	// Digests are what statistics are made of.
	Digests []statistics.Digest
	// Todos are what the ends owe.
	Todos []entity.Todo
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
	var add EndRows
	for _, o := range e.observers {
		rows := o.Ended(ended, now)
		add.Events = append(add.Events, rows.Events...)
		add.Digests = append(add.Digests, rows.Digests...)
		add.Todos = append(add.Todos, rows.Todos...)
	}
	if len(add.Events) > 0 {
		if err := tx.Records.AddEvents(ctx, add.Events); err != nil {
			return fmt.Errorf("add %d events: %w", len(add.Events), err)
		}
	}
	if len(add.Digests) > 0 {
		if err := tx.Statistics.AddDigests(ctx, now, add.Digests); err != nil {
			return fmt.Errorf("add %d digests of ends: %w", len(add.Digests), err)
		}
	}
	if len(add.Todos) > 0 {
		if err := tx.Todos.AddTodos(ctx, add.Todos); err != nil {
			return fmt.Errorf("add what %d ends owe: %w", len(add.Todos), err)
		}
	}
	return nil
}

// Outbox is the EndObserver that tells its readers of every end other than SUCCESS
// (engine rule 24), and the rules of those successes that somebody asks for. Without
// readers it adds nothing.
type Outbox struct {
	Readers entity.EventReaders
	// Jobs returns the definition that this node holds of a job, or nil; it must not wait.
	Jobs func(id string) *entity.Job
	// Steps returns which step an id is of, where this node knows it; it must not wait.
	Steps func(id string) (step workflow.StepRow, known bool)
}

// Ended implements EndObserver.
func (o Outbox) Ended(ended []*entity.Execution, now time.Time) (rows EndRows) {
	if o.Readers.Nobody() {
		return rows
	}
	for _, e := range ended {
		if e.Inline() && (e.Status == entity.StatusSuccess || e.Status == entity.StatusSkipped) {
			continue // its workflow run tells of it, by its own end
		}
		readers := o.Readers
		if e.Status == entity.StatusSuccess {
			if readers.Kafka = false; !e.SuccessAsked {
				continue
			}
		}
		if !readers.Nobody() {
			final := o.final(e, now)
			final.Readers = readers
			rows.Events = append(rows.Events, final)
		}
	}
	return rows
}

func (o Outbox) final(e *entity.Execution, now time.Time) entity.Event {
	jobs := o.Jobs
	if jobs == nil {
		jobs = func(string) *entity.Job { return nil }
	}
	if !e.Inline() {
		return Final(e, jobs(e.JobID), now)
	}
	var step workflow.StepRow
	if o.Steps != nil {
		step, _ = o.Steps(e.JobID)
	}
	return final(e, jobs(step.WorkflowID), step, now)
}
