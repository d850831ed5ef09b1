// Package console measures what browsers cost that have the overview of the console open.
package console

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/makerbench/internal/users"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

const (
	// MaxBrowsers is how many live streams a node serves.
	MaxBrowsers = 2000
	// perUser is how many browsers share a user; each has a session of its own.
	perUser = 4
	// pastRuns are in the store before the browsers come.
	pastRuns = 20_000
	// quietSpan is measured without browsers, at most as long as with them.
	quietSpan = 20 * time.Second
	// comeSpan is the time over which browsers come.
	comeSpan = 10 * time.Second
	// restSpan is the time after which all of them have read everything once.
	restSpan = 5 * time.Second
	// comeBound is how long their streams may take to open.
	comeBound = 2 * time.Minute
)

// Browsers measures a server with so many browsers on its overview.
type Browsers struct {
	*rig.Bench
	// Many is how many there are, Fires the fires a second beside them.
	Many, Fires int
}

// Configure lets so many browsers come from this machine.
func Configure(cfg config.Config, browsers int) config.Config {
	cfg.Server.MaxConnections = 4*browsers + 100
	cfg.Server.MaxConnectionsPerAddress = cfg.Server.MaxConnections
	return cfg
}

// Run lets a server fire, alone and then beside browsers.
func (b Browsers) Run(ctx context.Context) (r report.Result, err error) {
	quiet := min(quietSpan, b.Duration)
	whole := rig.WarmUp + quiet + comeSpan + comeBound + restSpan + b.Duration
	l := measure.NewLedger(b.Fires * int(whole.Seconds()))
	c, err := rig.NewCluster(ctx, b.Bench, l, rig.Shape{Served: true})
	if err != nil {
		return r, err
	}
	defer c.Close(ctx)
	r = c.Describe(b.Fires)
	b.Note("loading %d jobs, each once a second, one of which fails, and %d runs of the past", b.Fires, pastRuns)
	begin := c.Now().Truncate(time.Second).Add(b.Lead(rig.StartLead))
	var jobs []string
	err = b.LoadSteady(ctx, c, l, b.Fires, begin, func(i int, j *entity.Job) {
		jobs = append(jobs, j.ID)
		if i == 0 && b.Fires > 1 {
			j.Class = node.FailClass
		}
	})
	if err == nil {
		err = rig.InsertPast(ctx, c, pastRuns, jobs, begin.Add(-time.Hour))
	}
	if err != nil {
		return r, err
	}
	sessions, many, err := users.Add(ctx, c.Store(), c.Now(), b.Many, perUser)
	if err != nil {
		return r, err
	}
	if err := c.Start(ctx); err != nil {
		return r, err
	}
	r.Console = &report.Console{Browsers: b.Many, Users: many}
	server := c.URLs()[0]
	if err := b.Sleep(ctx, begin.Add(rig.WarmUp).Sub(c.Now())); err != nil {
		return r, err
	}
	b.Note("%d fires a second without browsers for %s", b.Fires, quiet)
	var alone spent
	if r.Console.Without, alone, err = b.cost(ctx, server, func() error { return b.Sleep(ctx, quiet) }); err != nil {
		return r, err
	}
	if err := b.watch(ctx, server, sessions, &r); err != nil {
		return r, err
	}
	r.Console.Added.CPUPercent = r.Console.With.CPUPercent - r.Console.Without.CPUPercent
	// Statement by statement: the engine batches more where the processor is busy, which must
	// not hide what the browsers ask for.
	for name, perSecond := range r.QueriesPerSecond {
		if more := perSecond - alone.queries[name]; more > 0 {
			r.QueriesPerSecond[name] = more
			r.Console.Added.QueriesPerSecond += more
		} else {
			delete(r.QueriesPerSecond, name)
		}
	}
	return r, c.Stop(ctx)
}

// watch lets the browsers come, and measures the server while they are there.
func (b Browsers) watch(ctx context.Context, server string, sessions []string, r *report.Result) error {
	b.Note("%d browsers come within %s, and stay for %s", b.Many, comeSpan, b.Duration)
	present, leave := context.WithCancel(ctx)
	defer leave()
	crowd := newCrowd(b.Clock, server, len(sessions))
	for i, session := range sessions {
		crowd.add(present, session, comeSpan*time.Duration(i)/time.Duration(len(sessions)))
	}
	if err := b.Sleep(ctx, comeSpan); err != nil {
		return err
	}
	for until := b.Clock.Monotonic() + comeBound; crowd.open.Load() < int64(b.Many); {
		if b.Clock.Monotonic() > until {
			return fmt.Errorf("only %d of %d live streams are open after %s: %w", crowd.open.Load(), b.Many, comeBound,
				crowd.failure())
		}
		if err := b.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	if err := b.Sleep(ctx, restSpan); err != nil {
		return err
	}
	crowd.begin()
	cost, after, err := b.cost(ctx, server, func() error { return b.Sleep(ctx, b.Duration) })
	if err != nil {
		return err
	}
	crowd.end(r.Console, b.Duration)
	leave()
	crowd.wait()
	r.Console.With, r.RSSMb, r.CPUPercent = cost, after.figures.RSS/(1<<20), cost.CPUPercent
	r.QueriesPerSecond = after.queries
	for i, text := range crowd.failures() {
		if i < 5 {
			b.Note("a read failed: %s", text)
		}
	}
	return nil
}

// spent is what a server says at the end of a span.
type spent struct {
	figures rig.Figures
	queries map[string]float64
}

// cost is what a server uses during a span.
func (b Browsers) cost(ctx context.Context, server string, span func() error) (report.ServerCost, spent, error) {
	var cost report.ServerCost
	before, err := rig.ReadFigures(ctx, server)
	if err != nil {
		return cost, spent{}, err
	}
	at := b.Clock.Monotonic()
	if err := span(); err != nil {
		return cost, spent{}, err
	}
	after, err := rig.ReadFigures(ctx, server)
	if err != nil {
		return cost, spent{}, err
	}
	seconds := (b.Clock.Monotonic() - at).Seconds()
	s := spent{after, after.QueriesSince(before, seconds)}
	cost.CPUPercent = after.CPUSince(before, seconds)
	for _, perSecond := range s.queries {
		cost.QueriesPerSecond += perSecond
	}
	return cost, s, nil
}

// newTransport keeps a connection for each browser beside its stream.
func newTransport(browsers int) *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 3 * browsers, DisableCompression: true}
}
