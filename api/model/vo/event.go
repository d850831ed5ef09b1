package vo

import (
	"encoding/json"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// KeepAlive is a comment in a stream of events: it keeps proxies from closing it.
const KeepAlive = ": keep-alive\n\n"

// LineEvent is a line of a log as a server-sent event.
func LineEvent(l LogLine) (string, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return "id: " + strconv.FormatInt(l.Seq, 10) + "\nevent: line\ndata: " + string(data) + "\n\n", nil
}

// EndEvent says that a run is final and that no line follows.
func EndEvent(status entity.Status) string {
	return `event: end` + "\n" + `data: {"status":"` + string(status) + `"}` + "\n\n"
}

// ChangedEvent says which topics have changed. seq is the number of the look that found the
// last change.
func ChangedEvent(topics []string, seq int64) string {
	data, _ := json.Marshal(topics) // a slice of strings always marshals
	return "event: changed\ndata: {\"topics\":" + string(data) + ",\"seq\":" + strconv.FormatInt(seq, 10) + "}\n\n"
}
