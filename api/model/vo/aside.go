package vo

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// SetAside is something that the store refuses, so that everything else goes on.
type SetAside struct {
	Kind string `json:"kind" enums:"EVENT,LEVEL,DEADLINE,PLAN,DIGEST"`
	// ID is that of the event, of the alert that cannot be told or of the digest; of a level or a deadline a fingerprint.
	ID string `json:"id"`
	// JobID and RuleID are empty where it is about none, or about several.
	JobID  string `json:"jobId"`
	RuleID string `json:"ruleId"`
	// State says that it was taken without its effect, waits for another try, or is tried no more.
	State string `json:"state" enums:"MISSING,WAITING,DEAD"`
	// Reason is what the store answered.
	Reason string `json:"reason"`
	Time   Time   `json:"time"`
}

// SetAsides are the newest of what was set aside, of one week.
type SetAsides struct {
	// Counts are all rows by kind.
	Counts map[string]int `json:"counts"`
	Items  []SetAside     `json:"items"`
}

// FromAsides makes the view of rows.
func FromAsides(rows []entity.SetAside, counts map[entity.AsideKind]int) SetAsides {
	v := SetAsides{Counts: map[string]int{}, Items: make([]SetAside, len(rows))}
	for _, kind := range entity.AsideKinds() {
		v.Counts[string(kind)] = counts[kind]
	}
	for i, a := range rows {
		v.Items[i] = SetAside{
			Kind: string(a.Kind), ID: a.ID, JobID: a.Job, RuleID: a.Rule, State: string(a.State),
			Reason: a.Reason, Time: Time(a.Time),
		}
	}
	return v
}
