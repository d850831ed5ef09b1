package worker

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Group is a worker group: programs that run the same jobs, as one application does. All workers of a group are equal.
type Group struct {
	Name string
	// JobGroups are those whose jobs may name it.
	JobGroups []string
	// Secrets, Commands and Declare let its workers get secrets, run commands, and create jobs.
	Secrets  bool
	Commands bool
	Declare  bool
	// MaxWorkers is how many workers it has at most that are not DOWN.
	MaxWorkers int
	// Version grows with each change.
	Version    int
	CreateTime time.Time
	UpdateTime time.Time
}

// Serves reports whether jobs of the group may name the worker group.
func (g *Group) Serves(jobGroup string) bool { return slices.Contains(g.JobGroups, jobGroup) }

// Runs reports whether its workers may run a job: one of a group that it serves, and a command only where it may run
// commands.
func (g *Group) Runs(job *entity.Job) bool {
	return g.Serves(job.Group) && (g.Commands || job.Type != entity.JobCommand)
}

// Schema is the schema version of the oldest program that knows workers. The store refuses older ones as soon as there
// is a worker group.
const Schema = 81

const (
	// DefaultMaxWorkers is MaxWorkers of a group that says nothing.
	DefaultMaxWorkers = 2000
	// MostWorkers is the most that it may say.
	MostWorkers = 10_000
	// MaxJobGroups is how many job groups a worker group may serve.
	MaxJobGroups = 100
	// MaxTokens is how many tokens of a group may be valid at once: two for a rotation, and some for mishaps.
	MaxTokens = 10
)

// ValidGroup reports whether the name may be that of a worker group.
func ValidGroup(name string) bool {
	if name == "" || len(name) > MaxGroup {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Token is how a worker shows that it is of a group. It belongs to the group, not to a person.
type Token struct {
	ID    string
	Group string
	// Name says which it is, for people.
	Name string
	// Hash is the SHA-256 of the token, in hex digits; the token itself is not stored.
	Hash       string
	CreatedBy  string
	ExpiresAt  time.Time
	LastUsedAt time.Time
	CreateTime time.Time
}

// TokenPrefix is what tokens of workers begin with.
const TokenPrefix = "psw_"
