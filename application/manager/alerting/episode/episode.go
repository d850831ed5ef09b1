// Package episode writes what evidence does to alerts.
package episode

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// ErrOvertaken ends a transaction in which somebody else has changed an alert.
var ErrOvertaken = errors.New("somebody else has changed an alert")

// MaxTries is how often a turn goes again after somebody else was first.
const MaxTries = 3

const (
	// maxHeld bounds the alerts that one turn looks at.
	maxHeld = 20_000
	// heldPage is how many of them one statement reads.
	heldPage = 500
)

// Window is behind which fingerprint the next look at held alerts begins, where these are too
// many for one; nil is the first one. It is no state of a rule: who begins anew meets all of
// them again.
type Window = atomic.Pointer[string]

// Held reads the alerts that hold their fingerprints. Where they are more than a turn looks
// at, these are all that are about levels, and of the others each turn takes the next ones.
func Held(ctx context.Context, reader repository.Alerts, at *Window) ([]*alert.Alert, error) {
	from := ""
	if last := at.Load(); last != nil {
		from = *last
	}
	out, next, err := pages(ctx, reader.HeldAlerts, from)
	if err != nil {
		return nil, err
	}
	at.Store(&next)
	if from == "" && next == "" {
		return out, nil
	}
	levels, _, err := pages(ctx, reader.HeldLevels, "")
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(out))
	for _, a := range out {
		known[a.ID] = true
	}
	for _, a := range levels {
		if !known[a.ID] {
			out = append(out, a)
		}
	}
	return out, nil
}

// pages reads at most maxHeld alerts behind a fingerprint. Next is the last one of them where
// there may be more, else empty.
func pages(ctx context.Context, read func(ctx context.Context, after string, limit int) ([]*alert.Alert, error),
	after string,
) (out []*alert.Alert, next string, err error) {
	for len(out) < maxHeld {
		page, err := read(ctx, after, heldPage)
		if err != nil {
			return nil, "", fmt.Errorf("read open alerts: %w", err)
		}
		out = append(out, page...)
		if len(page) < heldPage {
			return out, "", nil
		}
		after = page[len(page)-1].Fingerprint
	}
	return out, after, nil
}

// Apply writes one change. It is false where somebody else was first.
func Apply(ctx context.Context, tx repository.Tx, c alerting.Change) (bool, error) {
	if !c.Opens {
		return tx.Alerts.UpdateAlert(ctx, c.Alert, c.Former)
	}
	added, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{c.Alert})
	return len(added) == 1, err
}

// Raise writes what evidence of things that happened does, and returns how many alerts it has
// changed. An error means that the transaction must end without a commit.
func Raise(ctx context.Context, tx repository.Tx, signals []alerting.Signal, now time.Time) (int, error) {
	if len(signals) == 0 {
		return 0, nil
	}
	fingerprints := make([]string, len(signals))
	for i := range signals {
		fingerprints[i] = signals[i].Fingerprint()
	}
	stored, err := tx.Alerts.LatestEpisodes(ctx, fingerprints)
	if err != nil {
		return 0, err
	}
	latest := map[string]*alert.Alert{}
	for _, a := range stored {
		latest[a.Fingerprint] = a
	}
	pending := map[string]alerting.Change{}
	var order []string
	for i := range signals {
		c := alerting.Happened(latest[fingerprints[i]], &signals[i], now)
		if c.Alert == nil {
			continue
		}
		if before, again := pending[c.Alert.ID]; again {
			c.Opens, c.Former = before.Opens, before.Former
			c.Alert.Seq = before.Alert.Seq
		} else {
			order = append(order, c.Alert.ID)
		}
		pending[c.Alert.ID], latest[fingerprints[i]] = c, c.Alert
	}
	for _, id := range order {
		ok, err := Apply(ctx, tx, pending[id])
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, ErrOvertaken
		}
	}
	return len(order), nil
}
