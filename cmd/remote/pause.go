package remote

import (
	"strings"

	"github.com/spf13/cobra"
)

// PauseState is what is known of a pause.
type PauseState struct {
	PausedAt    *string `json:"pausedAt"`
	PausedUntil *string `json:"pausedUntil"`
	PauseReason string  `json:"pauseReason"`
	PauseUser   string  `json:"pauseUser"`
}

// Words say who paused, until when, and why; "" where nothing is known.
func (p PauseState) Words(s *Session) string {
	var parts []string
	if p.PausedAt != nil {
		parts = append(parts, "since "+s.Moment(p.PausedAt))
	}
	if p.PauseUser != "" {
		parts = append(parts, "by "+p.PauseUser)
	}
	if p.PausedUntil != nil {
		parts = append(parts, "until "+s.Moment(p.PausedUntil))
	}
	text := strings.Join(parts, " ")
	if p.PauseReason != "" {
		text = strings.TrimPrefix(text+": "+p.PauseReason, ": ")
	}
	return text
}

// PauseFlags are the flags of a pause.
type PauseFlags struct{ reason, until string }

// Add adds the flags to a command; whose zone holds for a time without one.
func (p *PauseFlags) Add(c *cobra.Command, whose string) {
	c.Flags().StringVar(&p.reason, "reason", "", "why, for people; it is shown with what is paused and in the ledger")
	c.Flags().StringVar(&p.until, "until", "",
		"end the pause at this `TIME`, such as 2026-11-16T06:00:00Z or \"2026-11-16 06:00\"; without a zone it is taken in "+
			"that of "+whose)
}

// Body is the body of the call; it is empty where no flag is given.
func (p *PauseFlags) Body(s *Session, zoneName string) (map[string]any, error) {
	until, err := s.Time(Input{Flag: "--until", Text: p.until}, zoneName)
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	if p.reason != "" {
		body["reason"] = p.reason
	}
	if !until.IsZero() {
		body["until"] = Sent(until)
	}
	return body, nil
}

// PauseOrResume pauses or resumes a group, or every job.
func PauseOrResume(s *Session, c *cobra.Command, path, what, whom string, p PauseFlags) error {
	body, err := p.Body(s, "")
	if err != nil {
		return err
	}
	type group struct {
		Settled bool `json:"settled"`
	}
	return Send(s, c, "POST", path+"/"+what, nil, body, func(answer group) error {
		rest := ""
		if !answer.Settled {
			rest = "; its last jobs follow shortly"
		}
		return s.Line("%sd %s%s", what, whom, rest)
	})
}

// GroupPath is the address of a group.
func GroupPath(name string) string { return "/groups/" + Segment(name) }
