package group

import (
	"encoding/json"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// note is how a pause stands in its column. At is the beginning of the
// pause that it belongs to: a program that knows no notes leaves those of former
// pauses where they are.
type note struct {
	At     string `json:"at"`
	Reason string `json:"reason,omitempty"`
	User   string `json:"user,omitempty"`
}

// NoteText is empty for a pause of which nothing is known.
func NoteText(at time.Time, p entity.Pause) string {
	if at.IsZero() {
		return ""
	}
	b, _ := json.Marshal(note{At: sqlvalue.TimeText(at), Reason: p.Reason, User: p.User}) // texts always marshal
	return string(b)
}

// readNote reads a note on its own.
func readNote(text string, until time.Time) (at time.Time, p entity.Pause) {
	var n note
	if json.Unmarshal([]byte(text), &n) != nil {
		return time.Time{}, p
	}
	return sqlvalue.ParseTime(n.At), entity.Pause{Reason: n.Reason, User: n.User, Until: until}
}

// PauseOf reads the note of the pause that began then. One that cannot be read
// is left out: it decides nothing.
func PauseOf(at time.Time, text string, until time.Time) entity.Pause {
	if at.IsZero() {
		return entity.Pause{}
	}
	began, p := readNote(text, until)
	if !began.Equal(at.Truncate(time.Millisecond)) {
		return entity.Pause{}
	}
	return p
}
