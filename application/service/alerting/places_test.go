package alerting_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

// gate makes each call that passes it wait until it is opened.
type gate struct{ came, opened chan struct{} }

func newGate() gate { return gate{make(chan struct{}, 8), make(chan struct{})} }

func (g gate) pass(ctx context.Context) error {
	g.came <- struct{}{}
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gatedRuns are runs that are read behind a gate.
type gatedRuns struct {
	dryrun.Runs
	gate
}

func (g gatedRuns) List(ctx context.Context, f repository.ExecutionFilter, p repository.Page) (
	[]*entity.Execution, string, error,
) {
	if err := g.pass(ctx); err != nil {
		return nil, "", err
	}
	return g.Runs.List(ctx, f, p)
}

// gatedRenderer fills templates behind a gate.
type gatedRenderer struct {
	alerting.Renderer
	gate
}

func (g gatedRenderer) Render(ctx context.Context, t alert.ChannelType, language string, content alert.Content,
	m alert.Message,
) (alert.Content, error) {
	if err := g.pass(ctx); err != nil {
		return alert.Content{}, err
	}
	return g.Renderer.Render(ctx, t, language, content, m)
}

// onePlaceOfTwo asks that a user has one of the two places that a node has for a kind of call.
func onePlaceOfTwo(t *testing.T, g gate, kind string, refusals *int,
	call func(ctx context.Context, user string) error,
) {
	t.Helper()
	ended := make(chan error, 3)
	begin := func(user string) {
		go func() { ended <- call(t.Context(), user) }()
		select {
		case <-g.came:
		case err := <-ended:
			require.Fail(t, "there is no place", "%s of %s: %v", kind, user, err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave() // a call that is let in ends at once
	refused := func(user, why string) {
		err := call(gone, user)
		require.True(t, apperror.Is(err, apperror.KindTooMany), "%s of %s: %v", kind, user, err)
		require.ErrorContains(t, err, why)
	}
	begin("ann")
	refused("ann", "you have 1 "+kind+" under way")
	begin("bob")
	refused("cat", "this node does 2 "+kind+" already")
	require.Equal(t, 2, *refusals)
	close(g.opened)
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	require.NoError(t, call(t.Context(), "ann"), "there is room again")
}

// A dry run reads much: a user does one at once, and a node two.
func TestAUserHasOneDryRunAndANodeTwo(t *testing.T) {
	n, g, refusals := enginetest.New(t, enginetest.Options{}), newGate(), 0
	dryRuns := alerting.NewDryRunService(dryrun.New(dryrun.Deps{
		Runs: gatedRuns{n.Store.Executions, g}, Jobs: n.Store, Metrics: n.Store, Expressions: expression.Language{},
		Clock: n.Time, Zone: time.UTC, Grace: time.Minute,
	}), func() { refusals++ })
	rule := &alert.Rule{Head: alert.Head{Name: "dry"}, Type: alert.JobFailed, Level: alert.Warning}
	to := n.Time.Now()
	onePlaceOfTwo(t, g, "dry runs", &refusals, func(ctx context.Context, user string) error {
		_, err := dryRuns.DryRun(ctx, user, rule, to.Add(-time.Hour), to)
		return err
	})
}

// The same of previews of templates.
func TestAUserHasOnePreviewAndANodeTwo(t *testing.T) {
	n, g, refusals := enginetest.New(t, enginetest.Options{}), newGate(), 0
	renderer, err := template.New(n.Clock, time.UTC, notify.DialectOf)
	require.NoError(t, err)
	previews := alerting.NewPreviews(gatedRenderer{renderer, g}, notify.Types(), n.Clock, func() { refusals++ })
	text := &alert.Template{Head: alert.Head{Name: "short"}, Text: map[string]string{"en": "{{len .Alerts}} alerts"}}
	onePlaceOfTwo(t, g, "previews", &refusals, func(ctx context.Context, user string) error {
		_, err := previews.Preview(ctx, user, text, "SLACK", "en")
		return err
	})
}
