package answer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// loop is one that is asked for itself.
type loop struct {
	// happen makes the n-th thing happen that the loop has to do something about.
	happen func(n int)
	turn   func(ctx context.Context) error
	// left says what of all that has happened is not done as it should be; empty is nothing.
	left func() string
}

// loops are those that need a past of their own.
func loops() map[string]func(t *testing.T, r *rig) loop {
	return map[string]func(t *testing.T, r *rig) loop{
		"levels": levelsOf, "deadlines": deadlinesOf, "relay": relayOf, "backfills": backfillsOf, "workflows": workflowsOf,
		"accepted calls": acceptedOf, "actions": actionsOf,
	}
}

// rest lets the loop and the node go on until nothing is left, and says what is.
func (l loop) rest(t *testing.T, r *rig) (left string) {
	t.Helper()
	for range 60 {
		_ = l.turn(t.Context())
		r.turn(t, 700*time.Millisecond)
		if left = l.left(); left == "" {
			return ""
		}
	}
	return left
}

// The store gives an unknown answer to each statement and commit of a loop in its turn, and then to all of them for a
// while. Each thing that has happened is still done, and once.
func TestAnAnswerOfTheStoreLosesNothingOfAnyLoop(t *testing.T) {
	ask := func(t *testing.T, mysql bool, of func(t *testing.T, r *rig) loop, places []string,
		answered func(n int) error,
	) {
		r := newRigOf(t, mysql, enginetest.Options{}, 0)
		l, n := of(t, r), 0
		happen := func() {
			l.happen(n)
			n++
		}
		for _, place := range places {
			given := 0
			for skip, met := 0, true; met; skip++ {
				happen()
				r.store.Set(&answer.Rule{Place: placeOf[place], Skip: skip, Times: 1, Err: answered(skip)})
				_ = l.turn(t.Context())
				met = r.store.Given() > 0
				given += r.store.Given()
				r.store.Set(nil)
				require.Empty(t, l.rest(t, r), "%s, number %d", place, skip)
				require.Less(t, skip, 100, "a turn has an end")
			}
			require.Positive(t, given, place)
			happen()
			r.store.Set(&answer.Rule{Place: placeOf[place], Err: answered(1)})
			for range 4 { // for 2 s
				_ = l.turn(t.Context())
				r.turn(t, 500*time.Millisecond)
			}
			r.store.Set(nil)
			require.Empty(t, l.rest(t, r), "%s, for a while", place)
		}
	}
	for name, of := range loops() {
		bubble(t, "sqlite/"+name, func(t *testing.T) {
			unknown := unknownToSQLite(t)
			ask(t, false, of, []string{statement, insteadOfCommit}, func(int) error { return unknown })
		})
		bubble(t, "mysql/"+name, func(t *testing.T) {
			dbtest.NeedMySQL(t)
			ask(t, true, of, []string{statement, insteadOfCommit, afterCommit}, func(n int) error {
				return answer.Numbers()[n%len(answer.Numbers())].Err()
			})
		})
	}
}

// first says in which order each of some came first.
func first(ids []string) (out []string) {
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// both joins the errors of one turn.
func both(_ int, refused, err error) error { return errors.Join(refused, err) }

// unlike names what is not as it should be, where it is not.
func unlike(what string, want, got any) string {
	if fmt.Sprint(want) == fmt.Sprint(got) {
		return ""
	}
	return fmt.Sprintf("%s: %v, and not %v", what, got, want)
}
