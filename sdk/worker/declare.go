package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Job is a job that a worker declares. The servers create it where it is not there, and overwrite nothing: a new one
// fires when a person has resumed it. The worker group must be allowed to declare jobs.
type Job struct {
	// Handler is one of Options.Handlers, the job's jobClass.
	Handler string
	// Name is unique in the group of the job; the default is Handler.
	Name string
	// Group is one of the job groups of the worker group; it may be left out where that has one.
	Group string
	// Cron is a cron expression that begins with the seconds, such as 0 0 2 * * ?; Fields may have another schedule.
	Cron string
	// Fields are other fields of the job, named and formed as in its JSON, such as timeoutSec or retryPolicy.
	Fields map[string]any
}

const (
	// declaredAtOnce is how many jobs a call declares at most.
	declaredAtOnce = 100
	// declareWait is how long a call may take; declareTries is how often it is repeated.
	declareWait  = 30 * time.Second
	declareTries = 10
	maxSaid      = 500
)

// body is the job as it is sent.
func (j Job) body(handlers []string) (json.RawMessage, error) {
	name := cmp.Or(j.Name, j.Handler)
	if !slices.Contains(handlers, j.Handler) {
		return nil, fmt.Errorf("option Jobs: the job %q names the handler %q, which Handlers has not", name, j.Handler)
	}
	body := map[string]any{"name": name, "jobClass": j.Handler}
	if j.Group != "" {
		body["group"] = j.Group
	}
	if j.Cron != "" {
		body["schedule"] = map[string]any{"cronExpression": j.Cron}
	}
	for _, field := range slices.Sorted(maps.Keys(j.Fields)) {
		if _, taken := body[field]; taken || field == "group" {
			return nil, fmt.Errorf("option Jobs: Fields of the job %q has %s, which has a field of Job", name, field)
		}
		body[field] = j.Fields[field]
	}
	raw, err := encode(body)
	if err != nil {
		return nil, fmt.Errorf("option Jobs: the job %q is no JSON: %w", name, err)
	}
	return raw, nil
}

// bodies are the jobs as they are sent.
func bodies(jobs []Job, handlers []string) (out []json.RawMessage, err error) {
	for _, j := range jobs {
		body, err := j.body(handlers)
		if err != nil {
			return nil, err
		}
		out = append(out, body)
	}
	return out, nil
}

type declareCall struct {
	Epoch int64             `json:"epoch"`
	Jobs  []json.RawMessage `json:"jobs"`
}

type declareAnswer struct {
	Jobs []declared `json:"jobs"`
}

type declared struct {
	Group   string   `json:"group"`
	Name    string   `json:"name"`
	Outcome string   `json:"outcome"`
	Differs []string `json:"differs"`
	Errors  []struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"errors"`
}

// declare tells the servers, once in this life, which jobs are to be there. Nothing of it ends the worker.
func (l *life) declare(ctx context.Context) {
	for jobs := range slices.Chunk(l.w.jobs, declaredAtOnce) {
		answer, err := l.declareThese(ctx, jobs)
		switch {
		case err != nil && ctx.Err() != nil:
			return // the next life declares them
		case err != nil:
			l.w.log.Warn("jobs were not declared", "error", err)
			return
		}
		for _, job := range answer.Jobs {
			l.w.say(job)
		}
	}
}

// declareThese repeats a call that failed: it creates nothing twice.
func (l *life) declareThese(ctx context.Context, jobs []json.RawMessage) (answer declareAnswer, err error) {
	for try := 1; ; try++ {
		answer = declareAnswer{}
		err = l.w.client.call(ctx, declareWait, l.path("jobs"), declareCall{l.epoch, jobs}, &answer)
		var p *problem
		refused := errors.As(err, &p)
		if err == nil || ctx.Err() != nil || try == declareTries ||
			refused && p.status < 500 && p.status != 408 && p.status != 429 {
			return answer, err
		}
		pause := max(l.w.client.pause(), firstPause)
		if refused {
			pause = max(pause, p.retryAfter)
		}
		_ = clock.Sleep(ctx, l.w.clock, pause) // the call looks at ctx
	}
}

// say logs what came of a job.
func (w *Worker) say(job declared) {
	name := job.Group + "/" + job.Name
	switch job.Outcome {
	case "CREATED":
		w.log.Info("a job was created; it fires when somebody has resumed it", "job", name)
	case "EXISTS":
		w.log.Info("a job exists as it is declared", "job", name)
	case "DIFFERS":
		w.log.Warn("a job differs from what is declared, and stays as it is", "job", name, "differs",
			fmt.Sprintf("%.*s", maxSaid, strings.Join(job.Differs, ", ")))
	case "REFUSED":
		var wrong []string
		for _, e := range job.Errors {
			wrong = append(wrong, e.Field+": "+e.Message)
		}
		w.log.Warn("a job was refused", "job", name, "errors", fmt.Sprintf("%.*s", maxSaid, strings.Join(wrong, ", ")))
	}
}
