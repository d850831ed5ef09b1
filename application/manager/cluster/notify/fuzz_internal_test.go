package notify

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// bounded is a listener that requires bounded lists of ids.
type bounded struct{ t *testing.T }

func (b bounded) ids(ids []string) error {
	require.NotEmpty(b.t, ids)
	require.LessOrEqual(b.t, len(ids), maxIDs)
	return nil
}

func (b bounded) RunsReady(entity.SlotKind)                         {}
func (b bounded) JobsChanged(_ context.Context, ids []string) error { return b.ids(ids) }
func (b bounded) StopAsked(_ context.Context, ids []string) error   { return b.ids(ids) }
func (b bounded) WorkersWanted(groups []string)                     { require.NoError(b.t, b.ids(groups)) }
func (b bounded) EventsAdded()                                      {}
func (b bounded) MessagesPlanned()                                  {}
func (b bounded) MembersChanged(context.Context) error              { return nil }
func (b bounded) NotificationsMissed(context.Context) error         { return nil }

// FuzzMessage: what comes from the network is dropped, or acted on within bounds.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"from":"b","jobs":["a"],"stop":["x"],"ready":true,"nodes":["a"],"commands":["a"],"workers":["g"],"members":true}`))
	f.Add([]byte(`{"from":"b","events":true}`))
	f.Add([]byte(`{"from":"a","jobs":["a"]}`))
	f.Add([]byte(`{"from":1,"jobs":{}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n := New("a", nil, clock.NewSystem(), slog.New(slog.DiscardHandler))
		n.take(t.Context(), bounded{t}, body)
	})
}
