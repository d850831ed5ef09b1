package alerting

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Job is what rules know of a job.
type Job struct {
	ID string
	// StepID and Step are the id and the name of a step of this workflow; empty where it is about the job itself.
	StepID, Step string
	Name         string
	Group        string
	// Owner says whom to ask about the job; "" where nobody is named.
	Owner  string
	Labels map[string]string
	// Alerts are the rules that the job carries itself.
	Alerts entity.JobAlerts
	// Deadline: the job has one.
	Deadline bool
}

// SeenBy reports whether a rule sees the job, or its step.
func (j *Job) SeenBy(r *alert.Rule) bool {
	return (j.StepID == "" || r.Scope.Steps) && r.Sees(j.ID, j.Group, j.Labels)
}

// RunsAs is the id under which its executions run.
func (j *Job) RunsAs() string { return cmp.Or(j.StepID, j.ID) }

// title names it within a sentence.
func (j *Job) title() string {
	if j.Step != "" {
		return "step " + j.Step + " of the workflow " + j.Name
	}
	return "job " + j.Name
}

// End is what rules know of the end of an execution.
type End struct {
	ExecutionID string
	FireKey     string
	Status      entity.Status
	Reason      entity.Reason
	At          time.Time
	Attempt     int
	Message     string
	// Fires is how many fires the end stands for; at least 1.
	Fires int
}

// notFired are the reasons for which a fire should have run and did not.
func notFired(r entity.Reason) bool {
	switch r {
	case entity.ReasonMisfire, entity.ReasonNoNode, entity.ReasonDeadline, entity.ReasonQueueFull:
		return true
	}
	return false
}

// NeedsRuns is how many of the newest runs of a job a rule asks for when one of them has
// failed; 0 is none.
func NeedsRuns(r *alert.Rule) int {
	switch r.Type {
	case alert.ConsecutiveFailures:
		return int(r.Threshold)
	case alert.FailureRate:
		return maxWindowRuns
	}
	return 0
}

// EnoughRuns reports whether a rule can judge an end by these runs, the newest first, whatever older ones did.
func EnoughRuns(r *alert.Rule, end End, runs []Run) bool {
	switch r.Type {
	case alert.ConsecutiveFailures:
		n := min(int(r.Threshold), len(runs))
		return len(runs) >= int(r.Threshold) || slices.ContainsFunc(runs[:n], func(run Run) bool {
			return !run.Status.Failed()
		})
	case alert.FailureRate:
		return len(runs) >= maxWindowRuns || len(runs) > 0 && runs[len(runs)-1].At.Before(since(r, end))
	}
	return true
}

// since is when the window of a rule begins that looks back from an end.
func since(r *alert.Rule, end End) time.Time {
	return end.At.Add(-time.Duration(r.WindowSec) * time.Second)
}

// OnEnd asks a rule about the end of an execution of a job. The past is that of the job at
// the end, as far as NeedsRuns asks for it. EXPRESSION is not asked here: its expressions are
// compiled elsewhere.
func OnEnd(r *alert.Rule, job Job, end End, past Past) (s Signal, found bool) {
	if !r.Enabled || !job.SeenBy(r) {
		return s, false
	}
	s = SignalOf(r, job, end)
	failed := end.Status.Failed()
	switch r.Type {
	case alert.JobFailed:
		found = failed
		s.Content = fmt.Sprintf("The %s failed: %s.", job.title(), end.why())
	case alert.JobSucceeded:
		found = end.Status == entity.StatusSuccess
		s.Subject, s.Content = momentary(r, job, end.ExecutionID), fmt.Sprintf("The job %s succeeded.", job.Name)
	case alert.Timeout:
		found = failed && (end.Status == entity.StatusTimeout || end.Reason == entity.ReasonTimeout)
		s.Content = fmt.Sprintf("A run of the %s ran out of time.", job.title())
	case alert.DeadLetter:
		found = end.Status == entity.StatusDead
		s.Content = fmt.Sprintf("A run of the %s has used up its retries: %s.", job.title(), end.why())
	case alert.NoNode:
		found = end.Status == entity.StatusSkipped && end.Reason == entity.ReasonNoNode
		s.Subject = job.RunsAs() + ":skipped" // the level of the same rule has the job alone
		s.Content = fmt.Sprintf("No node could run the %s.", job.title())
	case alert.NotFired:
		// A fire that never started because its job is broken has paused the job.
		broken := failed && end.Reason == entity.ReasonInvalid && end.Attempt == 0
		found = end.Status == entity.StatusSkipped && notFired(end.Reason) || broken
		s.Subject = job.ID + ":skipped" // the level of the same rule has the job alone
		s.Content = fmt.Sprintf("The job %s did not run, %s: %s.", job.Name, times(end.Fires), end.Reason)
		s.Details["fires"] = strconv.Itoa(end.Fires)
	case alert.ConsecutiveFailures:
		n := int(r.Threshold)
		found = failed && failedInARow(past.Runs, n)
		s.Content = fmt.Sprintf("The last %d runs of the %s failed: %s.", n, job.title(), end.why())
		s.Details["runs"] = strconv.Itoa(n)
	case alert.FailureRate:
		if !failed {
			break
		}
		rate := rateOf(past.Runs, since(r, end))
		found = rate.above(r.Threshold)
		runs := fmt.Sprintf("%d runs", rate.runs)
		if past.Cut && rate.runs == len(past.Runs) { // the window holds more
			runs = fmt.Sprintf("the newest %d runs", rate.runs)
			s.Details["cut"] = "true"
		}
		s.Content = fmt.Sprintf("%d of %s of the %s failed within %s.", rate.failed, runs, job.title(),
			time.Duration(r.WindowSec)*time.Second)
		s.Details["failed"], s.Details["runs"] = strconv.Itoa(rate.failed), strconv.Itoa(rate.runs)
	}
	return s, found
}

// momentary is the subject of what is over at once: each execution is one, but where each
// is told, one alert stands for all of a minute.
func momentary(r *alert.Rule, job Job, executionID string) string {
	if r.Notify == alert.NotifyEach {
		return job.RunsAs()
	}
	return job.RunsAs() + ":" + executionID
}

// RecoveryOf is the evidence that a job has recovered.
func RecoveryOf(r *alert.Rule, job Job, run Run) Signal {
	s := SignalOf(r, job, End{ExecutionID: run.ExecutionID, Status: run.Status, At: run.At, Fires: 1})
	s.Subject, s.Content = momentary(r, job, run.ExecutionID), fmt.Sprintf("The %s has recovered.", job.title())
	return s
}

// SignalOf is the evidence of an end, whatever the rule finds in it.
func SignalOf(r *alert.Rule, job Job, end End) Signal {
	s := Signal{
		Rule: r, Subject: job.RunsAs(), Evidence: end.ExecutionID, At: end.At, JobID: job.ID, Group: job.Group,
		ExecutionID: end.ExecutionID, Labels: jobLabels(job),
		Details: job.details(map[string]string{
			"status": string(end.Status), "reason": string(end.Reason), "message": cut(end.Message),
		}),
	}
	if run, key, ok := identity.OfStepKey(end.FireKey); ok && job.Step != "" {
		s.Details["run"], s.Details["stepKey"] = run, key
	}
	return s
}

// StepDetail is the detail of an alert that holds the id of the step which it is about.
const StepDetail = "stepId"

// details adds to the details of an alert what each alert about the job has.
func (j *Job) details(out map[string]string) map[string]string {
	out["job"] = j.Name
	if j.Owner != "" {
		out["owner"] = j.Owner
	}
	if j.Step != "" {
		out["step"], out[StepDetail] = j.Step, j.StepID
	}
	return out
}

func jobLabels(job Job) map[string]string {
	out := map[string]string{}
	for name, value := range job.Labels {
		out[name] = value
	}
	out["job"] = job.Name
	if job.Step != "" {
		out["step"] = job.Step
	}
	return out
}

// why says what ended it, in a few words.
func (e *End) why() string {
	text := string(e.Reason)
	if text == "" {
		text = string(e.Status)
	}
	if e.Message != "" {
		text += ", " + cut(e.Message)
	}
	return text
}

// maxMessage bounds what an alert repeats of an error, in bytes.
const maxMessage = 500

func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
