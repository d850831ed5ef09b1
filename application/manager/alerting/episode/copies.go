package episode

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// EventAlertChanged is the type of the event of each change of an alert.
const EventAlertChanged = "alert.changed"

// changeData is the data of an event, in the names of the API.
type changeData struct {
	ID              string            `json:"id"`
	Fingerprint     string            `json:"fingerprint"`
	AlertType       alert.RuleType    `json:"alertType"`
	AlertLevel      alert.Level       `json:"alertLevel"`
	Status          alert.Status      `json:"status"`
	RuleID          string            `json:"ruleId"`
	Group           string            `json:"group,omitempty"`
	JobID           string            `json:"jobId,omitempty"`
	ExecutionID     string            `json:"executionId,omitempty"`
	LastExecutionID string            `json:"lastExecutionId,omitempty"`
	NodeID          string            `json:"nodeId,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Content         string            `json:"content"`
	Details         map[string]string `json:"details,omitempty"`
	Count           int               `json:"count"`
	PendingSince    string            `json:"pendingSince,omitempty"`
	StartTime       string            `json:"startTime,omitempty"`
	LastTime        string            `json:"lastTime,omitempty"`
	EndTime         string            `json:"endTime,omitempty"`
	AckedBy         string            `json:"ackedBy,omitempty"`
	ResolvedBy      string            `json:"resolvedBy,omitempty"`
	Resolution      alert.Resolution  `json:"resolution,omitempty"`
	Seq             int64             `json:"seq"`
}

// ChangeEvent is the event of the latest change of an alert. Its id counts the changes, so
// that a consumer knows a repetition.
func ChangeEvent(a *alert.Alert, readers entity.EventReaders) (entity.Event, error) {
	payload, err := json.Marshal(changeData{
		ID: a.ID, Fingerprint: a.Fingerprint, AlertType: a.Type, AlertLevel: a.Level, Status: a.Status, RuleID: a.RuleID,
		Group: a.Group, JobID: a.JobID, ExecutionID: a.ExecutionID, LastExecutionID: a.LastExecutionID, NodeID: a.NodeID,
		Labels: a.Labels, Content: a.Content, Details: a.Details, Count: a.Count, PendingSince: textOf(a.PendingSince),
		StartTime: textOf(a.StartTime), LastTime: textOf(a.LastTime), EndTime: textOf(a.EndTime), AckedBy: a.AckedBy,
		ResolvedBy: a.ResolvedBy, Resolution: a.Resolution, Seq: a.Seq,
	})
	if err != nil {
		return entity.Event{}, fmt.Errorf("encode the change %d of alert %s: %w", a.Seq, a.ID, err)
	}
	return entity.Event{
		ID: fmt.Sprintf("%s:%d:alert", a.ID, a.Seq), Topic: entity.TopicAlerts, Key: a.Fingerprint, Type: EventAlertChanged,
		Payload: string(payload), CreateTime: a.UpdateTime, Readers: readers,
	}, nil
}

func textOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Copying is a store that adds the event of each change of an alert to the transaction of
// the change. All who change alerts write through it. Without readers it is the store itself.
func Copying(s repository.Store, readers entity.EventReaders) repository.Store {
	if readers.Nobody() {
		return s
	}
	return copying{s, readers}
}

type copying struct {
	repository.Store
	readers entity.EventReaders
}

// Write implements repository.Store.
func (s copying) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return s.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		w := &copier{AlertWriter: tx.Alerts}
		tx.Alerts = w
		if err := fn(ctx, tx); err != nil || len(w.changed) == 0 {
			return err
		}
		events := make([]entity.Event, len(w.changed))
		for i, a := range w.changed {
			var err error
			if events[i], err = ChangeEvent(a, s.readers); err != nil {
				return err
			}
		}
		return tx.Records.AddEvents(ctx, events)
	})
}

// copier remembers what a transaction has changed.
type copier struct {
	repository.AlertWriter
	changed []*alert.Alert
}

// AddAlerts implements repository.AlertWriter.
func (c *copier) AddAlerts(ctx context.Context, alerts []*alert.Alert) ([]string, error) {
	added, err := c.AlertWriter.AddAlerts(ctx, alerts)
	if err != nil {
		return added, err
	}
	byID := make(map[string]*alert.Alert, len(alerts))
	for _, a := range alerts {
		byID[a.ID] = a
	}
	for _, id := range added {
		c.changed = append(c.changed, byID[id])
	}
	return added, nil
}

// UpdateAlert implements repository.AlertWriter.
func (c *copier) UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error) {
	ok, err := c.AlertWriter.UpdateAlert(ctx, a, seq)
	if ok && err == nil {
		c.changed = append(c.changed, a)
	}
	return ok, err
}
