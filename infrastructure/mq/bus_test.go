package mq_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq"
)

func TestEverySubscriberSeesEveryEventInOrder(t *testing.T) {
	bus := mq.NewBus()
	var first, second []string
	collect := func(into *[]string) mq.Subscriber {
		return func(_ context.Context, events []entity.Event) error {
			for _, e := range events {
				*into = append(*into, e.ID)
			}
			return nil
		}
	}
	bus.Subscribe(collect(&first))
	bus.Subscribe(collect(&second))
	require.NoError(t, bus.Publish(t.Context(), []entity.Event{{ID: "1"}, {ID: "2"}}))
	require.Equal(t, []string{"1", "2"}, first)
	require.Equal(t, first, second)
}

func TestAFailingSubscriberKeepsTheEventsInTheOutbox(t *testing.T) {
	bus := mq.NewBus()
	broken := errors.New("no room")
	bus.Subscribe(func(context.Context, []entity.Event) error { return broken })
	seen := 0
	bus.Subscribe(func(context.Context, []entity.Event) error { seen++; return nil })
	require.ErrorIs(t, bus.Publish(t.Context(), []entity.Event{{ID: "1"}}), broken)
	require.Equal(t, 1, seen)
}
