package alerting_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// An expression is told of successes only where it may hold for one.
func TestWhichSuccessesExpressionsAskFor(t *testing.T) {
	for text, want := range map[string]bool{
		`durationMs > 60000`:                       true,
		`status == "FAILED" && durationMs > 60000`: false,
	} {
		d := newDesk(t)
		d.Rule(alert.Expression, func(r *alert.Rule) { r.Expression, r.Scope.Groups = text, []string{"pay"} })
		s := manager.NewSuccesses(d.Store, expression.Language{}, slog.New(slog.DiscardHandler))
		require.NoError(t, s.RunOnce(t.Context()))
		pay := enginetest.Job("settle", func(j *entity.Job) { j.Group = "pay" })
		require.Equal(t, want, s.Asked(pay), text)
		require.False(t, s.Asked(enginetest.Job("other", nil)))
	}
}
