package execution

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// ledgerPage is the number of rows read at once.
const ledgerPage = 200

// plannedShown is the most fires to come that stand before those of the past.
const plannedShown = 10

// Fires returns the fire ledger of a job, newest first. The nearest fires to come stand
// before the past fires, ranges and backfilled times, which it reads from rows (engine
// rule 6). The cursor is the moment of the last entry.
func (s *ExecutionService) Fires(ctx context.Context, q entity.LedgerQuery) ([]entity.LedgerEntry, string, error) {
	job, err := s.Jobs.Get(ctx, q.JobID)
	if err != nil {
		return nil, "", err
	}
	now := s.Clock.Now()
	from, to := q.From, q.To
	if to.IsZero() {
		to = now.Add(time.Hour)
	}
	if from.IsZero() {
		from = minTime(now, to).Add(-24 * time.Hour)
	}
	if !from.Before(to) {
		return nil, "", apperror.InvalidField("from", "after_to", "must be before to")
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	var entries []entity.LedgerEntry
	if q.Cursor != "" {
		at, ok := readLedgerCursor(q.Cursor)
		if !ok {
			return nil, "", apperror.InvalidField("cursor", "invalid_cursor", "must be the nextCursor of a former page")
		}
		to = minTime(to, at)
	} else {
		entries, err = s.planned(job, from, to, min(plannedShown, (q.Limit+1)/2))
		if err != nil {
			return nil, "", err
		}
	}
	past, more, err := s.recorded(ctx, q.JobID, from, to, q.Limit-len(entries))
	if err != nil {
		return nil, "", err
	}
	if !more {
		// A range that began before is part of the answer, as its last line.
		began, err := s.Executions.RangeOver(ctx, q.JobID, from)
		if err != nil {
			return nil, "", err
		}
		if more = began != nil && len(entries)+len(past) >= q.Limit; began != nil && !more {
			entry, states := entryOf(began), []entity.Status(nil)
			fold(&entry, &states, began)
			past = append(past, finishFold([]entity.LedgerEntry{entry}, [][]entity.Status{states})...)
		}
	}
	if err := s.addReplays(ctx, past); err != nil {
		return nil, "", err
	}
	entries = append(entries, past...)
	if !more || len(entries) == 0 {
		return entries, "", nil
	}
	return entries, strconv.FormatInt(entries[len(entries)-1].Moment.UnixMilli(), 10), nil
}

// readLedgerCursor reads the moment that a page ended with, in milliseconds.
func readLedgerCursor(cursor string) (time.Time, bool) {
	ms, err := strconv.ParseInt(cursor, 10, 64)
	at := time.UnixMilli(ms).UTC()
	return at, err == nil && ms >= 0 && at.Year() <= 9999
}

// planned are the fires to come in [from, to), latest first, at most limit of
// the nearest.
func (s *ExecutionService) planned(job *entity.Job, from, to time.Time, limit int) ([]entity.LedgerEntry, error) {
	if job.Status != entity.JobEnabled || job.NextFireTime.IsZero() {
		return nil, nil
	}
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return nil, err
	}
	first, ok := job.NextFireTime, true
	if first.Before(from) && job.Schedule.Kind != schedule.FixedDelay {
		// Straight there: counting up to a far time could take for ever.
		first, ok = sched.Next(from.Add(-time.Millisecond))
	}
	var entries []entity.LedgerEntry
	for at := first; ok && at.Before(to) && len(entries) < limit; at, ok = sched.Next(at) {
		if !at.Before(from) {
			entries = append(entries, entity.LedgerEntry{
				FireKey: identity.FireKey(at), ScheduledTime: at, Moment: at, Outcome: entity.OutcomePlanned,
			})
		}
		if job.Schedule.Kind == schedule.FixedDelay {
			break // the time after that depends on when this run ends
		}
	}
	slices.Reverse(entries)
	return entries, nil
}

// recorded folds rows into entries. Rows of one moment are never split over
// two pages; more says that older rows exist.
func (s *ExecutionService) recorded(ctx context.Context, jobID string, from, to time.Time,
	limit int,
) (entries []entity.LedgerEntry, more bool, err error) {
	f := repository.ExecutionFilter{JobID: jobID, From: from, To: to}
	page := repository.Page{Limit: ledgerPage}
	index := map[string]int{}
	var states [][]entity.Status
	for {
		rows, next, err := s.Executions.List(ctx, f, page)
		if err != nil {
			return nil, false, err
		}
		for _, row := range rows {
			if !inLedger(row) {
				continue
			}
			i, seen := index[row.FireKey]
			if !seen {
				full := len(entries) >= limit
				if full && (limit <= 0 || !momentOf(row).Equal(entries[len(entries)-1].Moment)) {
					return finishFold(entries, states), true, nil
				}
				i = len(entries)
				index[row.FireKey] = i
				entries = append(entries, entryOf(row))
				states = append(states, nil)
			}
			fold(&entries[i], &states[i], row)
		}
		if next == "" {
			return finishFold(entries, states), false, nil
		}
		page.Cursor = next
	}
}

// inLedger reports whether an execution is of a fire of the ledger: one of the schedule, of a backfill, or of a job
// that another one starts.
func inLedger(row *entity.Execution) bool {
	switch row.Trigger {
	case entity.TriggerSchedule, entity.TriggerMisfire, entity.TriggerDependency:
		return true
	}
	return identity.IsBackfill(row.FireKey)
}

// momentOf is the place of a row in the ledger.
func momentOf(row *entity.Execution) time.Time {
	if at, ok := identity.TimeOf(row.ID); ok && row.Trigger == entity.TriggerDependency {
		return at
	}
	return row.ScheduledTime
}

func entryOf(row *entity.Execution) entity.LedgerEntry {
	e := entity.LedgerEntry{FireKey: row.FireKey, ScheduledTime: row.ScheduledTime, Moment: momentOf(row)}
	_, e.StartedBy, _ = identity.OfNextKey(row.FireKey)
	if row.IsRange() {
		e.RangeEnd, e.Count, e.CountAtLeast = row.SkipTo, row.SkipCount, row.SkipAtLeast
	}
	return e
}

// fold adds one shard's row to its fire. The reason shown is that of the worst
// shard; the lateness that of the latest.
func fold(e *entity.LedgerEntry, states *[]entity.Status, row *entity.Execution) {
	before := entity.Fold(*states)
	*states = append(*states, row.Status)
	if after := entity.Fold(*states); after != before {
		e.Reason, e.Message = row.Reason, row.ErrorMessage
	}
	if e.WaitsFor == entity.WaitNone || row.Claim.Queue().Unroutable() {
		e.WaitsFor = row.Claim.WaitsFor()
	}
	e.ExecutionIDs = append(e.ExecutionIDs, row.ID)
	e.LatenessMs = max(e.LatenessMs, row.Lateness().Milliseconds())
}

func finishFold(entries []entity.LedgerEntry, states [][]entity.Status) []entity.LedgerEntry {
	for i := range entries {
		entries[i].Outcome = string(entity.Fold(states[i]))
		if entries[i].Outcome != string(entity.StatusWaiting) {
			entries[i].WaitsFor = entity.WaitNone
		}
		slices.Sort(entries[i].ExecutionIDs)
	}
	return entries
}

func (s *ExecutionService) addReplays(ctx context.Context, entries []entity.LedgerEntry) error {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ExecutionIDs...)
	}
	if len(ids) == 0 {
		return nil
	}
	replays, err := s.Executions.Replays(ctx, ids)
	if err != nil {
		return err
	}
	for i := range entries {
		for _, id := range entries[i].ExecutionIDs {
			entries[i].Replays = append(entries[i].Replays, replays[id]...)
		}
	}
	return nil
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
