// Package alerting holds the rules of alerting as pure functions: what is evidence for an
// alert, what evidence does to an episode, and where the alert is told. It knows no store
// and no clock, so that a dry run over the past asks the same functions.
package alerting

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
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
	Labels      map[string]string
	// Content is a sentence, and Details its numbers.
	Content string
	Details map[string]string
}

// Fingerprint names what the alert is about. It is frozen: every node computes the same.
func (s *Signal) Fingerprint() string { return hash("alert", s.Rule.ID, s.Subject) }

// EpisodeID is the id of the episode that the evidence opens. It begins with the moment of
// the evidence, so that the newest episode of a fingerprint has the greatest id.
func (s *Signal) EpisodeID() string {
	return identity.ExecutionID(s.At, s.Fingerprint(), s.Evidence, 0)
}

// hash is 128 bits over texts, in hexadecimal digits. No two lists of texts run together.
func hash(texts ...string) string {
	var b []byte
	for _, text := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// labels are those of the job or the node, those of the rule, and what every alert has.
func (s *Signal) labels() map[string]string {
	out := maps.Clone(s.Labels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, s.Rule.Labels)
	out["alertname"], out["severity"] = string(s.Rule.Type), string(s.Rule.Level)
	for name, value := range map[string]string{"group": s.Group, "node": s.NodeID, "rule": s.Rule.Name} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}
