// Package remote holds what the commands share that call the REST API. It knows the server and the
// token, how times are read and shown, and how objects are found.
package remote

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/answer"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/target"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Session is what one call of the command line shares. It belongs to one goroutine.
type Session struct {
	output.Printer
	target.Choice
	Err   io.Writer
	Clock clock.Clock
	utc   bool
}

// New makes a session.
func New(out, errOut io.Writer, environ []string, c clock.Clock) *Session {
	return &Session{Printer: output.Printer{Out: out}, Err: errOut, Choice: target.Choice{Environ: environ}, Clock: c}
}

// Flags adds to a command the flags that all of these have.
func (s *Session) Flags(c *cobra.Command) *cobra.Command {
	f := c.PersistentFlags()
	s.Choice.Flags(f)
	f.BoolVar(&s.utc, "utc", false, "show times in UTC")
	s.Flag(c)
	return c
}

// Notef prints a note for people beside the output.
func (s *Session) Notef(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Err, format+"\n", args...)
}

// Client speaks to the server that flags, environment or context name.
func (s *Session) Client() (*client.Client, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.Choice.Client()
}

// Segment is a name or an id as one segment of a path.
func Segment(name string) string { return url.PathEscape(name) }

// ReadFile reads a file, or standard input, which - stands for.
func ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// Secret reads a password or another secret from a file, without the line's end.
func Secret(file string) (string, error) {
	data, err := ReadFile(file)
	return strings.TrimRight(string(data), "\r\n"), err
}

// Password reads a password from the file that a flag names, or asks for it without showing it.
func (k *Call) Password(flag, who string) (string, error) {
	if file := k.Given(flag); file != "" {
		return Secret(file)
	}
	return terminal.Unseen(k.Err, who, "--"+flag)
}

// Call is one run of a verb.
type Call struct {
	*Session
	Cmd   *cobra.Command
	API   *client.Client
	Args  []string
	Words Words
	// ID and Title are those of what Find found; ZoneName is its zone, Base the path for which {base} stands.
	ID, Title, ZoneName, Base string
	// Found is what Find found, Answer the latest one of the API.
	Found  Object
	Answer json.RawMessage
	// Secret is what Check has read from a file, or asked for.
	Secret string
	Job    Job
	// Question asks before what cannot be taken back.
	Question *terminal.Question
	limit    int
	cursor   string
}

// Location is the zone of what Find found, else that of this machine.
func (k *Call) Location() *time.Location { return k.Zone(k.ZoneName) }

// Finish says what was done, and before it what the server warns of. Programs get the answer.
func (k *Call) Finish(done string, o Object) {
	if !k.ForPeople() {
		k.Raw(k.Answer)
		return
	}
	for _, w := range o.List("warnings") {
		k.Notef("warning: %s: %s", w.Text("field"), w.Text("message"))
	}
	k.Say(done, o)
}

// Ask asks before what cannot be taken back, unless what the question is about could not be printed.
func (k *Call) Ask(format string, args ...any) error {
	if err := k.Failed(); err != nil {
		return err
	}
	return k.Question.Ask(k.Err, format, args...)
}

// Insist asks as Ask does, and wants --yes where there is no terminal.
func (k *Call) Insist(format string, args ...any) error {
	if err := k.Failed(); err != nil {
		return err
	}
	return k.Question.Insist(k.Err, format, args...)
}

// Export copies an answer that is no JSON.
func (k *Call) Export(path string, query url.Values, to io.Writer) error {
	from, err := k.API.Stream(k.Cmd.Context(), path+"?"+query.Encode(), "")
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("the export broke off: %w", err)
	}
	return nil
}

// Path fills the blanks of a path.
func (k *Call) Path(text string) string {
	for i, arg := range k.Args {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), Segment(arg))
	}
	return strings.NewReplacer("{id}", Segment(k.ID), "{base}", k.Base).Replace(text)
}

// Pages reads a list from --cursor on, to --limit.
func (k *Call) Pages(path string, query url.Values) (answer json.RawMessage, items []json.RawMessage, err error) {
	if query == nil {
		query = url.Values{}
	}
	if k.cursor != "" {
		query.Set("cursor", k.cursor)
	}
	return k.API.Pages(k.Cmd.Context(), path, query, k.limit)
}

// Do makes a call of a path with blanks, keeps its answer and reads it.
func (k *Call) Do(method, path string, body any) (Object, error) {
	if err := k.API.Call(k.Cmd.Context(), method, k.Path(path), nil, body, &k.Answer); err != nil {
		return nil, err
	}
	return answer.Decode(k.Answer)
}

// Written is a field of the answer as it was written, with its names in their order.
func (k *Call) Written(field string) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(k.Answer, &fields) // it was read before
	return fields[field]
}

// Get reads an object.
func (k *Call) Get(path string, query url.Values) (o Object, err error) {
	err = k.API.Call(k.Cmd.Context(), "GET", path, query, nil, &o)
	return o, err
}

// zoned are moments in the zone of what was found.
func (k *Call) zoned(moments []string) []string {
	for i, text := range moments {
		moments[i] = In(k.Location(), text)
	}
	return moments
}

// At is the time that a flag names, in a zone unless it names one; the zero time where the flag is not given.
func (k *Call) At(flag, zoneName string) (time.Time, error) {
	return k.Time(Input{Flag: "--" + flag, Text: k.Given(flag)}, zoneName)
}

// Times prints moments, each on a line, in the zone of what was found.
func (k *Call) Times(moments []string) { k.Lines(k.zoned(moments)) }
