package history

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// AnswerMark begins what the target says when it refuses, see Mark.
const AnswerMark = "this was attempt "

// Mark is what the target says when it refuses an attempt.
func Mark(attempt int) string { return fmt.Sprintf("%s%d.", AnswerMark, attempt) }

// OutputLines is what an attempt of a command puts out, see Job.Lines.
func OutputLines(attempt int) []string {
	lines := make([]string, 3)
	for i := range lines {
		lines[i] = fmt.Sprintf("attempt %d line %d", attempt, i+1)
	}
	return lines
}

// ReadCommands reads what commands have written. A command without an end was
// cut when it was last seen alive. A last line that is not whole is left out.
func ReadCommands(ledger string) ([]Call, error) {
	data, err := os.ReadFile(ledger)
	if err != nil {
		return nil, err
	}
	type attempt struct {
		execution string
		number    int
		begun     int
	}
	var order []*Call
	open := map[attempt]*Call{}
	begun := map[attempt]int{}
	text := string(data)
	for line := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		c, word, err := parseCommand(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("the ledger's line %q: %w", line, err)
		}
		id := attempt{execution: c.Execution, number: c.Attempt}
		if word == "begin" { // twice is another call, which the checker finds
			begun[id]++
			c.Answer = AnswerCut
			order = append(order, &c)
			open[attempt{c.Execution, c.Attempt, begun[id]}] = &c
			continue
		}
		id.begun = begun[id]
		if former := open[id]; former != nil {
			former.End = c.Start
			if word == "end" {
				former.Answer = AnswerOK
			}
		}
	}
	calls := make([]Call, len(order))
	for i, c := range order {
		calls[i] = *c
	}
	return calls, nil
}

func parseCommand(f []string) (c Call, word string, err error) {
	if len(f) != 7 {
		return c, "", fmt.Errorf("%d fields", len(f))
	}
	c.Execution, c.Job, word = f[0], f[1], f[5]
	if c.Attempt, err = strconv.Atoi(f[2]); err != nil {
		return c, "", err
	}
	if c.Shard, err = strconv.Atoi(f[3]); err != nil {
		return c, "", err
	}
	if c.Token, err = strconv.ParseInt(f[4], 10, 64); err != nil {
		return c, "", err
	}
	micros, err := strconv.ParseInt(strings.Replace(f[6], ".", "", 1), 10, 64)
	c.Start = time.UnixMicro(micros)
	c.End = c.Start
	return c, word, err
}
