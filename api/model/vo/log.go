package vo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// LogLine is one line of a run's output.
type LogLine struct {
	// Seq counts the lines of the execution from 1.
	Seq     int64          `json:"seq"`
	Time    Time           `json:"time" format:"date-time"`
	Stream  entity.LogType `json:"stream"`
	Line    string         `json:"line"`
	Attempt int            `json:"attempt"`
	// Unfinished is true where the line ended by a carriage return alone, or has no end yet: the
	// next line of its stream and attempt takes its place.
	Unfinished bool `json:"unfinished,omitempty"`
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

// FromChunks takes the lines after a sequence number, at most limit of them, without those that
// others of them replace. more says that the store holds chunks after those given.
func FromChunks(chunks []entity.LogChunk, after int64, limit int, more bool) Logs {
	logs := Logs{Items: []LogLine{}}
	var lines []LogLine
	for _, c := range chunks {
		lines = append(lines, linesOf(c)...)
		logs.Truncated = logs.Truncated || c.Truncated
	}
	for _, line := range shown(lines) {
		if line.Seq <= after {
			continue
		}
		if len(logs.Items) == limit {
			logs.NextCursor = lastSeq(logs.Items)
			return logs
		}
		logs.Items = append(logs.Items, line)
	}
	if more {
		// The next page may hold the line that replaces an unfinished one; it begins with that one.
		for n := len(logs.Items); n > 1 && logs.Items[n-1].Unfinished; n-- {
			logs.Items = logs.Items[:n-1]
		}
		logs.NextCursor = lastSeq(logs.Items)
	}
	return logs
}

// linesOf are the lines of a chunk. Rows of former versions may hold more line breaks than
// numbers: their last number takes the rest.
func linesOf(c entity.LogChunk) []LogLine {
	var lines []LogLine
	for i, text := range strings.SplitN(c.Content, "\n", int(max(c.SeqTo-c.SeqFrom+1, 1))) {
		line := LogLine{Seq: c.SeqFrom + int64(i), Time: Time(c.CreateTime), Stream: c.Type, Attempt: c.Attempt}
		line.Line, line.Unfinished = strings.CutSuffix(text, validation.Replaced)
		lines = append(lines, line)
	}
	return lines
}

// shown leaves out the lines that a later one of their stream and attempt replaces.
func shown(lines []LogLine) []LogLine {
	type stream struct {
		of      entity.LogType
		attempt int
	}
	next := map[stream]LogLine{}
	kept := lines[:0:0]
	for _, line := range slices.Backward(lines) {
		of := stream{line.Stream, line.Attempt}
		if later, ok := next[of]; !line.Unfinished || !ok || later.Line == "" {
			kept = append(kept, line)
		}
		next[of] = line
	}
	slices.Reverse(kept)
	return kept
}

func lastSeq(items []LogLine) *string {
	if len(items) == 0 {
		return nil
	}
	return optional(strconv.FormatInt(items[len(items)-1].Seq, 10))
}
