package definition_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// starting is a definition that starts jobs by their names.
func starting(name string, next ...string) definition.Definition {
	return define(name, nil, func(j *entity.Job) {
		for _, n := range next {
			j.Next = append(j.Next, entity.Next{Name: n, On: entity.NextOnSuccess})
		}
	})
}

// A document may name jobs that stand further down in it; a second import of it changes nothing.
func TestADocumentNamesJobsThatComeLater(t *testing.T) {
	d := newDesk(t)
	document := []definition.Definition{starting("a", "b", "c"), starting("b", "c"), starting("c")}
	ids := map[string]string{}
	for _, c := range d.apply(false, document...) {
		require.NoError(t, c.Err, c.Job().Name)
		require.Equal(t, definition.ActionCreate, c.Action)
		ids[c.After.Name] = c.After.ID
	}
	stored := d.Job(ids["a"])
	require.Equal(t, []string{ids["b"], ids["c"]}, []string{stored.Next[0].Job, stored.Next[1].Job})
	for _, c := range d.apply(false, starting("a", "b", "c"), starting("b", "c"), starting("c")) {
		require.NoError(t, c.Err)
		require.Equal(t, definition.ActionUnchanged, c.Action, c.Job().Name)
	}
	// An edit of the chain alone is a change.
	changes := d.apply(false, starting("a", "c"), starting("b", "c"), starting("c"))
	require.Equal(t, definition.ActionUpdate, changes[0].Action)
	require.NoError(t, changes[0].Err)
	require.Len(t, d.Job(ids["a"]).Next, 1)
}

// A document that cannot be applied is refused before anything is stored.
func TestADocumentWithACircleOrAnUnknownNameIsRefused(t *testing.T) {
	d := newDesk(t)
	x, _ := d.exchange()
	kept := d.Create(starting("kept").Job)
	for name, c := range map[string]struct {
		jobs  []definition.Definition
		prune bool
		field string
		says  string
	}{
		"circle":   {[]definition.Definition{starting("a", "b"), starting("b", "a")}, false, "jobs[0].next", "a → b → a"},
		"itself":   {[]definition.Definition{starting("a", "a")}, false, "jobs[0].next", "a → a"},
		"unknown":  {[]definition.Definition{starting("a"), starting("b", "c")}, false, "jobs[1].next[0].job", "there is no job"},
		"pruned":   {[]definition.Definition{starting("a", "kept")}, true, "jobs[0].next[0].job", "there is no job"},
		"existing": {[]definition.Definition{starting("a", "kept")}, false, "", ""},
	} {
		_, err := x.Plan(t.Context(), definition.Document{Jobs: c.jobs}, c.prune)
		if c.field == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.field, name)
		require.ErrorContains(t, err, c.says, name)
	}
	require.Equal(t, 1, d.Job(kept.ID).Version)
}

// Edits that close a circle over jobs outside of the document are refused one by one, when they are stored.
func TestADocumentThatClosesACircleWithOthersIsRefusedThere(t *testing.T) {
	d := newDesk(t)
	changes := d.apply(false, starting("a", "b"), starting("b"))
	require.NoError(t, changes[0].Err)
	changes = d.apply(false, starting("b", "a"))
	require.ErrorContains(t, changes[0].Err, "circle")
}

// A document may hold the longest chain, in any order; one more is refused, with the others of the document in place.
func TestADocumentWithTheLongestChain(t *testing.T) {
	d := newDesk(t)
	var document []definition.Definition
	for i := range entity.MaxChainDepth + 1 {
		if i == entity.MaxChainDepth {
			document = append(document, starting(fmt.Sprint(i)))
		} else {
			document = append(document, starting(fmt.Sprint(i), fmt.Sprint(i+1)))
		}
	}
	for _, c := range d.apply(false, document...) {
		require.NoError(t, c.Err, c.Job().Name)
	}
	changes := d.apply(false, append(document, starting("one more", "0"))...)
	require.ErrorContains(t, changes[len(changes)-1].Err, "at most 16 times in a row")
	for _, c := range changes[:len(changes)-1] {
		require.Equal(t, definition.ActionUnchanged, c.Action)
	}
}
