// Package commit tells what a committed transaction of the engine means for others: runs that
// wait, jobs with another next fire time, executions that shall stop. The rules of the engine are
// in docs/rules.md.
package commit

import "sync"

// Commits tells those who act on it what each committed transaction did. A component
// that acts says so when it is made, so that nobody needs to know the others. Safe for
// concurrent use.
type Commits struct {
	mu      sync.RWMutex
	actions []func(PostCommit)
}

// NewCommits tells nobody yet.
func NewCommits() *Commits { return &Commits{} }

// OnCommit calls act after each commit from then on. act must not wait for the
// store.
func (c *Commits) OnCommit(act func(PostCommit)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.actions = append(c.actions, act)
}

// AfterCommit tells what a transaction did that was just committed.
func (c *Commits) AfterCommit(e PostCommit) {
	c.mu.RLock()
	actions := c.actions
	c.mu.RUnlock()
	for _, act := range actions {
		act(e)
	}
}
