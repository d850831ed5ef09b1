package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
)

// WorkerGroupBody is the body of PUT /worker-groups/{name}.
type WorkerGroupBody struct {
	// Name must be that of the group.
	Name *string `json:"name,omitempty"`
	// JobGroups are the groups whose jobs may name it, 1 to 100.
	JobGroups []string `json:"jobGroups"`
	// Secrets lets its workers get the secrets of jobs.
	Secrets bool `json:"secrets,omitempty"`
	// Commands lets its workers run commands.
	Commands bool `json:"commands,omitempty"`
	// Declare lets its workers create jobs for their own handlers.
	Declare bool `json:"declare,omitempty"`
	// MaxWorkers is how many workers it has at most that are not down.
	MaxWorkers int `json:"maxWorkers,omitempty" default:"2000" minimum:"1" maximum:"10000"`
	// Workers are a part of answers.
	Workers struct {
		Up       int `json:"up"`
		Draining int `json:"draining"`
		Down     int `json:"down"`
	} `json:"workers,omitempty" readonly:"true"`
	// Version is that of the group that was read, for edits; a stale one is refused. Without one
	// and without If-Match the last edit wins.
	Version    int       `json:"version,omitempty" minimum:"0"`
	CreateTime time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// ReadWorkerGroup reads it for the group of the path.
func ReadWorkerGroup(r *http.Request, name string) (worker.GroupInput, error) {
	body, err := readBody(r, func(body *WorkerGroupBody, f *faults) {
		if or(body.Name, name) != name {
			f.add("name", "unchangeable", "a worker group cannot be renamed: make another one, with tokens of its own")
		}
		f.within("version", int64(body.Version), 0, maxExact)
	})
	return worker.GroupInput{
		Name: name, JobGroups: body.JobGroups, Secrets: body.Secrets, Commands: body.Commands, Declare: body.Declare,
		MaxWorkers: body.MaxWorkers, Version: body.Version,
	}, err
}

// WorkerTokenBody is the body of POST /worker-groups/{name}/tokens.
type WorkerTokenBody struct {
	// Name says which it is, for people.
	Name string `json:"name" maxLength:"100"`
	// ExpiresAt is at most 366 days ahead.
	ExpiresAt time.Time `json:"expiresAt" format:"date-time"`
}

// ReadWorkerToken reads it.
func ReadWorkerToken(r *http.Request) (worker.TokenInput, error) {
	body, err := readBody[WorkerTokenBody](r, nil)
	return worker.TokenInput{Name: body.Name, ExpiresAt: body.ExpiresAt}, err
}
