// Package logging sets up structured logs: text for people on a terminal, JSON for machines.
// They hold no secrets, and no control characters that could forge a line or control a
// terminal.
package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// The formats.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// New returns a logger that writes to w, and the variable of its level. Format is text, json or
// empty: text if w is a terminal, otherwise json. Level is debug, info, warn or error. The
// logger is safe for concurrent use if w is.
func New(w io.Writer, format, level string) (*slog.Logger, *slog.LevelVar, error) {
	var l slog.LevelVar
	if err := l.UnmarshalText([]byte(strings.ToUpper(level))); err != nil {
		return nil, nil, fmt.Errorf("set the log level to %q: %w", level, err)
	}
	terminal := isTerminal(w)
	var inner slog.Handler
	switch chosen(w, format) {
	case FormatText:
		inner = tint.NewTextHandler(w, &tint.Options{
			Level: &l, TimeFormat: "2006-01-02T15:04:05.000Z07:00",
			NoColor: !terminal,
		})
	case FormatJSON:
		inner = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: &l})
	default:
		return nil, nil, fmt.Errorf("the log format %q is neither %s nor %s", format, FormatText, FormatJSON)
	}
	return slog.New(NewRedactor(inner)), &l, nil
}

// IsJSON reports whether a logger with this writer and format writes JSON.
func IsJSON(w io.Writer, format string) bool { return chosen(w, format) == FormatJSON }

// chosen returns the format; an empty one becomes what suits the writer.
func chosen(w io.Writer, format string) string {
	switch {
	case format != "":
		return format
	case isTerminal(w):
		return FormatText
	}
	return FormatJSON
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
