// Command guide gives a store of the user guide a past: ended runs of its jobs, as their
// schedules name them. The server must not run. See web/e2e/guide.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// maxRuns bounds the past of one job.
const maxRuns = 20_000

// past is what is told of a job.
type past struct {
	Job        string `json:"job"`
	Days       int    `json:"days"`
	DurationMs int    `json:"durationMs"`
	// FailEvery: about one run of so many failed; 0 is none.
	FailEvery int           `json:"failEvery"`
	Reason    entity.Reason `json:"reason"`
	Error     string        `json:"error"`
	// SkipFrom and SkipTo, in hours before now: fires between were skipped, because the job was paused.
	SkipFrom int `json:"skipFrom"`
	SkipTo   int `json:"skipTo"`
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "guide:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("guide", flag.ContinueOnError)
	file := flags.String("store", "", "the SQLite file")
	node := flags.String("node", "", "the node that ran them")
	end := flags.String("now", "", "the moment at which the past ends, RFC 3339")
	if err := flags.Parse(args); err != nil {
		return err
	}
	now, err := time.Parse(time.RFC3339, *end)
	if err != nil {
		return err
	}
	var pasts []past
	if err := json.NewDecoder(os.Stdin).Decode(&pasts); err != nil {
		return err
	}
	store, err := persistence.Open(ctx, persistence.Config{Config: sqldb.Config{Driver: "sqlite", Path: *file}})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	jobs, _, err := store.Jobs.List(ctx, repository.JobFilter{}, repository.Page{Limit: 500})
	if err != nil {
		return err
	}
	for _, p := range pasts {
		at := slices.IndexFunc(jobs, func(j *entity.Job) bool { return j.Name == p.Job })
		if at < 0 {
			return fmt.Errorf("there is no job %q", p.Job)
		}
		execs, err := p.runs(jobs[at], *node, now)
		if err != nil {
			return fmt.Errorf("job %q: %w", p.Job, err)
		}
		if err := save(ctx, store, jobs[at], execs); err != nil {
			return fmt.Errorf("job %q: %w", p.Job, err)
		}
	}
	return nil
}

// runs are the same for the same job, moment and past.
func (p past) runs(job *entity.Job, node string, now time.Time) ([]*entity.Execution, error) {
	plan, err := schedule.NewCompiler().Compile(job.Schedule)
	if err != nil {
		return nil, err
	}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(p.Job))
	random := rand.New(rand.NewPCG(seed.Sum64(), 1))
	var execs []*entity.Execution
	for _, due := range plan.Between(now.AddDate(0, 0, -p.Days), now, maxRuns) {
		e := &entity.Execution{
			ID:    identity.ExecutionID(due, job.ID, identity.FireKey(due), 0),
			JobID: job.ID, FireKey: identity.FireKey(due), ScheduledTime: due, DueTime: due,
			Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: job.Priority,
			Status: entity.StatusSuccess, NodeID: node, Epoch: 1, Token: 1, Attempt: 1, CreateTime: due, UpdateTime: due,
		}
		late := time.Duration(2+random.IntN(9)) * time.Millisecond
		if random.IntN(60) == 0 {
			late += time.Duration(random.IntN(4000)) * time.Millisecond
		}
		e.Duration = time.Duration(float64(p.DurationMs)*(0.7+0.6*random.Float64())) * time.Millisecond
		e.StartTime, e.EndTime = due.Add(late), due.Add(late+e.Duration)
		if p.FailEvery > 0 && random.IntN(p.FailEvery) == 0 {
			e.Status, e.Reason, e.ErrorMessage = entity.StatusFailed, p.Reason, p.Error
		}
		if ago := now.Sub(due).Hours(); ago <= float64(p.SkipFrom) && ago > float64(p.SkipTo) {
			e.Status, e.Reason, e.ErrorMessage = entity.StatusSkipped, entity.ReasonPaused, ""
			e.NodeID, e.StartTime, e.EndTime, e.Duration, e.Attempt, e.Token = "", time.Time{}, due, 0, 0, 0
		}
		if e.EndTime.Before(now) {
			e.UpdateTime = e.EndTime
			execs = append(execs, e)
		}
	}
	return execs, nil
}

// save keeps runs as a transaction of the engine does that ends them.
func save(ctx context.Context, store *persistence.Store, job *entity.Job, execs []*entity.Execution) error {
	for part := range slices.Chunk(execs, 500) {
		err := store.Write(ctx, repository.LaneAPI, "guide", func(ctx context.Context, tx repository.Tx) error {
			if err := tx.Executions.Insert(ctx, part); err != nil {
				return err
			}
			moved := []repository.JobAdvance{repository.AdvanceOf(job, part[len(part)-1].ScheduledTime)}
			if err := tx.Jobs.Advance(ctx, moved); err != nil {
				return err
			}
			for _, e := range part {
				digests, leftOut := statistics.Encode([]*entity.Execution{e}, e.EndTime)
				if leftOut > 0 {
					return fmt.Errorf("execution %s is not final", e.ID)
				}
				if err := tx.Statistics.AddDigests(ctx, e.EndTime, digests); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
