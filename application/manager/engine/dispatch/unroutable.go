package dispatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// maxClasses bounds the classes that one look tells apart, maxCounted the
	// runs that it counts of each, and maxNamed those that people are told of.
	maxClasses = 20
	maxCounted = 1000
	maxNamed   = 3
)

// Unroutable is runs of one class that no node can take.
type Unroutable struct {
	// Class is what they ask for; the zero class where their job is gone.
	Class entity.NodeClass
	// Missing is what the nodes lack.
	Missing entity.Wait
	// Count is how many there are; AtLeast marks a count that hit its bound.
	Count   int
	AtLeast bool
}

// String says it for people.
func (u Unroutable) String() string {
	n := fmt.Sprintf("%d runs wait", u.Count)
	switch {
	case u.AtLeast:
		n = "more than " + n
	case u.Count == 1:
		n = "1 run waits"
	}
	switch u.Missing {
	case entity.WaitCommand:
		n += " for a node that runs commands (executor.command.enabled)"
	case entity.WaitWorker:
		n += fmt.Sprintf(" for a worker of the group %s that is up", u.Class.Workers)
	case entity.WaitHandler:
		if u.Class.Handler == entity.HTTPHandler {
			n += fmt.Sprintf(" for a worker of the group %s that makes HTTP calls (%s)", u.Class.Workers, u.Class.Handler)
			break
		}
		if u.Class.Workers != "" {
			n += fmt.Sprintf(" for a worker of the group %s with the handler %.100q", u.Class.Workers, u.Class.Handler)
			break
		}
		n += fmt.Sprintf(" for a node with the handler %.100q", u.Class.Handler)
	default:
		n += " for a node that is up"
	}
	if len(u.Class.Labels) == 0 {
		return n
	}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(u.Class.Labels)) {
		pairs = append(pairs, fmt.Sprintf("%.50s=%.50s", key, u.Class.Labels[key]))
	}
	if len(pairs) > maxNamed {
		pairs = append(pairs[:maxNamed], "…")
	}
	return n + " and carries the labels " + strings.Join(pairs, ", ")
}

// Unroutable says which runs no node could take at the last look; empty when there
// were none. It is a part of what is degraded (docs/operations.md).
func (m *Manager) Unroutable() (reason string, blocks bool) {
	seen := m.unroutable.Load()
	if seen == nil || len(*seen) == 0 {
		return "", false
	}
	var parts []string
	for _, u := range (*seen)[:min(len(*seen), maxNamed)] {
		parts = append(parts, u.String())
	}
	if more := len(*seen) - maxNamed; more > 0 {
		parts = append(parts, fmt.Sprintf("and those of %d more classes", more))
	}
	return strings.Join(parts, "; "), false
}

// FindUnroutable counts what no node can take. Where there is nothing it asks the store
// one question.
func (m *Manager) FindUnroutable(ctx context.Context) error {
	var seen []Unroutable
	span := entity.UnroutableSpan()
	for lo := span.Lo; len(seen) < maxClasses; {
		first, err := m.Claims.First(ctx, lo, span.Hi)
		if err != nil {
			return fmt.Errorf("look for runs without a node: %w", err)
		}
		if first == "" {
			break
		}
		u, hi, err := m.unroutableLike(ctx, first)
		if err != nil {
			return err
		}
		seen, lo = append(seen, u), hi
	}
	m.unroutable.Store(&seen)
	return nil
}

// unroutableLike is the runs of the queue that the key is the first of, and where
// the next queue may begin.
func (m *Manager) unroutableLike(ctx context.Context,
	first entity.ClaimKey,
) (u Unroutable, next entity.ClaimKey, err error) {
	lo, hi := first.Queue().Range()
	u.Missing = first.WaitsFor()
	if u.Count, err = m.Claims.CountRange(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: maxCounted}); err != nil {
		return u, hi, fmt.Errorf("count the runs without a node: %w", err)
	}
	u.AtLeast = u.Count >= maxCounted
	execs, err := m.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: 1})
	if err != nil || len(execs) == 0 {
		return u, hi, err
	}
	jobs, err := m.Jobs.For(ctx, execs)
	if err != nil {
		return u, hi, fmt.Errorf("load the job of a run without a node: %w", err)
	}
	if job := jobs.Of(execs[0]); job != nil {
		u.Class = entity.NodeClassOf(job)
	}
	return u, hi, nil
}
