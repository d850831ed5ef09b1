package job

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/group"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// nameKey tells (group, name) pairs apart; the separator is in neither.
func nameKey(group, name string) []byte { return []byte(group + "\x1f" + name) }

// toJobRow checks what a store could not keep, so that both stores refuse alike.
func toJobRow(j *entity.Job, deleted bool) (*jobRow, error) {
	retry, err := json.Marshal(j.Retry)
	if err != nil {
		return nil, fmt.Errorf("write the retry policy of job %s: %w", j.ID, err)
	}
	routing, err := json.Marshal(j.Routing)
	if err != nil {
		return nil, fmt.Errorf("write the routing of job %s: %w", j.ID, err)
	}
	alerts, err := alertsText(j)
	if err != nil {
		return nil, fmt.Errorf("write the alerts of job %s: %w", j.ID, err)
	}
	labels, err := sqlvalue.MapJSON(j.Labels)
	if err != nil {
		return nil, fmt.Errorf("write the labels of job %s: %w", j.ID, err)
	}
	r := &jobRow{
		Job: *j, jobType: storedType(j.Type), retryPolicy: string(retry), routing: string(routing), labels: labels,
		pauseNote: group.NoteText(j.PausedAt, j.Pause), deleted: deleted, nameSearch: strings.ToLower(j.Name),
		alerts: alerts,
	}
	if !deleted {
		r.nameKey = nameKey(j.Group, j.Name)
	}
	if j.Status != entity.JobEnabled || deleted {
		r.DueTime = time.Time{}
	}
	return r, r.check()
}

// check refuses times that the text form cannot hold.
func (r *jobRow) check() (err error) {
	r.columns(func(name string, at any, _ jobReads) {
		if t, ok := at.(*sqlvalue.DBTime); ok && !sqlvalue.StorableTime(t.Time()) {
			err = fmt.Errorf("%s of job %s is outside the years 1000 to 9999: %s", name, r.ID, t.Time().Format(time.RFC3339))
		}
	})
	if err != nil {
		return &repository.PoisonError{Err: err}
	}
	return nil
}

// entity is the job that the row holds. unread are columns that could not be read;
// texts that cannot be are added to them. texts are those of the rows before it.
func (r *jobRow) entity(unread []entity.Unread, texts *jobTexts) *entity.Job {
	j := r.Job
	j.Type = TypeOf(r.jobType)
	j.Pause = group.PauseOf(j.PausedAt, r.pauseNote, j.Pause.Until)
	j.Retry = texts.retry.read("retry_policy", r.retryPolicy, &unread)
	j.Routing = texts.routing.read("routing", r.routing, &unread)
	if j.Routing.Strategy == "" {
		j.Routing.Strategy = entity.RouteAny // whoever takes a run of it says why it does not run
	}
	told := texts.alerts.read("alerts", r.alerts, &unread)
	j.Alerts, j.Deadline, j.Parameters, j.Next = told.JobAlerts, told.Deadline, told.Parameters, told.Next
	j.Labels = sqlvalue.ReadJSON[map[string]string]("labels", r.labels, &unread)
	j.Unread = unread
	return &j
}

// jobTexts are the columns whose text is mostly that of the row before.
type jobTexts struct {
	retry   repeated[entity.RetryPolicy]
	routing repeated[entity.Routing]
	alerts  repeated[alertsJSON]
}

// alertsJSON is what one column holds: who is told, the deadline, the parameters and the jobs
// that follow. Scans read it, as fires need the defaults of parameters, and of most jobs it is
// NULL: so these parts cost jobs without them no column more.
type alertsJSON struct {
	entity.JobAlerts
	Deadline   entity.JobDeadline    `json:"deadline,omitzero"`
	Parameters []entity.JobParameter `json:"parameters,omitempty"`
	Next       []entity.Next         `json:"next,omitempty"`
}

func alertsText(j *entity.Job) (string, error) {
	if j.Alerts.Nothing() && j.Deadline == (entity.JobDeadline{}) && len(j.Parameters) == 0 && len(j.Next) == 0 {
		return "", nil
	}
	text, err := json.Marshal(alertsJSON{j.Alerts, j.Deadline, j.Parameters, j.Next})
	return string(text), err
}

// repeated reads a column of many rows, and decodes what is the same as before
// only once. Rows share such a value, whose lists and maps nobody changes.
type repeated[T any] struct {
	text  string
	value T
}

func (p *repeated[T]) read(column, text string, unread *[]entity.Unread) T {
	if text == "" || text != p.text {
		before := len(*unread)
		value := sqlvalue.ReadJSON[T](column, text, unread)
		if len(*unread) > before {
			return value
		}
		p.text, p.value = text, value
	}
	return p.value
}
