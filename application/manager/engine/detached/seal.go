package detached

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Sealer encrypts values, each bound to a name.
type Sealer interface {
	Seal(name, value string) (keyID string, sealed []byte, err error)
	// Open fails for a value that a key has sealed which this node does not have.
	Open(name, keyID string, sealed []byte) (string, error)
}

// maxSealed bounds the values that are kept of one attempt, in bytes. Of one that
// opened more, nothing that its target says can be shown.
const maxSealed = 1 << 20

// sealedFor is the name to which the values of an attempt are bound. No secret is
// named like that: a name has no slash.
func sealedFor(t *entity.RunToken) string { return fmt.Sprintf("run/%s/%d", t.ExecutionID, t.Attempt) }

// seal keeps with the token the values that the attempt has opened: whatever
// becomes of the secrets meanwhile, these are what its target may repeat.
func seal(s Sealer, t *entity.RunToken, secrets map[string]string) error {
	size := 0
	values := make([][]byte, 0, len(secrets))
	for _, value := range slices.Sorted(maps.Values(secrets)) {
		values = append(values, []byte(value))
		size += len(value)
	}
	if size == 0 || size > maxSealed {
		return nil
	}
	text, err := json.Marshal(values)
	if err == nil {
		t.KeyID, t.Sealed, err = s.Seal(sealedFor(t), string(text))
	}
	if err != nil {
		return fmt.Errorf("keep what is to be hidden in reports: %w", err)
	}
	return nil
}

// opened are the values that the attempt of a token has opened.
func (m *Manager) opened(t *entity.RunToken) (values []string, err error) {
	if len(t.Sealed) == 0 {
		return nil, fmt.Errorf("their values were not kept: they have more than %d bytes, or an earlier build began the run",
			maxSealed)
	}
	text, err := m.Sealer.Open(sealedFor(t), t.KeyID, t.Sealed)
	if err != nil {
		return nil, err
	}
	var raw [][]byte
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("read them: %w", err)
	}
	for _, value := range raw {
		values = append(values, string(value))
	}
	return values, nil
}

// hiding is what keeps the secrets of an attempt out of texts. Where this node cannot open them no text is shown: the
// end of a run is worth more than what was said about it, and another node may lack the key as well.
func (m *Manager) hiding(t *entity.RunToken) redact.Hiding {
	if len(t.Secrets) == 0 {
		return redact.Hiding{}
	}
	values, err := m.opened(t)
	if err != nil {
		m.Logger.Warn("the texts of a report are withheld: the secrets of its run cannot be opened here, so they cannot "+
			"be hidden",
			"execution", t.ExecutionID, "attempt", t.Attempt, "secrets", strings.Join(t.Secrets, ", "), "error", err)
		return redact.Withhold()
	}
	return redact.Hide(values)
}

// Hidings are what keeps secrets out of what is said of attempts that have opened some, by execution; of the attempts
// that the executions are at.
func (m *Manager) Hidings(ctx context.Context, execs []*entity.Execution) (map[string]redact.Hiding, error) {
	ids := make([]string, len(execs))
	attempts := make(map[string]int, len(execs))
	for i, e := range execs {
		ids[i], attempts[e.ID] = e.ID, e.Attempt
	}
	tokens, err := m.Tokens.RunTokensOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read which secrets attempts have opened: %w", err)
	}
	out := map[string]redact.Hiding{}
	for i := range tokens {
		if t := &tokens[i]; t.Attempt == attempts[t.ExecutionID] && len(t.Secrets) > 0 {
			out[t.ExecutionID] = m.hiding(t)
		}
	}
	return out, nil
}

// redacted is a report without the secrets of its attempt.
func (m *Manager) redacted(t *entity.RunToken, r entity.RunReport) entity.RunReport {
	h := m.hiding(t)
	lines := convert.All(r.Lines, h.Text)
	r.Message, r.Result, r.Lines = h.Text(r.Message), h.Text(r.Result), lines
	switch {
	case r.Checkpoint == nil:
	case h.Unknown:
		r.Checkpoint = nil // the next attempt goes on better from the former one
	default:
		state := h.Text(*r.Checkpoint)
		r.Checkpoint = &state
	}
	return r
}
