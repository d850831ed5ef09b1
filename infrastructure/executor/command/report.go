package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// reportInterval is the time between two reads of the report file of a command.
const reportInterval = 500 * time.Millisecond

// The bounds of a report file, in bytes.
const (
	// maxReported is the longest checkpoint and the longest result. A result may fill the
	// store's column to the last byte.
	maxReported = 64<<10 - 1
	// maxReportLine leaves room for the word before the value.
	maxReportLine = maxReported + 32
	// maxReportRead bounds what is read in all, and maxReportStep what is read at a time while
	// the command runs.
	maxReportRead = 16 << 20
	maxReportStep = 1 << 20
	// maxReportHead is how much of the beginning shows whether the file was written anew.
	maxReportHead = 256
)

// reportFile reads what a command reports: lines that it appends to a file that this process
// made. It belongs to one goroutine.
type reportFile struct {
	file *os.File
	rep  entity.Reporter

	// offset is where the next read begins. changed is when the file was last written by then.
	// read counts the bytes that were read, also those read twice.
	offset  int64
	changed time.Time
	read    int64
	// head is the beginning of the file at the last read.
	head []byte
	// line is the beginning of a line without its end yet. skipping means that the line is too
	// long.
	line     []byte
	skipping bool

	// progress and checkpoint are not reported yet.
	progress   int
	checkpoint *string
	result     *string
	// noted means that the log already names a line that means nothing. full means that it says
	// that the rest is not read.
	noted, full bool
}

func newReportFile(file *os.File, rep entity.Reporter) *reportFile {
	return &reportFile{file: file, rep: rep, progress: -1}
}

// watch looks, until over is closed, at what the run reports, and at output that has no end of
// a line yet.
func watch(c clock.Clock, over <-chan struct{}, report *reportFile, output ...*stream) {
	timer := c.NewTimer(reportInterval)
	defer timer.Stop()
	for {
		select {
		case <-over:
			return
		case <-timer.C():
		}
		report.step(maxReportStep)
		for _, s := range output {
			s.show(c.Monotonic())
		}
		timer.Reset(reportInterval)
	}
}

// end reads the rest, and a last line without an end. Nothing writes to the file any more.
func (r *reportFile) end() (result string, given bool) {
	r.step(maxReportRead)
	if len(r.line) > 0 {
		r.take(r.line)
		r.line = nil
	}
	r.tell()
	if r.result == nil {
		return "", false
	}
	return *r.result, true
}

// step reads at most so many new bytes and reports their lines.
func (r *reportFile) step(most int64) {
	info, err := r.file.Stat()
	if err != nil || r.full {
		return
	}
	size := info.Size()
	if info.ModTime().Equal(r.changed) && size == r.offset {
		return
	}
	if size <= r.offset || !r.begins(r.head) {
		// The file was written anew instead of appended to. It does no harm to read a line twice.
		r.offset, r.line, r.skipping = 0, nil, false
	}
	r.changed = info.ModTime()
	buffer := make([]byte, min(size-r.offset, 64<<10))
	for until := min(size, r.offset+most); r.offset < until; {
		n, err := r.file.ReadAt(buffer[:min(until-r.offset, int64(len(buffer)))], r.offset)
		r.offset += int64(n)
		r.read += int64(n)
		r.split(buffer[:n])
		if r.read >= maxReportRead {
			r.full, r.line = true, nil
			r.rep.Log(entity.LogSystem, fmt.Sprintf("the report file is read no further: it holds more than %d MiB",
				maxReportRead>>20))
			break
		}
		if err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
			break
		}
	}
	r.head = make([]byte, min(r.offset, maxReportHead))
	_, _ = r.file.ReadAt(r.head, 0) // what cannot be read is different next time
	r.tell()
}

// begins reports whether the file still begins with head.
func (r *reportFile) begins(head []byte) bool {
	now := make([]byte, len(head))
	_, err := r.file.ReadAt(now, 0)
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(now, head)
}

// split cuts the bytes into lines.
func (r *reportFile) split(data []byte) {
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte("\n"))
		data = rest
		if !r.skipping {
			r.line = append(r.line, part...)
		}
		if len(r.line) > maxReportLine {
			r.wrong(r.line)
			r.line, r.skipping = nil, true
		}
		if !ended {
			return
		}
		if !r.skipping {
			r.take(r.line)
		}
		r.line, r.skipping = r.line[:0], false
	}
}

// take reads one line.
func (r *reportFile) take(line []byte) {
	text := strings.TrimSuffix(string(line), "\r")
	if strings.TrimSpace(text) == "" {
		return
	}
	word, value, _ := strings.Cut(text, " ")
	ok := false
	switch word {
	case "progress":
		var percent int
		var err error
		if percent, err = strconv.Atoi(strings.TrimSpace(value)); err == nil && percent >= 0 && percent <= 100 {
			r.progress, ok = percent, true
		}
	case "checkpoint":
		if ok = len(value) <= maxReported && utf8.ValidString(value); ok {
			r.checkpoint = &value
		}
	case "result", "output":
		value = strings.TrimSpace(value)
		if ok = len(value) <= maxReported && utf8.ValidString(value) && json.Valid([]byte(value)); ok {
			r.result = &value
		}
	}
	if !ok {
		r.wrong(line)
	}
}

// wrong logs the first line that means nothing.
func (r *reportFile) wrong(line []byte) {
	if r.noted {
		return
	}
	r.noted = true
	r.rep.Log(entity.LogSystem,
		fmt.Sprintf(`the report file holds a line that is none of "progress N" (0 to 100), "checkpoint TEXT" and "result JSON" of at most %d bytes: %q; others like it are not named`,
			maxReported, bytes.ToValidUTF8(line[:min(len(line), 80)], []byte("?"))))
}

// tell reports new values; of each kind the last one counts.
func (r *reportFile) tell() {
	if r.progress >= 0 {
		r.rep.Progress(r.progress)
		r.progress = -1
	}
	if r.checkpoint != nil {
		r.rep.Checkpoint(*r.checkpoint)
		r.checkpoint = nil
	}
}
