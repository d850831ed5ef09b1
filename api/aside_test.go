package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

type asides struct {
	repository.Asides
	rows []entity.SetAside
}

func (a asides) ListAsides(_ context.Context, _ entity.AsideKind, limit int) ([]entity.SetAside, error) {
	return a.rows[:min(limit, len(a.rows))], nil
}

func (a asides) CountAsides(context.Context) (map[entity.AsideKind]int, error) {
	return map[entity.AsideKind]int{entity.AsideEvent: len(a.rows)}, nil
}

// A user who manages users sees the rows that were set aside, and nobody else does.
func TestWhatWasSetAsideIsShown(t *testing.T) {
	const path = "/api/v1/monitor/set-aside"
	e := newEdge(t)
	row := entity.SetAside{
		Kind: entity.AsideEvent, ID: "e1", Job: "j1", Rule: "r1", State: entity.AsideMissing, Reason: "too long",
		Time: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
	}
	e.rebuild(func(d *api.Deps) { d.Asides = asides{rows: []entity.SetAside{row, row}} })
	require.JSONEq(t, `{"counts":{"EVENT":2,"LEVEL":0,"DEADLINE":0,"PLAN":0,"DIGEST":0},"items":[{"kind":"EVENT",
		"id":"e1","jobId":"j1","ruleId":"r1","state":"MISSING","reason":"too long","time":"2026-11-23T12:00:00.000Z"}]}`,
		e.call("GET", path+"?limit=1", "").want(200).body)
	for _, token := range []string{operatorToken, viewerToken, boundToken, keeperToken, apiToken} {
		e.call("GET", path, "", as(token)...).wantCode(403, "forbidden")
	}
}
