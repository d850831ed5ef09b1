package entity

import (
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// JobAlerts is the short form of rules that a job carries: names of channels that are
// told what becomes of its runs.
type JobAlerts struct {
	OnFailure []string `json:"onFailure,omitempty"`
	OnSuccess []string `json:"onSuccess,omitempty"`
	// OnEnd is told of successes and of failures.
	OnEnd []string `json:"onEnd,omitempty"`
	// OnLate is told when a fire does not run, and of deadlines.
	OnLate []string `json:"onLate,omitempty"`
	// OnRecovered is told of the success after a failure.
	OnRecovered []string `json:"onRecovered,omitempty"`
	// LateAfterSec is how late a fire may be, in seconds; 0 is the cluster's grace.
	LateAfterSec int `json:"lateAfterSec,omitempty"`
}

// ChannelList is one of the lists of a JobAlerts, with its name.
type ChannelList struct {
	Field    string
	Channels []string
}

// Lists are the lists of channels in the order of the API.
func (a *JobAlerts) Lists() []ChannelList {
	return []ChannelList{
		{"onFailure", a.OnFailure},
		{"onSuccess", a.OnSuccess},
		{"onEnd", a.OnEnd},
		{"onLate", a.OnLate},
		{"onRecovered", a.OnRecovered},
	}
}

// Nothing reports whether nothing is said.
func (a *JobAlerts) Nothing() bool {
	return a.LateAfterSec == 0 && len(a.OnFailure) == 0 && len(a.OnSuccess) == 0 && len(a.OnEnd) == 0 &&
		len(a.OnLate) == 0 && len(a.OnRecovered) == 0
}

// Successes reports whether somebody is told of each success.
func (a *JobAlerts) Successes() bool { return len(a.OnSuccess) > 0 || len(a.OnEnd) > 0 }

// Plain gives up empty lists: they say no more than those that are absent.
func (a *JobAlerts) Plain() {
	for _, list := range []*[]string{&a.OnFailure, &a.OnSuccess, &a.OnEnd, &a.OnLate, &a.OnRecovered} {
		if len(*list) == 0 {
			*list = nil
		}
	}
}

// OnMiss is what becomes of a run that misses its deadline.
type OnMiss string

// The ways; ALERT is the default.
const (
	MissAlert OnMiss = "ALERT"
	// MissCancel asks what still runs or waits to stop.
	MissCancel OnMiss = "CANCEL"
)

// JobDeadline is the time of the day by which a fire is to have succeeded: the first such
// time after the scheduled one. Without At there is none.
type JobDeadline struct {
	// At is HH:MM or HH:MM:SS.
	At       string `json:"at"`
	TimeZone string `json:"timeZone"`
	OnMiss   OnMiss `json:"onMiss"`
}

// Spec is the schedule of the deadlines. A time that the change of the clocks leaves out
// is the next one that there is; of two equal times it is the first. The error says what
// is wrong with At.
func (d *JobDeadline) Spec() (schedule.Spec, error) {
	layout := "15:04"
	if len(d.At) > len(layout) {
		layout = "15:04:05"
	}
	at, err := time.Parse(layout, d.At)
	if err != nil || len(d.At) != len(layout) {
		return schedule.Spec{}, fmt.Errorf("%q is no time of the day: write it as 06:00 or 06:00:30", d.At)
	}
	return schedule.Spec{
		Kind: schedule.Cron, Dialect: cronexpr.Quartz, TimeZone: d.TimeZone,
		CronExpression: fmt.Sprintf("%d %d %d * * ?", at.Second(), at.Minute(), at.Hour()),
		DstGap:         cronexpr.NextValid, DstOverlap: cronexpr.First,
	}, nil
}

// Deadline is a deadline of one fire.
type Deadline struct {
	Moment        time.Time
	JobID         string
	FireKey       string
	ScheduledTime time.Time
	// Reported: that it is at risk has been told.
	Reported bool
}

// ExpectsDeadline reports whether the execution stands for a fire that should succeed in
// time. Fires that nobody planned are none, nor are those that were left out on purpose.
func (e *Execution) ExpectsDeadline() bool {
	if e.Trigger != TriggerSchedule && e.Trigger != TriggerMisfire || e.RetryOf != "" {
		return false
	}
	return e.Status != StatusSkipped || slices.Contains(
		[]Reason{ReasonMisfire, ReasonQueueFull, ReasonOverlap, ReasonNoNode, ReasonDeadline}, e.Reason)
}
