//go:build linux

package commands

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Beat is one line of the ledger: a process of an attempt was alive.
type Beat struct {
	Execution string
	Attempt   int
	Kind      string
	Pid       int
	At        time.Time
}

// ReadLedger reads what commands have written. A last line that is not whole
// yet is left out.
func ReadLedger(path string) ([]Beat, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(data)
	text = text[:strings.LastIndexByte(text, '\n')+1]
	var beats []Beat
	for line := range strings.Lines(text) {
		b, err := parseBeat(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("the ledger's line %q: %w", line, err)
		}
		beats = append(beats, b)
	}
	return beats, nil
}

func parseBeat(fields []string) (b Beat, err error) {
	if len(fields) != 5 {
		return b, fmt.Errorf("%d fields", len(fields))
	}
	b.Execution, b.Kind = fields[0], fields[2]
	if b.Attempt, err = strconv.Atoi(fields[1]); err != nil {
		return b, err
	}
	if b.Pid, err = strconv.Atoi(fields[3]); err != nil {
		return b, err
	}
	nanos, err := strconv.ParseInt(fields[4], 10, 64)
	b.At = time.Unix(0, nanos)
	return b, err
}

// Overlaps lists executions whose later attempt began while a process of an
// earlier one still worked.
func Overlaps(beats []Beat) []string {
	type key struct {
		execution string
		attempt   int
	}
	first, last := map[key]time.Time{}, map[key]time.Time{}
	highest := map[string]int{}
	for _, b := range beats {
		k := key{b.Execution, b.Attempt}
		if at, seen := first[k]; !seen || b.At.Before(at) {
			first[k] = b.At
		}
		if b.At.After(last[k]) {
			last[k] = b.At
		}
		highest[b.Execution] = max(highest[b.Execution], b.Attempt)
	}
	var out []string
	for execution, top := range highest {
		for attempt := 1; attempt < top; attempt++ {
			for later := attempt + 1; later <= top; later++ {
				begin, began := first[key{execution, later}]
				if end := last[key{execution, attempt}]; began && !end.Before(begin) {
					out = append(out, fmt.Sprintf("%s: attempt %d worked %s into attempt %d", execution, attempt, end.Sub(begin),
						later))
				}
			}
		}
	}
	return out
}

// Attempts counts the attempts that have worked, by execution.
func Attempts(beats []Beat) map[string]int {
	out := map[string]int{}
	for _, b := range beats {
		out[b.Execution] = max(out[b.Execution], b.Attempt)
	}
	return out
}
