package remote

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Flag is a flag as data.
type Flag struct {
	Name, Short, Help string
	// Default tells the kind, too: a bool, an int, a time.Duration, a list, or else a string.
	Default any
	// As is the name of the parameter where it is another one.
	As string
	// To makes the parameter of a value that is not empty.
	To func(k *Call, in Input) (any, error)
}

// Each is the default of a list of which each part has a flag of its own.
type Each struct{}

// Commas is the default of a list whose parts may stand between commas, too.
type Commas struct{}

// Add adds the flag to others.
func (f Flag) Add(set *pflag.FlagSet) {
	switch value := f.Default.(type) {
	case bool:
		set.BoolP(f.Name, f.Short, value, f.Help)
	case int:
		set.IntP(f.Name, f.Short, value, f.Help)
	case time.Duration:
		set.DurationP(f.Name, f.Short, value, f.Help)
	case Each:
		set.StringArrayP(f.Name, f.Short, nil, f.Help)
	case Commas:
		set.StringSliceP(f.Name, f.Short, nil, f.Help)
	default:
		text, _ := value.(string)
		set.StringP(f.Name, f.Short, text, f.Help)
	}
}

// param is the parameter that a flag becomes; nil where it is left out, as zero is unless it replaces a
// default.
func (f Flag) param(k *Call) (any, error) {
	in := Input{"--" + f.Name, k.Given(f.Name)}
	if in.Text != "" && f.To != nil {
		return f.To(k, in)
	}
	var value any = in.Text
	sent := in.Text != ""
	switch zero := f.Default.(type) {
	case bool:
		value, sent = true, k.On(f.Name)
	case int:
		n := k.Number(f.Name)
		value, sent = n, n != 0 || zero != 0
	case time.Duration:
		value = k.Length(f.Name).Milliseconds()
	case Each, Commas:
		value, sent = k.Listed(f.Name), k.Changed(f.Name)
	}
	if !sent {
		value = nil
	}
	return value, nil
}

// params are the parameters of a call: its argument and its flags.
func (v Verb) params(k *Call) (map[string]any, error) {
	all := map[string]any{}
	if v.Arg != "" {
		all[v.Arg] = k.Args[0]
	}
	return all, k.Params(v.Flags, all)
}

// Params adds the parameters that flags make to others.
func (k *Call) Params(flags []Flag, all map[string]any) error {
	for _, f := range flags {
		value, err := f.param(k)
		if err != nil {
			return err
		}
		if value != nil && value != "" {
			all[cmp.Or(f.As, f.Name)] = value
		}
	}
	return nil
}

// Query are parameters as those of a URL; empty values are left out.
func Query(params map[string]any) url.Values {
	q := url.Values{}
	for name, value := range params {
		if value != "" {
			q.Set(name, fmt.Sprint(value))
		}
	}
	return q
}

// Given is the value of a flag as text; "" where the command has none of the name.
func (k *Call) Given(flag string) string {
	if f := k.Cmd.Flags().Lookup(flag); f != nil {
		return f.Value.String()
	}
	return ""
}

// Changed reports whether a flag stands on the command line.
func (k *Call) Changed(flag string) bool { return k.Cmd.Flags().Changed(flag) }

// On reports whether a flag says yes.
func (k *Call) On(flag string) bool { return k.Given(flag) == "true" }

// Number is the value of a flag with a whole number.
func (k *Call) Number(flag string) int {
	n, _ := strconv.Atoi(k.Given(flag)) // parsing has refused what is none
	return n
}

// Length is the value of a flag with a span of time.
func (k *Call) Length(flag string) time.Duration {
	d, _ := time.ParseDuration(k.Given(flag)) // parsing has refused what is none
	return d
}

// Listed are the parts of a flag with a list; none where the command has no such flag.
func (k *Call) Listed(flag string) []string {
	if f := k.Cmd.Flags().Lookup(flag); f != nil {
		if list, is := f.Value.(pflag.SliceValue); is {
			return list.GetSlice()
		}
	}
	return nil
}

// Upper sends what was given in capitals.
func Upper(_ *Call, in Input) (any, error) { return strings.ToUpper(in.Text), nil }

// JobID sends the id of the job that was named; --group says of which group.
func JobID(k *Call, in Input) (any, error) {
	j, err := k.FindJob(in.Text, k.Given("group"))
	return j.ID, err
}

// Moment sends a time that somebody typed, in the zone of what was found unless it names one.
func Moment(k *Call, in Input) (any, error) {
	at, err := k.Time(in, k.ZoneName)
	return Sent(at), err
}

// Span are --from and --to; whose tells in which zone times without one are taken.
func Span(whose string) []Flag {
	return []Flag{{
		Name: "from", To: Moment,
		Help: "first time, as `TIME` such as 2026-11-14T00:00:00Z, 2026-11-14 or 09:30; without " +
			"a zone it is taken in that of " + whose,
	}, {Name: "to", To: Moment, Help: "end, exclusive, as `TIME`"}}
}

// Pause are the flags of a pause; whose tells in which zone a time without one is taken.
func Pause(whose string) []Flag {
	return []Flag{{
		Name: "until", To: Moment,
		Help: "end the pause at this `TIME`, such as 2026-11-16T06:00:00Z or \"2026-11-16 06:00\"; " +
			"without a zone it is taken in that of " + whose,
	}, {Name: "reason", Help: "why, for people; it is shown with what is paused and in the ledger"}}
}
