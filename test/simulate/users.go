package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
	service "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The actions of users.
const (
	Edit         Kind = "user: edit a definition"
	EditSchedule Kind = "user: edit a schedule"
	Pause        Kind = "user: pause a job"
	Resume       Kind = "user: resume a job"
	Trigger      Kind = "user: run a job"
	Cancel       Kind = "user: cancel a run"
	Replace      Kind = "user: delete a job and make another one"
	Replay       Kind = "user: replay a dead letter"
	BulkPause    Kind = "user: pause all jobs of a group"
	BulkResume   Kind = "user: resume all jobs of a group"
	BulkRun      Kind = "user: run all jobs of a group"
	GroupPause   Kind = "user: pause a group for a while"
)

func userKinds() []Kind {
	return []Kind{
		Edit, EditSchedule, Pause, Resume, Trigger, Cancel, Replace, Replay, BulkPause, BulkResume, BulkRun, GroupPause,
	}
}

// users are people and programs that call nodes, one call at a time.
type users struct {
	w      *world
	random *rand.Rand
	made   int
}

// errNobody is what a caller meets where no node can answer.
var errNobody = errors.New("no node answers")

// work does one thing after the other until ctx ends.
func (u *users) work(ctx context.Context) {
	bag := []Kind{}
	for wait(ctx, between(u.random, time.Second, 9*time.Second)) {
		if len(bag) == 0 {
			bag = append(userKinds(), Edit, Resume, Trigger)
			u.random.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		}
		kind := bag[0]
		bag = bag[1:]
		if u.do(context.WithoutCancel(ctx), kind) {
			u.w.count(kind)
		}
	}
}

// do reports whether there was something to do, and it was done.
func (u *users) do(ctx context.Context, kind Kind) bool {
	switch kind {
	case Edit, EditSchedule:
		return u.edit(ctx, kind)
	case Pause, Resume:
		return u.hold(ctx, u.pick(func(j *job) bool { return j.edited && j.paused == (kind == Resume) }), kind == Pause)
	case Trigger:
		return u.trigger(ctx, u.pick(func(j *job) bool { return j.Name == byHand || j.edited }))
	case Cancel:
		return u.cancel(ctx)
	case Replace:
		return u.replace(ctx, u.pick(func(j *job) bool { return j.edited }))
	case Replay:
		return u.replay(ctx)
	case BulkRun:
		return u.all(func(j *job) bool { return u.trigger(ctx, j) })
	case BulkPause, BulkResume:
		return u.all(func(j *job) bool { return u.hold(ctx, j, kind == BulkPause) })
	case GroupPause:
		return u.call("pause a group", func(l *life) error {
			until := u.w.store.now().Add(between(u.random, 5*time.Second, 20*time.Second))
			_, err := l.Groups.Pause(ctx, bulk, entity.Pause{Reason: "a look", Until: until})
			return err
		}) == nil
	}
	return false
}

// pick is a job by lot; nil where none is meant.
func (u *users) pick(meant func(j *job) bool) *job {
	for _, i := range u.random.Perm(len(u.w.jobs)) {
		if j := u.w.jobs[i]; j.Deleted.IsZero() && meant(j) {
			return j
		}
	}
	return nil
}

// all does something with each job of the group.
func (u *users) all(do func(j *job) bool) (done bool) {
	for _, j := range u.w.jobs {
		if j.definition.Group == bulk && do(j) {
			done = true
		}
	}
	return done
}

// call asks a node, and notes how it answered.
func (u *users) call(what string, ask func(l *life) error) error {
	m, l := u.w.any(u.random)
	if l == nil {
		return errNobody
	}
	r := history.Reply{Node: m.id, What: what, Status: http.StatusOK, At: time.Now()}
	err := ask(l)
	r.Took = time.Since(r.At)
	if err != nil {
		r.Status, r.Detail = problem.From(err).Status, err.Error()
		if l.gate.over() {
			r.Status = 0 // whatever it wanted to say
		}
		if u.w.said(err) { // a store that lies makes callers hear that
			r.Status = http.StatusServiceUnavailable
		}
	}
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	u.w.h.Cluster.Answers = append(u.w.h.Cluster.Answers, r)
	return err
}

// unsure reports an error after which nobody knows whether the call had its effect.
func unsure(err error) bool {
	return err != nil && (problem.From(err).Status >= http.StatusInternalServerError || errors.Is(err, errDead))
}

// known asks until a node answers.
func (u *users) known(what string, ask func(l *life) error) error {
	for range 300 {
		err := u.call(what, ask)
		if !errors.Is(err, errNobody) && !unsure(err) {
			return err
		}
		time.Sleep(500 * ms)
	}
	return errNobody
}

// stored is the job as the store has it.
func (u *users) stored(ctx context.Context, id string) (as *entity.Job, err error) {
	err = u.known("read a job", func(l *life) (err error) {
		as, err = l.Jobs.Get(ctx, id)
		return err
	})
	return as, err
}

// change makes a change of a job, and returns the job with it; nil where there was no change.
func (u *users) change(ctx context.Context, j *job, what string, ask func(l *life) (*entity.Job, error)) *entity.Job {
	was, err := u.stored(ctx, j.ID)
	if err != nil {
		return nil
	}
	var as *entity.Job
	err = u.call(what, func(l *life) (err error) {
		as, err = ask(l)
		return err
	})
	if unsure(err) {
		as, err = u.stored(ctx, j.ID)
	}
	if err != nil || as.Version == was.Version {
		return nil
	}
	j.definition = as
	return as
}

// edit changes a definition.
func (u *users) edit(ctx context.Context, kind Kind) bool {
	j := u.pick(func(j *job) bool { return j.edited && !j.paused })
	if j == nil {
		return false
	}
	next := *j.definition
	switch {
	case kind == EditSchedule:
		changed := define("", work{}, func(d *job) { d.cron(one(u.random, 10*time.Second, 15*time.Second, 20*time.Second)) })
		next.Schedule = changed.definition.Schedule
		if next.Schedule.CronExpression == j.definition.Schedule.CronExpression {
			return false
		}
		as := u.change(ctx, j, "edit a schedule", func(l *life) (*entity.Job, error) {
			return l.Jobs.Replace(ctx, j.ID, &next, 0, 0)
		})
		if as == nil {
			return false
		}
		j.regrid(changed.Step, as, u.w.reached())
		return true
	case u.random.IntN(2) == 0:
		next.Description = fmt.Sprint("edit ", u.random.Int())
	default:
		next.Priority, next.Retry.MaxRetries = 1+u.random.IntN(10), 0
		next.Schedule.JitterMs = one[int64](u.random, 0, 1000, 4000)
	}
	return u.change(ctx, j, "edit a job", func(l *life) (*entity.Job, error) {
		return l.Jobs.Replace(ctx, j.ID, &next, 0, 0)
	}) != nil
}

// regrid notes a new schedule. reached is the latest time that the store's clock has shown: up to then, a time of the
// former schedule may be decided already.
func (j *job) regrid(step time.Duration, as *entity.Job, reached time.Time) {
	at := as.UpdateTime
	j.Former = append(j.Former, history.Grid{Step: j.Step, Origin: j.Origin, From: j.From, Until: at})
	j.Step, j.Origin, j.From = step, at.Truncate(step), at.Add(time.Millisecond)
	if reached.Sub(at) > 2*time.Second { // the clock was set back, or the answer took long
		j.From = reached.Add(margin)
	}
}

// hold pauses a job, or resumes it.
func (u *users) hold(ctx context.Context, j *job, paused bool) bool {
	if j == nil {
		return false
	}
	as := u.change(ctx, j, "pause or resume", func(l *life) (*entity.Job, error) {
		if paused {
			return l.Jobs.Pause(ctx, j.ID, entity.Pause{})
		}
		return l.Jobs.Resume(ctx, j.ID)
	})
	if as == nil {
		return false
	}
	j.paused = as.Status == entity.JobPaused
	return true
}

func (u *users) trigger(ctx context.Context, j *job) bool {
	if j == nil {
		return false
	}
	u.made++
	key := fmt.Sprint("key ", u.made)
	var ids []string
	err := u.call("run a job", func(l *life) (err error) {
		ids, err = l.Jobs.Trigger(ctx, j.ID, service.Trigger{Source: entity.TriggerManual})
		return err
	})
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	if unsure(err) && !errors.Is(err, errNobody) {
		u.w.h.Unanswered++
	}
	if err != nil || len(ids) != 1 {
		return false
	}
	u.w.h.Triggers = append(u.w.h.Triggers, history.Trigger{Key: key, JobID: j.ID, Execution: ids[0]})
	return true
}

// cancel asks a run to end.
func (u *users) cancel(ctx context.Context) (done bool) {
	err := u.call("cancel a run", func(l *life) error {
		status := one(u.random, entity.StatusRunning, entity.StatusWaiting)
		rows, _, err := l.Executions.List(ctx, repository.ExecutionFilter{Status: status}, repository.Page{Limit: 20})
		if err != nil || len(rows) == 0 {
			return err
		}
		id := rows[u.random.IntN(len(rows))].ID
		u.w.mu.Lock()
		u.w.h.Cancels = append(u.w.h.Cancels, id) // it may be asked although the answer is lost
		u.w.mu.Unlock()
		done = true
		return l.Executions.Cancel(ctx, id)
	})
	return done && err == nil
}

// replay runs a dead letter again.
func (u *users) replay(ctx context.Context) (done bool) {
	err := u.call("replay a dead letter", func(l *life) error {
		letters, _, err := l.Executions.DeadLetters(
			ctx,
			repository.DeadLetterFilter{Waiting: true},
			repository.Page{Limit: 5},
		)
		if err != nil || len(letters) == 0 {
			return err
		}
		done = true
		_, err = l.Executions.Replay(ctx, letters[0].ExecutionID, entity.Actor{})
		return err
	})
	return done && err == nil
}

// replace deletes a job and makes one like it.
func (u *users) replace(ctx context.Context, j *job) bool {
	if j == nil {
		return false
	}
	j.Until = u.w.store.least() // nodes may not know of a step yet
	for {
		err := u.call("delete a job", func(l *life) error { return l.Jobs.Delete(ctx, j.ID, 0) })
		if unsure(err) {
			if _, err = u.stored(ctx, j.ID); err == nil {
				time.Sleep(500 * ms)
				j.Until = u.w.store.least() // nodes may not know of a step yet
				continue                    // it is still there
			}
		}
		break
	}
	j.Deleted = time.Now()
	u.made++
	next := define(fmt.Sprintf("edited, made %d", u.made), j.work, func(n *job) {
		n.edited = true
		n.cron(one(u.random, 10*time.Second, 20*time.Second, 30*time.Second))
	})
	var as *entity.Job
	err := u.known("make a job", func(l *life) (err error) {
		found, _, err := l.Jobs.List(ctx, repository.JobFilter{NameContains: next.Name}, repository.Page{Limit: 10})
		for _, f := range found {
			if f.Name == next.Name { // a former call has made it
				as = f
				return err
			}
		}
		if err == nil {
			as, err = l.Jobs.Create(ctx, next.definition, true)
		}
		return err
	})
	if err != nil {
		return false
	}
	next.stored(as)
	u.w.target.add(as.ID, next.work)
	u.w.jobs = append(u.w.jobs, next)
	return true
}

// margin is how far beyond the latest time of the store's clock nodes may have fired that had not measured it again.
const margin = 25 * time.Second
