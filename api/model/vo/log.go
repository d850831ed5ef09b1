package vo

import (
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// LogLine is one line of a run's output.
type LogLine struct {
	// Seq counts the lines of the execution from 1.
	Seq     int64          `json:"seq"`
	Time    Time           `json:"time" format:"date-time"`
	Stream  entity.LogType `json:"stream"`
	Line    string         `json:"line"`
	Attempt int            `json:"attempt"`
}

// Logs is one page of a run's output.
type Logs struct {
	Items []LogLine `json:"items"`
	// NextCursor is the last seq of the page while there is more, else null.
	// Any seq may be sent as a cursor, to follow a run that is not over.
	NextCursor *string `json:"nextCursor" extensions:"x-nullable"`
	// Truncated: the output reached its cap, and lines after it were cut.
	Truncated bool `json:"truncated"`
}

// FromChunks takes the lines after a sequence number, at most limit of them.
// more says that the store holds chunks after those given.
func FromChunks(chunks []entity.LogChunk, after int64, limit int, more bool) Logs {
	logs := Logs{Items: []LogLine{}}
	for _, c := range chunks {
		seq := c.SeqFrom
		for line := range strings.SplitSeq(c.Content, "\n") {
			if seq > c.SeqTo {
				break
			}
			if seq > after {
				if len(logs.Items) == limit {
					logs.NextCursor = lastSeq(logs.Items)
					return logs
				}
				logs.Items = append(logs.Items, LogLine{
					Seq: seq, Time: Time(c.CreateTime), Stream: c.Type, Line: line,
					Attempt: c.Attempt,
				})
			}
			seq++
		}
		logs.Truncated = logs.Truncated || c.Truncated
	}
	if more {
		logs.NextCursor = lastSeq(logs.Items)
	}
	return logs
}

func lastSeq(items []LogLine) *string {
	if len(items) == 0 {
		return nil
	}
	return optional(strconv.FormatInt(items[len(items)-1].Seq, 10))
}
