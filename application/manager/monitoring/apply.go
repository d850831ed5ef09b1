package monitoring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// EventUnusual is the type of the event that tells of a finding; its key is the job.
const EventUnusual = "job.unusual"

// UnusualData is the data of that event.
type UnusualData struct {
	JobID string `json:"jobId"`
	// ExecutionID is the run that the finding is about, where the one who found it knows.
	ExecutionID string `json:"executionId,omitempty"`
	// EndTime is when the run ended that the finding is about; of one that runs still, when
	// it was looked at.
	EndTime time.Time `json:"endTime"`
	baseline.Finding
	Sentence string `json:"sentence"`
}

// applyScopes writes the rows of the cluster, of groups and of nodes: all in one
// transaction, which says so in the row of the fold. A job may go to another group
// before the batch is repeated, and must not count in both.
func (f *Fold) applyScopes(ctx context.Context, b *batch) error {
	var keys []repository.SumKey
	for _, name := range b.sums.Scopes() {
		keys = append(keys, scopeKey(name))
	}
	return f.inBatch(ctx, b.seq, "fold-scopes", func(ctx context.Context, tx repository.Tx, state repository.Fold) error {
		if state.Scopes {
			return nil
		}
		if err := f.putSums(ctx, tx, b.seq, b.sums, keys); err != nil {
			return err
		}
		state.Scopes = true
		return tx.Statistics.SaveFold(ctx, state)
	})
}

// applyJobs writes the rows of jobs with their baselines.
func (f *Fold) applyJobs(ctx context.Context, b *batch) error {
	var keys []repository.SumKey
	var jobs []repository.BinaryID
	flush := func() error {
		if len(keys) == 0 {
			return nil
		}
		told := false
		err := f.inBatch(ctx, b.seq, "fold-jobs", func(ctx context.Context, tx repository.Tx, _ repository.Fold) error {
			err := f.putSums(ctx, tx, b.seq, b.sums, keys)
			if err == nil {
				told, err = f.putBaselines(ctx, tx, b, jobs)
			}
			return err
		})
		if told && f.EventsAdded != nil { // also where nobody knows whether it is committed
			f.EventsAdded()
		}
		keys, jobs = keys[:0], jobs[:0]
		return err
	}
	names := b.sums.Jobs()
	for i, name := range names {
		if len(b.runs[name.Job]) > 0 && (i == 0 || names[i-1].Job != name.Job) {
			jobs = append(jobs, name.Job)
		}
		keys = append(keys, jobKey(name))
		if len(keys)+len(jobs) >= maxRows-1 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// partOf is what a batch adds to a row.
func partOf(sums *statistics.Sums, key repository.SumKey) *statistics.Row {
	if key.Kind == "" {
		return sums.Job(statistics.JobHour{Job: key.Job, Hour: key.Start})
	}
	return sums.Scope(statistics.ScopeHour{Kind: key.Kind, Name: key.Name, Hour: key.Start})
}

// putSums adds the parts of a batch to those rows that do not have it.
func (f *Fold) putSums(ctx context.Context, tx repository.Tx, seq int64, sums *statistics.Sums,
	keys []repository.SumKey,
) error {
	rows, err := f.stored(ctx, tx, keys)
	if err != nil {
		return err
	}
	changed := make([]repository.SumKey, 0, len(keys))
	for _, key := range keys {
		row := rows[key]
		if row == nil {
			row = &statistics.StoredRow{}
			rows[key] = row
		}
		if row.Apply(seq, partOf(sums, key)) {
			changed = append(changed, key)
		}
	}
	return tx.Statistics.PutSums(ctx, changed, rows)
}

// stored reads rows. Histograms that cannot be read begin anew.
func (f *Fold) stored(ctx context.Context, tx repository.Tx, keys []repository.SumKey) (
	map[repository.SumKey]*statistics.StoredRow, error,
) {
	rows, unreadable, err := tx.Statistics.Sums(ctx, keys)
	for _, key := range unreadable {
		f.Logger.Error("the histograms of a row of statistics cannot be read; they begin anew", "period", key.Period,
			"start", key.Start, "job", identity.Text(key.Job), "kind", key.Kind, "name", key.Name)
	}
	return rows, err
}

// putBaselines lets the baselines of jobs learn their runs of a batch, and tells of what
// was unusual in the same transaction: nobody judges a run again. It returns whether there is something to tell.
func (f *Fold) putBaselines(ctx context.Context, tx repository.Tx, b *batch, jobs []repository.BinaryID) (
	told bool, err error,
) {
	if len(jobs) == 0 {
		return false, nil
	}
	stored, err := tx.Statistics.Baselines(ctx, jobs)
	if err != nil {
		return false, err
	}
	var put []repository.StoredBaseline
	now := f.StoreClock.Now()
	fresh := func(run timedRun) bool { return now.Sub(run.at) <= reportsFor }
	var events []entity.Event
	for _, job := range jobs {
		row := stored[job]
		if row.FoldSeq >= b.seq {
			continue
		}
		state := f.baselineOf(job, row)
		for i, run := range b.runs[job] {
			if found, ok := state.Evaluate(run.Run); ok && fresh(run) && !f.Readers.Nobody() {
				events = append(events, f.unusual(b.seq, job, i, run.at, found))
			}
			state.Learn(run.Run)
		}
		put = append(put, repository.StoredBaseline{Job: job, Data: state.Append(nil), FoldSeq: b.seq})
	}
	if err := tx.Statistics.PutBaselines(ctx, put); err != nil || len(events) == 0 {
		return false, err
	}
	return true, tx.Records.AddEvents(ctx, events)
}

// baselineOf is a baseline as it is stored. One that cannot be read begins anew.
func (f *Fold) baselineOf(job repository.BinaryID, row repository.StoredBaseline) *baseline.State {
	if len(row.Data) == 0 {
		return &baseline.State{}
	}
	state, err := baseline.Decode(row.Data)
	if err != nil {
		f.Logger.Error("what is usual for a job cannot be read; it is learned anew", "job", identity.Text(job), "error", err)
		return &baseline.State{}
	}
	return state
}

// unusual is the event of the k-th run of a job in a batch.
func (f *Fold) unusual(seq int64, job repository.BinaryID, k int, at time.Time, found baseline.Finding) entity.Event {
	id := identity.Text(job)
	payload, err := json.Marshal(UnusualData{JobID: id, EndTime: at, Finding: found, Sentence: found.Sentence()})
	if err != nil { // a number that JSON cannot hold
		payload = fmt.Appendf(nil, `{"jobId":%q,"code":%q}`, id, found.Code)
	}
	return entity.Event{
		ID: fmt.Sprintf("unusual:%s:%d:%d", id, seq, k), Topic: entity.TopicJobs, Key: id, Type: EventUnusual,
		Payload: string(payload), CreateTime: f.StoreClock.Now(), Readers: f.Readers,
	}
}
