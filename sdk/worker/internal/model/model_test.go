// Package model_test drives both halves of the delivery to workers, and a small model of the store, through
// every order of messages, crashes and lease ends to a depth. docs/workers/delivery.md says what it covers.
package model_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Deeper is how many steps are added to each search: WORKER_MODEL_DEEPER=2 takes some ten times as long.
func deeper(t *testing.T) int {
	text := os.Getenv("WORKER_MODEL_DEEPER")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func TestNoOrderOfMessagesStartsTwiceOrForgets(t *testing.T) {
	for name, c := range map[string]config{
		"nothing wrong, two slots": {depth: 13, slots: 2},
		"one of all faults":        {depth: 8, faults: 1, slots: 1},
		"two of all faults":        {depth: 5, faults: 2, slots: 1},
		"messages":                 {depth: 6, faults: 2, slots: 1, only: []string{"late", "twice", "cut and poll"}},
		"registrations":            {depth: 7, faults: 2, slots: 1, fresh: true, only: []string{"late", "twice", "start process"}},
		"the store": {depth: 7, faults: 2, slots: 1, only: []string{
			"beats fail", "read slowly", "claim slowly", "claim, lose the reply", "answer",
		}},
		"crashes":        {depth: 10, faults: 2, slots: 1, only: []string{"crash process", "start process", "restart gateway"}},
		"a worker stops": {depth: 6, faults: 2, slots: 1, leaves: true, only: []string{"stop", "late", "cut and poll"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.sample, c.depth = 64, c.depth+deeper(t)-shallower
			f := c.run()
			require.NoError(t, f.err, strings.Join(f.trace, "\n"))
			t.Logf("%d states to depth %d, %d fair runs", f.states, f.depth, f.fairs)
		})
	}
}

// Each violation is found; without this nobody would know what the search can see.
func TestTheModelFindsEachSeededViolation(t *testing.T) {
	for _, c := range []struct {
		config

		want string
	}{
		{config{seed: seedLease, faults: 1, only: []string{"beats fail"}}, "two live attempts"},
		{config{seed: seedTakeOver, faults: 1, only: []string{"start process"}}, "two live attempts"},
		{config{seed: seedOldRead, faults: 2, still: true, only: []string{"read slowly", "cut and poll"}}, "a second start"},
		{config{seed: seedAck, faults: 2, sample: 1, only: []string{"cut and poll"}}, "forgotten"},
		{config{seed: seedCredits}, "free slots"},
		{config{seed: seedOldAnswer, faults: 1, only: []string{"twice"}}, "a second start"},
		{config{seed: seedLateClaim, faults: 2, only: []string{"claim slowly", "cut and poll"}}, "free slots"},
		{config{seed: seedLateSent, faults: 2, fresh: true, only: []string{"late", "beats fail"}}, "two live attempts"},
		{config{seed: seedNoLook, faults: 2, sample: 1, only: []string{"claim slowly", "cut and poll"}}, "forgotten"},
	} {
		if shallower > 0 && c.seed == seedLateSent {
			continue // ten times as many states as the others together
		}
		t.Run(string(c.seed), func(t *testing.T) {
			if c.sample == 0 {
				c.sample = 1 << 40 // hardly any fair run: the state itself breaks the rule
			}
			c.slots, c.depth = 1, 11
			f := c.run()
			require.ErrorContains(t, f.err, c.want)
			require.Equal(t, strings.Contains(c.want, "forgotten"), errors.Is(f.err, errForgotten))
			t.Logf("%v after %d steps, %d states:\n%s", f.err, f.depth, f.states, strings.Join(f.trace, "\n"))
		})
	}
}
