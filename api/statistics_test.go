package api_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	sums "github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

const statisticsPath = "/api/v1/monitor/statistics"

// ended adds up so many ends of a job; every fifth failed, and every fifth was on a worker.
func ended(t *testing.T, e *edge, job *entity.Job, n int) {
	t.Helper()
	at := e.Clock.Now()
	var ends []*entity.Execution
	for i := range n {
		x := &entity.Execution{
			JobID: job.ID, Status: entity.StatusSuccess, Trigger: entity.TriggerSchedule, ShardTotal: 1, NodeID: "node-9",
			Attempt: 1, DueTime: at.Add(-3 * time.Second), StartTime: at.Add(-2 * time.Second), EndTime: at,
			Duration: 2 * time.Second,
		}
		if i%5 == 4 {
			x.Status = entity.StatusFailed
		}
		if i%5 == 0 {
			x.NodeID = worker.ID("shop", fmt.Sprint(i))
		}
		ends = append(ends, x)
	}
	digests, _ := sums.Encode(ends, at)
	e.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Statistics.AddDigests(ctx, at, digests) })
}

func foldOf(e *edge) *monitoring.Fold {
	return monitoring.NewFold(monitoring.FoldDeps{
		Store: e.Store, Digests: e.Store.Statistics, Clock: e.Clock, StoreClock: e.Time, Zone: time.UTC,
		Logger: slog.New(slog.DiscardHandler),
	})
}

type figures struct {
	Start                           string
	Runs, Success, Failed, LateRuns int
	SuccessRate                     *float64
	Duration, Lateness              struct{ Count, P50Ms, P99Ms int }
	Usual                           *usualBody
}

type usualBody struct {
	UsualMs, LowMs, HighMs, LimitMs, Runs int
}

type statisticsBody struct {
	AsOf, From, To, TimeZone string
	Usual                    *usualBody
	Rounded                  bool
	Total                    figures
	Items                    []figures
	Top                      []struct {
		JobID, Name, Group string
		Runs, Failures     int
	}
}

func TestStatisticsAreShown(t *testing.T) {
	e := newEdge(t)
	a := e.Add(t, enginetest.Job("a", func(j *entity.Job) { j.Group = "a" }))
	b := e.Add(t, enginetest.Job("b", func(j *entity.Job) { j.Group = "b" }))
	ended(t, e, a, 10)
	ended(t, e, b, 5)
	_, err := foldOf(e).RunOnce(t.Context())
	require.NoError(t, err)
	ask := func(query string) (s statisticsBody) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(e.call("GET", statisticsPath+query, "").want(200).body), &s))
		return s
	}
	all := ask("?by=DAY&timeZone=Asia/Kolkata&top=5&topBy=runs")
	require.Equal(t, []int{15, 12, 3}, []int{all.Total.Runs, all.Total.Success, all.Total.Failed})
	require.InDelta(t, 0.8, *all.Total.SuccessRate, 1e-9)
	require.InEpsilon(t, 2000, all.Total.Duration.P50Ms, 0.045)
	require.InEpsilon(t, 1000, all.Total.Lateness.P99Ms, 0.045)
	require.True(t, all.Rounded)
	require.Len(t, all.Items, 1)
	require.Equal(t, 15, all.Items[0].Runs)
	require.Len(t, all.Top, 2)
	require.Equal(t, []string{a.ID, "a", "a"}, []string{all.Top[0].JobID, all.Top[0].Name, all.Top[0].Group})
	require.Equal(t, 5, ask("?job="+b.ID).Total.Runs)
	require.Equal(t, 10, ask("?group=a&by=HOUR").Total.Runs)
	require.Equal(t, 12, ask("?node=node-9").Total.Runs)
	require.Equal(t, 3, ask("?workers=shop").Total.Runs)
	require.Zero(t, ask("?workers=node-9").Total.Runs)
	require.Zero(t, ask("?group=none").Total.Runs)
	last := ask("?to=9999-12-31T23:59:59Z")
	require.Equal(t, []string{"9999-12-30T23:00:00.000Z", "9999-12-31T23:00:00.000Z"}, []string{last.From, last.To},
		"to is rounded up, and RFC 3339 has no year 10000")
	require.Zero(t, ask("?to="+e.Clock.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339)).Total.Runs)

	// The field asOf tells what has not been added up yet.
	at := e.Clock.Now()
	ended(t, e, a, 1)
	e.Clock.Advance(time.Minute)
	late := ask("")
	require.Equal(t, 15, late.Total.Runs)
	seen, err := time.Parse(time.RFC3339, late.AsOf)
	require.NoError(t, err)
	require.WithinDuration(t, at, seen, time.Millisecond)

	// So is that ends may lack a digest, and since when.
	since := at.Add(-time.Hour)
	require.NoError(t, e.Store.Write(t.Context(), repository.LaneAPI, "test",
		func(ctx context.Context, tx repository.Tx) error {
			return tx.Statistics.SaveFold(ctx, repository.Fold{LackingSince: since})
		}))
	seen, err = time.Parse(time.RFC3339, ask("").AsOf)
	require.NoError(t, err)
	require.WithinDuration(t, since, seen, time.Millisecond)
}

// The usual figures are told of a job, and of its hours; of days and of groups there are none.
func TestStatisticsTellWhatIsUsualForAJob(t *testing.T) {
	e := newEdge(t)
	known := e.Add(t, enginetest.Job("known", nil))
	fresh := e.Add(t, enginetest.Job("fresh", nil))
	ended(t, e, known, 20)
	ended(t, e, fresh, 5)
	_, err := foldOf(e).RunOnce(t.Context())
	require.NoError(t, err)
	ask := func(query string) (s statisticsBody) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(e.call("GET", statisticsPath+query, "").want(200).body), &s))
		return s
	}
	hours := ask("?by=HOUR&job=" + known.ID)
	require.NotNil(t, hours.Usual)
	require.InEpsilon(t, 2000, hours.Usual.UsualMs, 0.01)
	require.LessOrEqual(t, hours.Usual.LowMs, hours.Usual.UsualMs)
	require.Greater(t, hours.Usual.LimitMs, hours.Usual.HighMs)
	require.Equal(t, 16, hours.Usual.Runs, "those that succeeded")
	require.Len(t, hours.Items, 1)
	require.Equal(t, hours.Usual, hours.Items[0].Usual)
	days := ask("?by=DAY&job=" + known.ID)
	require.Equal(t, hours.Usual, days.Usual)
	require.Nil(t, days.Items[0].Usual)
	require.Nil(t, ask("?job="+fresh.ID).Usual, "it has run too seldom")
	require.Nil(t, ask("").Usual)
}

func TestStatisticsAreWrittenAsCSV(t *testing.T) {
	e := newEdge(t)
	ended(t, e, e.Add(t, enginetest.Job("=HYPERLINK(1)", func(j *entity.Job) { j.Group = "a" })), 10)
	_, err := foldOf(e).RunOnce(t.Context())
	require.NoError(t, err)
	table := func(query string) [][]string {
		t.Helper()
		a := e.call("GET", statisticsPath+query, "").want(200)
		require.Equal(t, "text/csv; charset=utf-8", a.header.Get("Content-Type"))
		require.Contains(t, a.header.Get("Content-Disposition"), "attachment")
		require.Equal(t, a.header.Get("Content-Disposition"),
			e.call("GET", statisticsPath+query, "").want(200).header.Get("Content-Disposition"),
			"a kept answer is a download, too")
		require.Contains(t, a.header.Get("Content-Disposition"), "attachment")
		rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
		require.NoError(t, err)
		return rows
	}
	lines := table("?format=csv&by=HOUR")
	require.Len(t, lines, 2)
	require.Equal(t, []string{"start", "timeZone", "runs", "success", "failed"}, lines[0][:5])
	require.Equal(t, []string{"10", "8", "2"}, lines[1][2:5])
	require.Equal(t, "0.8", lines[1][8])
	require.Len(t, table("?format=csv"), 2, "the total")
	require.Equal(t, []string{"", "", "", ""}, table("?format=csv&group=none")[1][12:16], "nothing ran: no quantiles")
	jobs := table("?format=csv&by=HOUR&top=5")
	require.Len(t, jobs, 2)
	require.Equal(t, []string{"'=HYPERLINK(1)", "a", "10", "8", "2"}, jobs[1][1:6], "no spreadsheet runs it")
	e.call("GET", statisticsPath+"?format=xml", "").wantField(422, "format", "unknown_value")
}

func TestStatisticsRefuseWhatTheyCannotTell(t *testing.T) {
	e := newEdge(t)
	old := e.Clock.Now().AddDate(0, 0, -9).UTC().Format(time.RFC3339)
	for query, field := range map[string]string{
		"?by=WEEK": "by", "?top=101": "top", "?topBy=size": "topBy", "?timeZone=Mars/Base": "timeZone",
		"?timeZone=Local": "timeZone", "?from=noon": "from", "?group=a&node=b": "node",
		"?group=a&workers=b": "workers", "?workers=Shop": "workers", "?node=@shop.0123456789abc": "node",
		"?workers=shop&top=1":                                "top",
		"?from=2026-11-20T12:00:00Z&to=2026-11-20T11:00:00Z": "to", "?from=2020-01-01T00:00:00Z": "from",
		"?by=HOUR&from=" + old: "from", "?node=n&top=1": "top", "?size=1": "size",
	} {
		e.call("GET", statisticsPath+query, "").wantField(422, field, "")
	}
	e.call("GET", statisticsPath+"?job=0193aaaa-0000-7000-8000-000000000001", "").want(404)
	e.call("GET", statisticsPath+"?job=%27%20OR%201", "").want(404)
	e.rebuild(func(d *api.Deps) { d.Statistics = silentStatistics{} })
	e.call("GET", statisticsPath, "").want(503)
}

// silentStatistics are those of a store that does not answer.
type silentStatistics struct{}

func (silentStatistics) Statistics(context.Context, statistics.Query) (statistics.Statistics, error) {
	return statistics.Statistics{}, apperror.Unavailable(errors.New("down"))
}

func (silentStatistics) Today(context.Context, statistics.Query) (statistics.Today, error) {
	return statistics.Today{}, apperror.Unavailable(errors.New("down"))
}

// A caller who sees some groups gets their figures alone.
func TestStatisticsShowOnlyVisibleGroups(t *testing.T) {
	e := newEdge(t)
	jobs := map[string]*entity.Job{}
	for i, group := range []string{"a", "b", "c"} {
		jobs[group] = e.Add(t, enginetest.Job(fmt.Sprint("job-", group), func(j *entity.Job) { j.Group = group }))
		ended(t, e, jobs[group], 5*(i+1))
	}
	_, err := foldOf(e).RunOnce(t.Context())
	require.NoError(t, err)
	service := &statistics.StatisticsService{
		Sums: e.Store.Statistics, Baselines: e.Store.Statistics, Jobs: e.Store.Jobs, Clock: e.Time, Zone: time.UTC,
	}
	ask := func(q statistics.Query) statistics.Statistics {
		q.Groups = []string{"a", "b"}
		s, err := service.Statistics(t.Context(), q)
		require.NoError(t, err)
		return s
	}
	all := ask(statistics.Query{Top: 10})
	require.EqualValues(t, 15, all.Total.Runs)
	require.Len(t, all.Top, 2)
	require.Equal(t, []string{"b", "a"}, []string{all.Top[0].Group, all.Top[1].Group})
	require.Zero(t, ask(statistics.Query{Group: "c", Top: 10}).Total.Runs)
	require.Empty(t, ask(statistics.Query{Group: "c", Top: 10}).Top)
	_, err = service.Statistics(t.Context(), statistics.Query{Job: jobs["c"].ID, Groups: []string{"a", "b"}})
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// A token that is bound to groups gets the figures of these over HTTP, and of no node.
func TestATokenOfAGroupSeesItsFigures(t *testing.T) {
	e, jobs := estate(t)
	for i, group := range []string{"mine", "shown", "theirs"} {
		ended(t, e, &entity.Job{ID: jobs[group]}, 5*(i+1))
	}
	_, err := foldOf(e).RunOnce(t.Context())
	require.NoError(t, err)
	ask := func(query string, headers ...string) (s statisticsBody) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(e.call("GET", statisticsPath+query, "", headers...).want(200).body), &s))
		return s
	}
	bound := as(boundToken)
	all := ask("?top=10&topBy=runs", bound...)
	require.Equal(t, 15, all.Total.Runs, "its groups are the whole that it sees")
	require.Len(t, all.Top, 2)
	require.Equal(t, []string{"shown", "mine"}, []string{all.Top[0].Group, all.Top[1].Group})
	require.Equal(t, 30, ask("").Total.Runs, "who is bound to nothing sees all")
	require.Equal(t, 5, ask("?job="+jobs["mine"], bound...).Total.Runs)
	require.Equal(t, 10, ask("?group=shown&by=DAY", bound...).Items[0].Runs)

	theirs := ask("?group=theirs&by=DAY&top=10", bound...)
	require.Zero(t, theirs.Total.Runs)
	require.Empty(t, theirs.Items)
	require.Empty(t, theirs.Top)
	none := ask("?group=none&by=DAY&top=10", bound...)
	require.Equal(t, none, theirs, "a group that one may not see does not exist")
	e.call("GET", statisticsPath+"?job="+jobs["theirs"], "", bound...).wantCode(404, "not_found")
	e.call("GET", statisticsPath+"?node=node-9", "", bound...).wantCode(403, "forbidden")
	e.call("GET", statisticsPath+"?workers=shop", "", bound...).wantCode(403, "forbidden")
	require.Equal(t, 24, ask("?node=node-9").Total.Runs)
}

// All mistakes are said at once.
func TestStatisticsNameAllFaultsAtOnce(t *testing.T) {
	e := newEdge(t)
	_, wrong := e.call("GET", statisticsPath+"?node=n&top=1&from=2020-01-01T00:00:00Z", "").want(422).problem()
	require.Equal(t, map[string]string{"from": "out_of_range", "top": "conflict"}, wrong)
	_, wrong = e.call("GET", statisticsPath+"?by=WEEK&top=x&timeZone=Mars/Base&size=1", "").want(422).problem()
	require.Len(t, wrong, 4)
}
