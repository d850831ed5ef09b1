// Package logtest keeps what servers log while a test reads it.
package logtest

import (
	"slices"
	"strings"
	"sync"
)

// Log is a log in memory. Safe for concurrent use; the zero value is empty.
type Log struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer; a logger writes a line at a time.
func (b *Log) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, string(line))
	return len(line), nil
}

// With are the lines that hold every one of the texts: all lines without any.
func (b *Log) With(texts ...string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.lines {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			found = append(found, line)
		}
	}
	return found
}

// String is the whole log.
func (b *Log) String() string { return strings.Join(b.With(), "") }

// Reset forgets what was logged.
func (b *Log) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = nil
}
