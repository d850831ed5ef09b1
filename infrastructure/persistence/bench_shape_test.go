package persistence_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// BenchmarkShape measures what the tables and their indexes cost. One unit is
// the whole life of a run that starts directly: lock and advance its job,
// insert it RUNNING, finish it. The variants take turns within one process, so
// that the ratios hold even when the machine is busy; read nothing else.
//
//	go test -run '^$' -bench Shape -benchtime 1x ./infrastructure/persistence
//
// PS_BENCH_ONLY selects variants by a regular expression, PS_BENCH_SQLITE the
// synchronous levels ("none" for no SQLite).
func BenchmarkShape(b *testing.B) {
	for b.Loop() {
		for _, level := range strings.Fields(cmp.Or(os.Getenv("PS_BENCH_SQLITE"), "FULL NORMAL")) {
			for _, batch := range []int{100, 500} {
				if level == "none" {
					continue
				}
				cfg := func() persistence.Config {
					c := dbtest.SQLite(b)
					c.Synchronous = level
					return c
				}
				compare(b, "SQLite "+level, batch, 1, cfg, variants(true))
			}
		}
		for _, batch := range []int{100, 500} {
			if dbtest.HasMySQL(b) {
				compare(b, "MySQL", batch, 2, func() persistence.Config { return dbtest.MySQL(b) }, variants(false))
			}
		}
	}
}

const (
	benchJobs   = 20000
	benchRounds = 16
	benchTurn   = 250 * time.Millisecond
)

// variant is one shape of the tables, or one form of a statement.
type variant struct {
	name string
	// setup changes the migrated schema.
	setup []string
	// noKey starts runs without a claim key.
	noKey bool
	// perInsert is how many runs one INSERT adds; 0 leaves it.
	perInsert int
	insert    func(ctx context.Context, tx dbtest.Tx, rows []*entity.Execution) error
	finish    func(ctx context.Context, tx dbtest.Tx, rows []repository.Finish) error
}

// contestant is a variant with its store and its figures.
type contestant struct {
	variant
	store *persistence.Store
	next  atomic.Int64
	rates []float64
	// cursors are the jobs' next fire times, by number.
	cursors []time.Time

	mu    sync.Mutex
	spent map[string]time.Duration
}

// note adds up what each statement takes; prepare's are forgotten.
func (c *contestant) note(name string, d time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent[name] += d
}

// statements tells where the time of a batch goes.
func (c *contestant) statements(batch int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.spent)) {
		parts = append(parts, fmt.Sprintf("%s %.2f ms", name, c.spent[name].Seconds()*1000/float64(c.next.Load())))
	}
	return fmt.Sprintf("    a batch of %d: %s", batch, strings.Join(parts, ", "))
}

func compare(b *testing.B, where string, batch, workers int, cfg func() persistence.Config, all []variant) {
	b.Helper()
	only := regexp.MustCompile(os.Getenv("PS_BENCH_ONLY"))
	var field []*contestant
	for _, v := range all {
		if !only.MatchString(v.name) {
			continue
		}
		c := &contestant{variant: v, spent: make(map[string]time.Duration)}
		settings := cfg()
		settings.Observe = c.note
		c.store = dbtest.Open(b, settings)
		c.prepare(b)
		field = append(field, c)
	}
	for round := range benchRounds + 1 {
		for turn := range field { // each round begins with another, lest a place in the order count
			c := field[(round+turn)%len(field)]
			rate := c.run(b, batch, workers)
			if round > 0 { // the first turn warms up
				c.rates = append(c.rates, rate)
			}
		}
	}
	fmt.Printf("\n%s %s, batches of %d, %d connections: %v\n", where, field[0].store.Info().Version, batch, workers,
		field[0].store.Info().Durability)
	for _, c := range field {
		shares := make([]float64, len(c.rates))
		for i, rate := range c.rates { // turn by turn, because the machine's speed changes
			shares[i] = 100 * rate / field[0].rates[i]
		}
		fmt.Printf("  %-46s %8.0f/s %6.1f %%\n", c.name, median(c.rates), median(shares))
		if c == field[0] {
			fmt.Println(c.statements(batch))
		}
		require.NoError(b, c.store.Close())
	}
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

// prepare adds the jobs and changes the schema.
func (c *contestant) prepare(b *testing.B) {
	b.Helper()
	if c.perInsert > 0 {
		c.store.Dialect.InsertRows = c.perInsert
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c.cursors = slices.Repeat([]time.Time{start}, benchJobs)
	for from := 0; from < benchJobs; from += 1000 {
		require.NoError(b, c.store.Write(b.Context(), repository.LaneAPI, "prepare",
			func(ctx context.Context, tx repository.Tx) error {
				var jobs []*entity.Job
				for n := from; n < from+1000; n++ {
					jobs = append(jobs, benchJob(n, start))
				}
				return tx.Jobs.Insert(ctx, jobs...)
			}))
	}
	for _, statement := range c.setup {
		require.NoError(b, dbtest.Write(b.Context(), c.store, repository.LaneAPI, "prepare",
			func(ctx context.Context, tx dbtest.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			}))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.spent)
}

func benchJobID(n int) string { return fmt.Sprintf("0193%04x-%04x-7000-8000-%012x", n%7919, n%6007, n) }

func benchJob(n int, due time.Time) *entity.Job {
	id := benchJobID(n)
	return &entity.Job{
		ID: id, Name: fmt.Sprintf("bench job %d", n), Group: "default", Type: entity.JobCustom, Class: "noop", Data: "{}",
		Status: entity.JobEnabled, NextFireTime: due, DueTime: due, Partition: entity.PartitionOf(id), Version: 1,
		CreateTime: due, UpdateTime: due,
	}
}

// run fires batches for one turn and returns runs a second.
func (c *contestant) run(b *testing.B, batch, workers int) float64 {
	b.Helper()
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, workers)
	start := time.Now()
	for w := range workers {
		wg.Go(func() {
			for time.Since(start) < benchTurn && errs[w] == nil {
				errs[w] = c.life(b.Context(), w, workers, batch)
				done.Add(int64(batch))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(b, err, c.name)
	}
	return float64(done.Load()) / time.Since(start).Seconds()
}

// life is one batch from the fire to the end. Each worker has jobs of its own.
func (c *contestant) life(ctx context.Context, worker, workers, batch int) error {
	turn := int(c.next.Add(1))
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(turn) * time.Millisecond)
	per := benchJobs / workers
	rows, moves := make([]*entity.Execution, batch), make([]repository.JobMove, batch)
	finishes := make([]repository.Finish, batch)
	for i := range batch {
		number := worker*per + (turn*batch+i)%per
		id := benchJobID(number)
		key := identity.FireKey(at)
		e := &entity.Execution{
			ID: identity.ExecutionID(at, id, key, i), JobID: id, FireKey: key, ScheduledTime: at, DueTime: at,
			Trigger:    entity.TriggerSchedule,
			JobVersion: 1, Priority: 5, Status: entity.StatusRunning, NodeID: "node-1", Epoch: 1, Token: 1, Attempt: 1,
			StartTime: at, CreateTime: at, UpdateTime: at,
		}
		if !c.noKey {
			e.Claim = entity.RunningKey("node-1")
		}
		next := at.Add(time.Minute)
		rows[i] = e
		moves[i] = repository.JobMove{
			JobAdvance: repository.JobAdvance{
				ID: id, NextFireTime: next, DueTime: next, LastFireTime: at,
				Status: entity.JobEnabled,
			},
			From: c.cursors[number], Version: 1,
		}
		c.cursors[number] = next
		finishes[i] = repository.Finish{
			ID: e.ID, NodeID: "node-1", Epoch: 1, Token: 1, Status: entity.StatusSuccess,
			StartTime: at.Add(time.Millisecond), EndTime: at.Add(time.Duration(2+i%50) * time.Millisecond),
			Duration: time.Duration(1+i%50) * time.Millisecond, Progress: 100,
		}
	}
	err := dbtest.Write(ctx, c.store, repository.LaneFire, "fire", func(ctx context.Context, tx dbtest.Tx) error {
		moved, _, err := tx.Jobs.Move(ctx, moves)
		if err != nil {
			return err
		}
		if len(moved) != len(moves) {
			return fmt.Errorf("%d of %d jobs moved", len(moved), len(moves))
		}
		return c.insertRows(ctx, tx, rows)
	})
	if err != nil {
		return err
	}
	return dbtest.Write(ctx, c.store, repository.LaneComplete, "complete", func(ctx context.Context, tx dbtest.Tx) error {
		if c.finish != nil {
			return c.finish(ctx, tx, finishes)
		}
		refused, err := tx.Executions.Finish(ctx, finishes, time.Now())
		if len(refused) > 0 {
			return fmt.Errorf("%d completions were refused", len(refused))
		}
		return err
	})
}

func (c *contestant) insertRows(ctx context.Context, tx dbtest.Tx, rows []*entity.Execution) error {
	if c.insert != nil {
		return c.insert(ctx, tx, rows)
	}
	return tx.Executions.Insert(ctx, rows)
}
