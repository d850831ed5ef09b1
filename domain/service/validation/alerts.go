package validation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

const (
	// MaxChannels is how many channels a list of a job's alerts names.
	MaxChannels = bounds.Channels
	// leastLate is how soon the rules can find that a fire is late.
	leastLate = 30
)

var misses = []entity.OnMiss{entity.MissAlert, entity.MissCancel}

// alerts checks what can be said without a look at the channels that there are.
func (c *checker) alerts(j *entity.Job) {
	for _, list := range j.Alerts.Lists() {
		field := "alerts." + list.Field
		if n := len(list.Channels); n > MaxChannels {
			c.add(field, CodeTooMany, "name at most %d channels; there are %d", MaxChannels, n)
			continue
		}
		for i, name := range list.Channels {
			entry := fmt.Sprintf("%s[%d]", field, i)
			switch {
			case strings.TrimSpace(name) == "":
				c.add(entry, CodeRequired, "name a channel")
			case slices.Contains(list.Channels[:i], name):
				c.add(entry, CodeConflict, "name each channel once")
			default:
				c.line(entry, name, MaxName)
			}
		}
	}
	switch late := j.Alerts.LateAfterSec; {
	case late == 0:
	case late < leastLate || late > week:
		c.add("alerts.lateAfterSec", CodeOutOfRange, "must be between %d and %d, or 0 for the default; it is %d", leastLate,
			week, late)
	case len(j.Alerts.OnLate) == 0:
		c.add("alerts.lateAfterSec", CodeConflict, "nobody is told: name channels in onLate, or leave it out")
	}
}

func (c *checker) deadline(j *entity.Job, now time.Time) {
	d := &j.Deadline
	if d.At == "" {
		if d.TimeZone != "" || d.OnMiss != "" {
			c.add("deadline.at", CodeRequired, "say by what time of the day, such as 06:00, or leave the deadline out")
		}
		return
	}
	spec, err := d.Spec()
	if err != nil {
		c.add("deadline.at", CodeInvalid, "%s", Text(err.Error(), 100))
	} else {
		for _, e := range schedule.Validate(spec, now) {
			c.add(strings.Replace(e.Field, "schedule.", "deadline.", 1), e.Code, "%s", e.Message)
		}
	}
	oneOf(c, "deadline.onMiss", d.OnMiss, misses)
	if j.Schedule.Kind == schedule.None {
		c.add("deadline", CodeConflict, "deadlines are those of planned fires, and the job has no schedule: give it one, "+
			"or leave the deadline out")
	}
}
