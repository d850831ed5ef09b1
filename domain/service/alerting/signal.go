// Package alerting holds the rules of alerting as pure functions: what is evidence for an
// alert, and what evidence does to an episode. It knows no store and no clock, so that a
// dry run over the past asks the same functions.
package alerting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Signal is one piece of evidence that a rule has found.
type Signal struct {
	Rule *alert.Rule
	// Subject is what the alert is about, unique within the rule: a job, a node, a part.
	Subject string
	// Evidence names what was found, and At is when it happened: the id of an execution
	// and its end, or the moment of a look.
	Evidence string
	At       time.Time
	// Job is set where the alert is about a job; Group is its group.
	JobID       string
	Group       string
	ExecutionID string
	NodeID      string
	// About is the name of the rule that the alert is about; empty: it is about something else.
	About  string
	Labels map[string]string
	// Content is a sentence, and Details its numbers.
	Content string
	Details map[string]string
}

// Fingerprint names what the alert is about. It is frozen: every node computes the same.
func (s *Signal) Fingerprint() string { return identity.Hash("alert", s.Rule.ID, s.Subject) }

// EpisodeID is the id of the episode that the evidence opens. It begins with the moment of
// the evidence, so that the newest episode of a fingerprint has the greatest id.
func (s *Signal) EpisodeID() string {
	return identity.ExecutionID(s.At, s.Fingerprint(), s.Evidence, 0)
}

// labels are those of the job or the node, those of the rule, and what every alert has.
func (s *Signal) labels() map[string]string {
	out := maps.Clone(s.Labels)
	if out == nil {
		out = map[string]string{}
	}
	for name, value := range s.Rule.Labels {
		if !slices.Contains(OwnLabels(), name) { // rules of former releases may have some
			out[name] = value
		}
	}
	out["alertname"], out["severity"] = string(s.Rule.Type), string(s.Rule.Level)
	for name, value := range map[string]string{"group": s.Group, "node": s.NodeID, "rule": cmp.Or(s.About, s.Rule.Name)} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

// NotDelivered is the evidence that a notification of a channel is DEAD.
func NotDelivered(r *alert.Rule, c alert.Head, notificationID, why string, at time.Time) Signal {
	return Signal{
		Rule: r, Subject: c.ID, Evidence: notificationID, At: at, Group: c.Group,
		Labels:  map[string]string{"channel": c.Name},
		Content: fmt.Sprintf("The channel %s did not take a message: %s.", c.Name, cut(strings.TrimRight(why, "."))),
		Details: map[string]string{"channel": c.Name, "channelId": c.ID, "message": cut(why)},
	}
}
