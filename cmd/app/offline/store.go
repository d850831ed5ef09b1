package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// listedFires bounds the jobs that LookOut names, countedFires the jobs and runs that it counts.
const (
	listedFires  = 20
	countedFires = 10_000
	dueKeys      = 1000
)

// OnStore does something with the configured store, which servers may use meanwhile. It
// brings the schema up to date where the configuration allows that.
func OnStore(ctx context.Context, cfg config.Config,
	do func(ctx context.Context, s *persistence.Store) error,
) (err error) {
	schema := schemaConfig(cfg)
	if err := exists(schema); err != nil {
		return err
	}
	s, err := persistence.Open(ctx, persistence.Config{Config: schema, AutoMigrate: cfg.Store.AutoMigrate})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(ctx, s)
}

// exists is an error where the file of a SQLite store is not there: it must not be made. After an interrupted restore
// there is none yet, and the remedy is another one.
func exists(store sqldb.Config) error {
	if store.Driver != config.DriverSQLite {
		return nil
	}
	if err := migrate.RefuseRestoring(store.Path); err != nil {
		return err
	}
	if _, err := os.Stat(store.Path); err != nil {
		return fmt.Errorf("there is no store: %w; name the data folder with dataDir (PS_DATA_DIR)", err)
	}
	return nil
}

// Fire is a job whose schedule goes on when its store becomes active.
type Fire struct {
	Job   string    `json:"job"`
	Group string    `json:"group"`
	Due   time.Time `json:"due"`
	// Misfire is what happens to fires that are late by more than ThresholdSec; empty where none is. Fires that are late
	// by less run.
	Misfire      entity.MisfirePolicy `json:"misfire,omitempty"`
	ThresholdSec int                  `json:"thresholdSec,omitempty"`
}

// Live is how many runs of a job wait, and how many are in progress.
type Live struct {
	Job     string `json:"job"`
	Group   string `json:"group"`
	Waiting int    `json:"waiting"`
	Running int    `json:"running"`
}

// Outlook is what an active store does first.
type Outlook struct {
	// First are the jobs that are due first, Due counts all within the span, Missed those that have missed a fire; each up
	// to countedFires.
	First  []Fire `json:"fires"`
	Due    int    `json:"due"`
	Missed int    `json:"missed"`
	// Waiting runs start when a node may take them. Running ones are in progress, or were when their node was lost. Live
	// are those of the jobs that have most. Each up to countedFires.
	Waiting int    `json:"waiting"`
	Running int    `json:"running"`
	Live    []Live `json:"live,omitempty"`
}

// LookOut says what the servers of a store do within a span once it is active.
func LookOut(ctx context.Context, s *persistence.Store, span time.Duration) (o Outlook, err error) {
	now, err := s.StoreTime(ctx)
	if err != nil {
		return o, err
	}
	if err := o.jobs(ctx, s, now, now.Add(span)); err != nil {
		return o, err
	}
	return o, o.runs(ctx, s)
}

// runs counts the runs that wait and those in progress, by job.
func (o *Outlook) runs(ctx context.Context, s *persistence.Store) error {
	by := map[string]*Live{}
	count := func(span entity.ClaimSpan, add func(l *Live)) error {
		execs, err := s.Range(ctx, repository.ClaimRange{Lo: span.Lo, Hi: span.Hi, Limit: countedFires})
		for _, e := range execs {
			if by[e.JobID] == nil {
				by[e.JobID] = &Live{Job: e.JobID}
			}
			add(by[e.JobID])
		}
		return err
	}
	for _, span := range []entity.ClaimSpan{
		entity.ReadySpan(), entity.UnroutableSpan(), entity.QueuedSpan(), entity.GroupedSpan(), entity.ScheduledSpan(),
	} {
		if err := count(span, func(l *Live) { l.Waiting++; o.Waiting++ }); err != nil {
			return err
		}
	}
	for _, span := range entity.RunningSpans() {
		if err := count(span, func(l *Live) { l.Running++; o.Running++ }); err != nil {
			return err
		}
	}
	most := slices.SortedFunc(maps.Values(by), func(a, b *Live) int {
		return cmp.Or(b.Waiting+b.Running-a.Waiting-a.Running, strings.Compare(a.Job, b.Job))
	})
	for _, l := range most[:min(len(most), listedFires)] {
		if j, err := s.Jobs.Get(ctx, l.Job); err == nil {
			l.Job, l.Group = j.Name, j.Group
		} else if !apperror.Is(err, apperror.KindNotFound) {
			return err
		}
		o.Live = append(o.Live, *l)
	}
	return nil
}

func (o *Outlook) jobs(ctx context.Context, s *persistence.Store, now, until time.Time) error {
	q := repository.DueQuery{Until: until, Limit: dueKeys}
	for o.Due < countedFires {
		keys, err := s.DueKeys(ctx, q)
		if err != nil {
			return err
		}
		ids := make([]string, len(keys))
		for i, k := range keys {
			ids[i], q.AfterDue, q.AfterID = k.ID, k.DueTime, k.ID
		}
		found, err := s.ForPlanning(ctx, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b *entity.Job) int {
			return cmp.Or(a.DueTime.Compare(b.DueTime), strings.Compare(a.ID, b.ID))
		})
		for _, j := range found {
			o.add(j, now)
		}
		if o.Due += len(keys); len(keys) < q.Limit {
			break
		}
	}
	return nil
}

func (o *Outlook) add(j *entity.Job, now time.Time) {
	f := Fire{Job: j.Name, Group: j.Group, Due: j.DueTime.UTC()}
	if now.Sub(j.DueTime) > time.Duration(j.Misfire.ThresholdSec)*time.Second {
		f.Misfire, f.ThresholdSec = j.Misfire.Policy, j.Misfire.ThresholdSec
		o.Missed++
	}
	if len(o.First) < listedFires {
		o.First = append(o.First, f)
	}
}
