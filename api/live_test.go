package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const within = 30 * time.Second

// feed is an open live stream.
type feed struct {
	t     *testing.T
	lines chan string
	close context.CancelFunc
}

// served serves the edge over HTTP.
func (e *edge) served() string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.router.ServeHTTP(w, r) }))
	e.t.Cleanup(s.Close)
	return s.URL
}

// listen opens a live stream and waits until it has begun.
func (e *edge) listen(url, token, topics string) *feed {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	e.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/live?topics="+topics, nil)
	require.NoError(e.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(e.t, err)
	require.Equal(e.t, 200, resp.StatusCode)
	require.Equal(e.t, "text/event-stream", resp.Header.Get("Content-Type"))
	f := &feed{t: e.t, lines: make(chan string, 1000), close: cancel}
	go func() {
		defer close(f.lines)
		defer func() { _ = resp.Body.Close() }()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	require.Equal(e.t, ": live", f.next())
	return f
}

// next is the next line that is not empty; "" at the end of the stream.
func (f *feed) next() string {
	f.t.Helper()
	for {
		select {
		case line, open := <-f.lines:
			if line != "" || !open {
				return line
			}
		case <-time.After(within):
			f.t.Fatal("the stream is silent")
		}
	}
}

// until reads events until one names a topic, and returns all topics that were named.
func (f *feed) until(topic string) string {
	f.t.Helper()
	var all strings.Builder
	for began := time.Now(); !strings.Contains(all.String(), `"`+topic+`"`); {
		line := f.next()
		require.Less(f.t, time.Since(began), within, "%s is not named", topic) // comments keep the stream from silence
		require.NotEmpty(f.t, line, "the stream ended")
		if data, is := strings.CutPrefix(line, "data: "); is {
			require.Regexp(f.t, `^\{"topics":\[("[A-Za-z0-9:-]+",?)+\],"seq":[1-9][0-9]*\}$`, data)
			all.WriteString(data)
		} else {
			require.Contains(f.t, []string{"event: changed", ": keep-alive"}, line)
		}
	}
	return all.String()
}

// liveEdge is an edge whose time passes by itself.
func liveEdge(t *testing.T) *edge {
	t.Helper()
	e := newEdge(t)
	e.rebuild(func(d *api.Deps) { d.Clock = clock.NewSystem(); d.Live = e.Feed(clock.NewSystem()) })
	return e
}

func TestLiveStreamsTellWhatHasChanged(t *testing.T) {
	e := liveEdge(t)
	url := e.served()
	job := e.create(encode(t, minimal()))["id"].(string)
	all := e.listen(url, adminToken, "jobs,executions,nodes,alerts,job:"+job)
	all.until("job:" + job)
	id := e.call("POST", "/api/v1/jobs/"+job+"/trigger", "{}").want(202).json()["executionIds"].([]any)[0].(string)
	all.until("executions")
	one := e.listen(url, adminToken, "execution:"+id)
	e.call("POST", "/api/v1/executions/"+id+"/cancel", "").want(202)
	require.NotContains(t, one.until("execution:"+id), `"executions"`)
}

func TestLiveStreamsTellOfApprovals(t *testing.T) {
	e := liveEdge(t)
	url := e.served()
	stream := e.listen(url, viewerToken, "approvals")
	id := e.asks("default", func(b *wf.Ballot) { b.Need = 2 })
	stream.until("approvals")
	e.call("POST", "/api/v1/approvals/"+id, `{"decision":"APPROVE"}`).want(200)
	stream.until("approvals")
	e.call("POST", "/api/v1/approvals/"+id, `{"decision":"REJECT"}`, as(operatorToken)...).want(200)
	stream.until("approvals")
}

// The ids of steps begin with the time of their run, so that nothing but the run tells of them.
func TestALiveStreamTellsOfWorkflowRuns(t *testing.T) {
	e := liveEdge(t)
	e.Start(t)
	release := make(chan struct{})
	e.Script.Reply(func(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		ends := release
		if run.Job.Group != "mine" {
			ends = nil
		}
		select {
		case <-ends:
			return entity.Succeeded("done")
		case <-ctx.Done():
			return entity.Outcome{Status: entity.StatusCancelled}
		}
	})
	url := e.served()
	_, mine := e.flow("mine", "mine", `{"steps":[`+step("a", "")+`]}`)
	_, other := e.flow("other", "other", `{"steps":[`+step("a", "")+`]}`)
	topic, foreign := "workflow-run:"+mine, "workflow-run:"+other
	f := e.listen(url, adminToken, topic+","+foreign+",workflow-run:none")
	bound := e.listen(url, boundToken, topic)
	require.Contains(t, f.until(topic), foreign, "the first look knows of no former one")
	bound.until(topic)
	e.call("POST", flowRuns+"/"+other+"/pause", "").want(202)
	require.NotContains(t, f.until(foreign), topic, "a run that does not change is named once")
	close(release)
	e.stateOf(mine, map[string]string{"a": "SUCCESS"})
	require.NotContains(t, f.until(topic), foreign)
	require.NotContains(t, bound.until(topic), foreign)

	for _, id := range []string{other, "none"} {
		e.call("GET", "/api/v1/live?topics=workflow-run:"+id, "", as(boundToken)...).wantField(422, "topics", "unknown_object")
	}
	e.call("GET", "/api/v1/live?topics="+topic, "", as(apiToken)...).wantCode(403, "forbidden")
}

func TestWhoIsBoundToGroupsHearsOfTheirObjectsAlone(t *testing.T) {
	e := liveEdge(t)
	url := e.served()
	mine := e.create(encode(t, minimal().with(fields{"name": "mine", "group": "mine"})))["id"].(string)
	other := e.create(encode(t, minimal().with(fields{"name": "other", "group": "other"})))["id"].(string)
	bound := e.listen(url, boundToken, "jobs,executions,job:"+mine)
	bound.until("job:" + mine)
	drained := func() (topics string) {
		for {
			select {
			case line, open := <-bound.lines:
				require.True(t, open, "the stream ended")
				topics += line
			case <-time.After(3 * time.Second):
				return topics
			}
		}
	}
	drained()
	e.call("POST", "/api/v1/jobs/"+other+"/trigger", "{}").want(202)
	e.call("POST", "/api/v1/jobs/"+other+"/pause", "").want(200)
	require.NotContains(t, drained(), "changed")
	e.call("POST", "/api/v1/jobs/"+mine+"/trigger", "{}").want(202)
	bound.until("executions")

	e.call("GET", "/api/v1/live?topics=job:"+other, "", as(boundToken)...).wantField(422, "topics", "unknown_object")
	e.call("GET", "/api/v1/live?topics=job:none", "", as(boundToken)...).wantField(422, "topics", "unknown_object")
}

func TestBadTopicsAreRefused(t *testing.T) {
	e := newEdge(t)
	for query, code := range map[string]string{
		"": "required", "topics=": "required", "topics=jobs&topics=nodes": "repeated", "topics=x": "unknown_topic",
		"topics=jobs,": "unknown_topic", "topics=job:": "unknown_topic", "topics=job:a%20b": "unknown_topic",
		"topics=jobs:1": "unknown_topic", "topics=many": "unknown_topic", "topics=execution:../x": "unknown_topic",
		"topics=%00": "unknown_topic", "topics=workflow-run:": "unknown_topic", "topics=workflow-run": "unknown_topic",
		"topics=JOBS": "unknown_topic", "topics=user:1": "unknown_topic",
		"topics=" + strings.Repeat("x", 4097): "too_long",
		"topics=" + topicsOf(51):              "too_many",
	} {
		e.call("GET", "/api/v1/live?"+query, "").wantField(422, "topics", code)
	}
	e.call("GET", "/api/v1/live?topics=jobs&cursor=1", "").wantField(422, "cursor", "")
	e.call("GET", "/api/v1/live?topics=jobs", "", "Authorization", "").wantCode(401, "no_token")
	e.call("GET", "/api/v1/live?topics=executions", "", as(apiToken)...).wantCode(403, "forbidden")
	e.call("GET", "/api/v1/live?topics=alerts", "", as(apiToken)...).wantCode(403, "forbidden")
}

func topicsOf(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("job:" + strings.Repeat("a", i%40+1) + string(rune('a'+i/40)) + ",")
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestAUserHasSoManyLiveStreams(t *testing.T) {
	e := liveEdge(t)
	url := e.served()
	for range 20 {
		e.listen(url, viewerToken, "nodes")
	}
	a := e.call("GET", "/api/v1/live?topics=nodes", "", as(viewerToken)...)
	a.wantCode(429, "too_many_streams")
	require.Equal(t, "5", a.header.Get("Retry-After"))
	e.listen(url, adminToken, "nodes").close()
}

// A session that ends takes its streams with it, and what they let in.
func TestALiveStreamEndsWithItsSession(t *testing.T) {
	e := liveEdge(t)
	url := e.served()
	token := e.signIn("viewer")
	f := e.listen(url, token, "nodes")
	e.call("GET", "/api/v1/jobs", "", as(token)...).want(200)
	e.call("POST", "/api/v1/auth/logout", "", as(token)...).want(204)
	e.call("GET", "/api/v1/jobs", "", as(token)...).want(401)
	for line := f.next(); line != ""; line = f.next() {
		require.NotContains(t, line, "data")
	}
}

// Nobody knows the changes while the store was away: the first event afterwards says so.
func TestAfterAnOutageManyHasChanged(t *testing.T) {
	e := liveEdge(t)
	lost := &lostChanges{Changes: e.Store.Statistics, away: make(chan bool, 1), asked: make(chan struct{}, 100)}
	lost.away <- true
	e.rebuild(func(d *api.Deps) { d.Live = e.FeedOf(clock.NewSystem(), lost) })
	f := e.listen(e.served(), adminToken, "nodes")
	<-lost.asked
	<-lost.away
	lost.away <- false
	f.until("many")
}

// More than a thousand ids in a second are not told one by one.
func TestOfTooManyChangesOneWordIsTold(t *testing.T) {
	e := liveEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	f := e.listen(e.served(), adminToken, "job:"+job)
	now := e.Clock.Now()
	runs := make([]*entity.Execution, 1001)
	for i := range runs {
		runs[i] = &entity.Execution{
			ID: identity.RandomID(now), JobID: job, FireKey: fmt.Sprint("fire-", i), Status: entity.StatusSuccess,
			Trigger: entity.TriggerManual, ShardTotal: 1, JobVersion: 1, CreateTime: now, UpdateTime: now,
		}
	}
	require.NoError(t, e.Store.Write(t.Context(), repository.LaneAPI, "test",
		func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, runs) }))
	f.until("many")
}

// The watchers of another node hear of a node's change: it reads the store.
func TestAChangeReachesThoseWhoWatchAnotherNode(t *testing.T) {
	e := liveEdge(t)
	other := *e
	other.rebuild(func(d *api.Deps) { d.Live = e.FeedOf(clock.NewSystem(), e.Store.Statistics) })
	f := other.listen(other.served(), adminToken, "jobs,executions")
	began := time.Now()
	job := e.create(encode(t, minimal()))["id"].(string)
	e.call("POST", "/api/v1/jobs/"+job+"/trigger", "{}").want(202)
	f.until("executions")
	t.Logf("after %s", time.Since(began))
}

// lostChanges is a store that may be away.
type lostChanges struct {
	repository.Changes
	away  chan bool
	asked chan struct{}
}

func (l *lostChanges) ExecutionsAfter(ctx context.Context, id string, n int) ([]repository.ExecutionState, error) {
	away := <-l.away
	l.away <- away
	if !away {
		return l.Changes.ExecutionsAfter(ctx, id, n)
	}
	select {
	case l.asked <- struct{}{}:
	default:
	}
	return nil, apperror.Unavailable(errors.New("away"))
}
