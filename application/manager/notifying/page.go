package notifying

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

const (
	// pageWait is the time between two messages of which the second names what the first had no room for:
	// robots of chats take 20 a minute.
	pageWait = 3 * time.Second
	// maxPaged bounds the alerts that the next message is made of.
	maxPaged = 500
)

// namedBy are the alerts of a message that it named; a message that was not sent has named none.
func namedBy(m alert.Message, r alert.SendResult) (named []string) {
	if r.Result != alert.ResultSent {
		return nil
	}
	for _, a := range m.Alerts {
		if slices.Contains(r.Listed, a.ID) {
			named = append(named, a.ID)
		}
	}
	return named
}

// pageOn plans another message about the CRITICAL alerts of no job that one had no room for: what is
// wrong with a node, the store or the scheduler must not drown in the failures that it causes. It ends,
// because each message names at least one of them.
func pageOn(ctx context.Context, tx repository.Tx, sent alert.Notification) error {
	left, err := tx.Alerts.UnnamedCritical(ctx, sent.ID, maxPaged)
	if err != nil || len(left) == 0 {
		return err
	}
	last, found, err := tx.Alerts.LastNotification(ctx, sent.GroupKey, sent.ChannelID)
	if err != nil || !found {
		return err
	}
	if last.State == alert.NotificationOpen && last.Attempts == 0 {
		if free, err := tx.Alerts.JoinNotification(ctx, last.ID, left); err != nil || free {
			return err
		}
	}
	next := alert.Notification{
		GroupKey: sent.GroupKey, ChannelID: sent.ChannelID, Number: last.Number + 1, State: alert.NotificationOpen,
		RouteID: sent.RouteID, TemplateID: sent.TemplateID, To: sent.To, NextTry: sent.UpdateTime.Add(pageWait),
		CreateTime: sent.UpdateTime, UpdateTime: sent.UpdateTime,
	}
	next.ID = policy.NotificationID(next.GroupKey, next.ChannelID, next.Number)
	if err := tx.Alerts.AddNotifications(ctx, []*alert.Notification{&next}); err != nil {
		return err
	}
	free, err := tx.Alerts.JoinNotification(ctx, next.ID, left)
	if err == nil && !free {
		err = episode.ErrOvertaken
	}
	return err
}
