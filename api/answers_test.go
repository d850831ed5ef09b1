package api_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/controller/access"
	"github.com/platform-scheduler/platform-scheduler/api/controller/cluster"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const overviewPath = "/api/v1/monitor/overview"

// countedOverview counts the loads of an overview, and may hold them or let them fail.
type countedOverview struct {
	cluster.OverviewService
	loads atomic.Int64
	held  chan struct{}
	err   error
}

func (o *countedOverview) Overview(ctx context.Context, groups []string) (monitor.Overview, error) {
	o.loads.Add(1)
	if o.held != nil {
		select {
		case <-o.held:
		case <-ctx.Done():
			return monitor.Overview{}, ctx.Err()
		}
	}
	if o.err != nil {
		return monitor.Overview{}, o.err
	}
	return o.OverviewService.Overview(ctx, groups)
}

// counted puts a counter before the overview. Lateness and other figures of the machine do
// not change in the tests, so that equal states are equal answers.
func (e *edge) counted() *countedOverview {
	e.t.Helper()
	o := &countedOverview{OverviewService: e.parts.Overview}
	e.rebuild(func(d *api.Deps) { d.Overview = o })
	return o
}

func TestPagesOfASecondShareOneLoad(t *testing.T) {
	e := newEdge(t)
	o := e.counted()
	first := e.call("GET", overviewPath, "", byCookie(e.signIn("viewer"))...).want(200)
	require.Regexp(t, `^"[0-9a-f]{24}"$`, first.header.Get("ETag"))
	require.Equal(t, "no-store", first.header.Get("Cache-Control"), "nothing stays on the disk of a browser")
	again := e.call("GET", overviewPath, "", byCookie(e.signIn("operator"))...).want(200)
	require.Equal(t, first.body, again.body)
	require.EqualValues(t, 1, o.loads.Load(), "who sees the same has the same answer")

	same := e.call("GET", overviewPath, "", byCookie(e.signIn("viewer"), "If-None-Match", first.header.Get("ETag"))...)
	same.want(304)
	require.Empty(t, same.body)
	require.Empty(t, same.header.Get("Content-Length"))

	e.call("GET", overviewPath, "", byCookie(e.signIn("viewer"), "Cache-Control", "no-cache")...).want(200)
	require.EqualValues(t, 2, o.loads.Load(), "who asks anew is answered anew")
	e.call("GET", overviewPath, "").want(200)
	require.EqualValues(t, 3, o.loads.Load(), "programs read the store")
	e.Clock.Advance(time.Second)
	e.call("GET", overviewPath, "", byCookie(e.signIn("viewer"))...).want(200)
	require.EqualValues(t, 4, o.loads.Load())
}

func TestAnAnswerIsForNobodyWhoSeesOtherGroups(t *testing.T) {
	e := newEdge(t)
	o := e.counted()
	e.create(encode(t, minimal().with(fields{"group": "a"})))
	all := e.call("GET", overviewPath, "", byCookie(e.signIn("viewer"))...).want(200).json()
	require.EqualValues(t, 1, all["jobs"].(map[string]any)["enabled"])
	for _, group := range []string{"b", "c"} {
		e.narrow(group)
		m := e.call("GET", overviewPath, "", byCookie(e.signIn("viewer"))...).want(200).json()
		require.EqualValues(t, 0, m["jobs"].(map[string]any)["enabled"])
	}
	require.EqualValues(t, 3, o.loads.Load())
	// Lists may show more to whoever edits.
	for _, path := range []string{"/api/v1/jobs", "/api/v1/executions"} {
		viewers := e.call("GET", path, "", byCookie(e.signIn("viewer"))...).want(200)
		require.NotEqual(t, viewers.body, "")
		e.call("GET", path+"?limit=1", "", byCookie(e.signIn("viewer"))...).want(200)
	}
	for _, path := range []string{"/api/v1/secrets", "/api/v1/auth/me", "/api/v1/export", "/api/v1/users"} {
		a := e.call("GET", path, "", byCookie(e.signIn("admin"))...).want(200)
		require.Empty(t, a.header.Get("ETag"), path)
	}
}

// All roles that see all groups are shown the same on the pages that do not tell them apart.
func TestRolesThatShareAnswersAreShownTheSame(t *testing.T) {
	e := newEdge(t)
	e.create(encode(t, minimal()))
	for _, path := range []string{
		overviewPath, "/api/v1/monitor/failures", "/api/v1/monitor/today", "/api/v1/monitor/statistics",
		"/api/v1/schedules/load", "/api/v1/nodes", "/api/v1/alerts",
	} {
		want := e.call("GET", path, "", as(adminToken)...).want(200).body
		for _, token := range []string{operatorToken, viewerToken} {
			require.JSONEq(t, want, e.call("GET", path, "", as(token)...).want(200).body, path)
		}
	}
}

func TestACallerReadsItsOwnWrite(t *testing.T) {
	e := newEdge(t)
	admin := e.signIn("admin")
	jobs := func(token string) int {
		return len(e.call("GET", "/api/v1/jobs", "", byCookie(token)...).want(200).json()["items"].([]any))
	}
	require.Zero(t, jobs(admin))
	e.create(encode(t, minimal()))
	require.Equal(t, 1, jobs(admin), "at once, by whatever session or token")
}

func TestOneLoadIsForAllWhoWait(t *testing.T) {
	e := newEdge(t)
	o := e.counted()
	o.held = make(chan struct{})
	token := e.signIn("viewer")
	var waiting sync.WaitGroup
	codes := make(chan int, 50)
	for range cap(codes) {
		waiting.Go(func() { codes <- e.call("GET", overviewPath, "", byCookie(token)...).status })
	}
	require.Eventually(t, func() bool { return o.loads.Load() == 1 }, within, time.Millisecond)
	close(o.held)
	waiting.Wait()
	for range cap(codes) {
		require.Equal(t, 200, <-codes)
	}
	require.EqualValues(t, 1, o.loads.Load())
}

func TestErrorsAreNotKept(t *testing.T) {
	e := newEdge(t)
	o := e.counted()
	token := e.signIn("viewer")
	o.err = apperror.Unavailable(errors.New("away"))
	e.call("GET", overviewPath, "", byCookie(token)...).want(503)
	o.err = nil
	e.call("GET", overviewPath, "", byCookie(token)...).want(200)
	e.call("GET", overviewPath+"?x=1", "", byCookie(token)...).want(422)
}

// A read after the notice of a change is not older than the change.
func TestWhoIsToldOfAChangeReadsIt(t *testing.T) {
	e := newEdge(t)
	told := &toldFeed{Watcher: e.parts.Live}
	e.rebuild(func(d *api.Deps) { d.Live = told })
	o := e.counted()
	token := e.signIn("viewer")
	e.call("GET", overviewPath, "", byCookie(token)...).want(200)
	told.seq.Add(1)
	e.call("GET", overviewPath, "", byCookie(token)...).want(200)
	require.EqualValues(t, 2, o.loads.Load())
}

// toldFeed has told of as many changes as a test says.
type toldFeed struct {
	cluster.Watcher
	seq atomic.Int64
}

func (f *toldFeed) LastChange(...string) int64 { return f.seq.Load() }

// countedAuth counts look-ups of callers.
type countedAuth struct {
	access.AuthService
	one, many atomic.Int64
}

func (a *countedAuth) Authenticate(ctx context.Context, token string) (entity.Principal, error) {
	a.one.Add(1)
	return a.AuthService.Authenticate(ctx, token)
}

func (a *countedAuth) AuthenticateAll(ctx context.Context, tokens []string) (map[string]entity.Principal, error) {
	a.many.Add(1)
	return a.AuthService.AuthenticateAll(ctx, tokens)
}

func TestSessionsWithStreamsAreJudgedTogether(t *testing.T) {
	e := liveEdge(t)
	auth := &countedAuth{AuthService: e.parts.Auth}
	e.rebuild(func(d *api.Deps) { d.Auth = auth })
	url := e.served()
	var tokens []string
	for range 15 {
		token := e.signIn("viewer")
		tokens = append(tokens, token)
		e.listen(url, token, "nodes")
	}
	auth.one.Store(0)
	for range 10 {
		for _, token := range tokens {
			e.call("GET", "/api/v1/jobs", "", as(token)...).want(200)
		}
	}
	require.LessOrEqual(t, auth.one.Load(), int64(2))
	require.LessOrEqual(t, auth.many.Load(), int64(3))
	// A change by this node counts at once.
	e.call("POST", "/api/v1/auth/logout", "", as(tokens[3])...).want(204)
	e.call("GET", "/api/v1/jobs", "", as(tokens[3])...).want(401)
	e.call("GET", "/api/v1/jobs", "", as(tokens[4])...).want(200)
}
