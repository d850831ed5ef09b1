package cause

import (
	"regexp"
	"slices"
	"strings"
)

// strength says how surely a line names an error.
type strength int

const (
	// none: the line says nothing of an error.
	none strength = iota
	// worded: it begins with a word such as error or fatal.
	worded
	// named: it names an error or an exception by its class.
	named
	// traced: it belongs to a trace of calls, or to a panic.
	traced
)

// forget is after how many other lines a line that names an error counts no more: the program has
// gone on since.
const forget = 20

var (
	// errorClass is the name of an exception at the beginning of a line, perhaps behind a date, a level
	// and a logger: "java.io.IOException: …", "ERROR [main] TypeError: …".
	errorClass = regexp.MustCompile(
		`^(?:\S+ ){0,6}(?:[A-Za-z_][\w$]*[.\\:/]+)*[A-Za-z_]\w*(?:Error|Exception)\b(?: \[\w+\])?(?:: |:$|$)`)
	// behindClass is Ruby's form: the class stands behind the message.
	behindClass = regexp.MustCompile(`\((?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception)\)$`)
	// wordFirst is a line that a tool begins with error, perhaps behind its name or a date.
	wordFirst = regexp.MustCompile(`^(?:[\w./\\-]+: |[\w./\\:-]+:\d+: |\S*\d\S* |\[[^\]]{1,40}\] ?){0,4}` +
		`(?:\x1b\[[0-9;]*m)*\[?(?i:error|fatal(?: error)?|critical|failure|failed|abort(?:ed)?)\b(?: [A-Z]*\d+)?[^:\w]{0,12}` +
		`(?:: ?|\] ?| - |\()`)
	// headed are beginnings that name what ended the program.
	headed = regexp.MustCompile(`^(?:panic: |fatal error: |Exception in thread |Unhandled exception|` +
		`(?:PHP )?Fatal error: |(?:\S+ )*Uncaught |runtime error: |thread '.*' (?:\(\d+\) )?panicked at |` +
		`\*\* \(|terminate called after throwing |unhandledRejection)`)
	// inner are the causes inside of an exception, of which the last is the deepest.
	inner = regexp.MustCompile(`^(?:Caused by: |---> |\[cause\]: |\[errors\]: )`)
	// frames are lines of a trace that name no error.
	frames = regexp.MustCompile(`^(?:at |from |File "|goroutine \d|#\d+ |\.\.\. \d+ (?:more|common)|Suppressed: |` +
		`note: |stack backtrace:|Stack trace:|created by |exit status \d+$|\^+$|~+|--- End of |thrown in |Node\.js v|` +
		`During handling of the above|The above exception was|\(Background on this error|[{}\])]+,?$)`)
	// wrapped are lines of tools that only repeat that a command of theirs failed.
	wrapped = regexp.MustCompile(`^(?:g?make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) (?:code|errno|path|command|A complete|` +
		`\S*/_logs|This is probably|Exit status|Lifecycle|Failed at)|error Command failed with exit code|` +
		`error: Recipe |error Script )`)
)

// Finder takes the lines of an output one by one, and knows the line that names why it ended. It keeps
// two lines, however long the output is. The zero value is ready. Not safe for concurrent use.
type Finder struct {
	last, best string
	sure       strength
	// behind is how many lines have followed the best that belong to no trace.
	behind int
	// python: lines of a traceback come until its exception. rust: the next line is the message.
	python, rust bool
}

// Add takes the next line, without its end.
func (f *Finder) Add(line string) {
	text := strings.TrimSpace(line)
	if text == "" {
		return
	}
	indented := text[0] != line[0]
	f.last = text
	bare := strings.TrimLeft(text, "|+- ") // groups of exceptions have a margin
	if strings.HasPrefix(bare, "Traceback (most recent call last)") ||
		strings.HasPrefix(bare, "Exception Group Traceback") ||
		strings.HasSuffix(text, "Traceback (most recent call last):") {
		f.python, f.rust = true, false
		f.keep("", none)
		return
	}
	switch {
	case f.rust:
		f.rust = false
		if !frames.MatchString(text) {
			f.keep(text, traced)
			return
		}
	case f.python && !indented && !strings.HasPrefix(bare, `File "`):
		f.python = false
		f.keep(bare, traced)
		return
	case f.python:
		return
	}
	f.weigh(text, indented)
}

// mentions are parts of each line that names an error. Most lines of most programs have none, and cost no
// more than this look.
var mentions = []string{
	"rror", "xception", "atal", "anic", "RROR", "FATAL", "aused", "cause]", "--->", "ncaught", "ritical", "ailure",
	"ailed", "FAIL", "bort", "CRITICAL", "ABORT", "** (", "terminate", "unhandled",
}

// longLine is how much of a line is judged, in bytes.
const longLine = 1 << 10

func hinted(text string) bool {
	return slices.ContainsFunc(mentions, func(hint string) bool { return strings.Contains(text, hint) })
}

// weigh judges a line outside of a traceback of Python.
func (f *Finder) weigh(whole string, indented bool) {
	text := whole[:min(len(whole), longLine)]
	if !hinted(text) {
		if f.sure > none && !indented && !frames.MatchString(text) {
			f.other()
		}
		return
	}
	switch {
	case inner.MatchString(text):
		f.keep(inner.ReplaceAllString(whole, ""), traced)
	case headed.MatchString(text):
		// A panic of Rust has its message on the next line, unless it stands in quotes.
		f.rust = strings.HasPrefix(text, "thread '") && strings.HasSuffix(text, ":")
		f.keep(whole, traced)
	case frames.MatchString(text), indented && f.sure > none:
	case !indented && (errorClass.MatchString(text) || behindClass.MatchString(text)):
		f.at(whole, named)
	case !wrapped.MatchString(text) && wordFirst.MatchString(text):
		f.at(whole, worded)
	default:
		f.other()
	}
}

// at keeps a line unless a surer one is near.
func (f *Finder) at(text string, sure strength) {
	if sure < f.sure {
		f.other()
		return
	}
	f.keep(text, sure)
}

func (f *Finder) keep(text string, sure strength) { f.best, f.sure, f.behind = text, sure, 0 }

func (f *Finder) other() {
	if f.behind++; f.behind > forget {
		f.keep("", none)
	}
}

// Line is the line that names the error or the exception, else the last one that is not empty.
func (f *Finder) Line() string {
	if f.best != "" {
		return f.best
	}
	return f.last
}

// Line is that of a whole text; see Finder.
func Line(text string) string {
	var f Finder
	for line := range strings.Lines(text) {
		f.Add(strings.TrimRight(line, "\r\n"))
	}
	return f.Line()
}
