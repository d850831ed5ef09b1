package remote

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote/answer"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// Completion offers arguments to a shell.
type Completion func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// Verb is a command as data: how it is called, which call of the API it makes, and how it shows the answer.
type Verb struct {
	Use, Short, Long string
	// Example holds command lines without the name of the program; Piped is one that begins with another
	// program.
	Example string
	Piped   string
	Aliases []string
	// Offers is the list whose names complete an argument; Complete does it in another way.
	Offers   string
	Complete Completion
	// Args is nil where Use says how many there are.
	Args cobra.PositionalArgs
	// Flags become parameters of the call: in the query of a GET, else in the body. The code of the command
	// reads its Own.
	Flags, Own []Flag
	// Arg is the parameter that the first argument becomes; most calls have it in their path instead.
	Arg string

	// Method and Path are those of the call, a GET by default. In the path {0} stands for the first
	// argument, {id} for the id of what Find found.
	Method, Path string
	// Span adds --from and --to, and says in whose zone they are taken without one.
	Span string
	// Paged adds --limit and --cursor; Limit is the default, where 0 is all.
	Paged bool
	Limit int
	// Ask is the question before the call; AskIf is nil where it is always asked. Asks is for a Run that
	// asks itself.
	Ask   string
	AskIf func(k *Call) bool
	Asks  bool
	// Every makes the call for each argument, one by one.
	Every bool
	// Several is the path of the action on as many objects as there are arguments; AskSeveral is its question.
	Several, AskSeveral string

	// Local calls no API, or one that Run chooses.
	Local bool
	// Connect signs in where a token does not do; end signs out.
	Connect func(k *Call) (end func(), err error)
	// Stream copies an answer that is no JSON.
	Stream bool
	// Instead reports whether it has done in another way what follows.
	Instead func(k *Call) (bool, error)
	// Check refuses flags before anybody is asked; Find finds what the argument names.
	Check, Find func(k *Call) error
	// Query and Body change the parameters that arguments and flags make.
	Query func(k *Call, q url.Values) error
	Body  func(k *Call, params map[string]any) (any, error)

	// People get the columns of a list, the fields of an object, the sentence Each about each item, the
	// sentence Done, or what Show or Then prints.
	Columns, Fields, Each, Done string
	Words                       Words
	Show                        func(k *Call, o Object)
	Then                        func(k *Call, o Object) error
	// Watch reports whether Then prints for programs, too, what becomes of the call.
	Watch func(k *Call) bool
	// Run does what is more than one call; the rest of the answer is then its own.
	Run func(k *Call) error
}

// Commands makes commands of verbs.
func (s *Session) Commands(verbs ...Verb) []*cobra.Command {
	return convert.All(verbs, s.Command)
}

// Parent makes a command that holds those of verbs. They share its words, whether
// they call the API and, where they have an argument, what completes it.
func (s *Session) Parent(of Verb, verbs ...Verb) *cobra.Command {
	verbs = slices.Clone(verbs)
	for i, v := range verbs {
		if v.Words == nil {
			verbs[i].Words = of.Words
		}
		verbs[i].Local = v.Local || of.Local
		if v.Offers == "" && strings.Contains(v.Use, " ") {
			verbs[i].Offers = of.Offers
		}
	}
	c := usage.Parent(&cobra.Command{
		Use: of.Use, Short: of.Short, Long: of.Long, Example: lines(of.Example) + of.Piped,
	})
	c.AddCommand(s.Commands(verbs...)...)
	return c
}

// Command makes the command of a verb.
func (s *Session) Command(v Verb) *cobra.Command {
	k := &Call{Session: s, Words: v.Words, Question: &terminal.Question{}}
	c := &cobra.Command{
		Use: v.Use, Short: v.Short, Long: v.Long, Example: lines(v.Example) + v.Piped, Aliases: v.Aliases,
		Args: usage.Args(v.Args), ValidArgsFunction: v.Complete,
	}
	if v.Offers != "" {
		c.ValidArgsFunction = s.Names(v.Offers, v.Several != "")
	}
	if v.Args == nil {
		c.Args = usage.Args(arguments(v.Use))
	}
	if v.Span != "" {
		v.Flags = append(Span(v.Span), v.Flags...)
	}
	for _, f := range slices.Concat(v.Flags, v.Own) {
		f.Add(c.Flags())
	}
	if v.Paged {
		c.Flags().IntVar(&k.limit, "limit", v.Limit, "the largest number of items; 0 for all")
		c.Flags().StringVar(&k.cursor, "cursor", "", "continue after the list that ended with this nextCursor")
	}
	if v.Ask != "" || v.Asks {
		k.Question.Flag(c.Flags())
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		k.Cmd, k.Args = c, args
		return v.run(k)
	}
	return c
}

// lines are command lines with the name of the program.
func lines(example string) string {
	if example == "" {
		return ""
	}
	return "  platform-scheduler " + strings.ReplaceAll(example, "\n", "\n  platform-scheduler ")
}

// arguments counts those of a usage line: NAME, [NAME] and NAME….
func arguments(use string) cobra.PositionalArgs {
	least, most, many := 0, 0, false
	for _, word := range strings.Fields(use)[1:] {
		most++
		if !strings.HasPrefix(word, "[") {
			least++
		}
		many = many || strings.Contains(word, "…")
	}
	switch {
	case most == 0:
		return cobra.NoArgs
	case many:
		return cobra.MinimumNArgs(least)
	case least == most:
		return cobra.ExactArgs(most)
	case least == 0:
		return cobra.MaximumNArgs(most)
	}
	return cobra.RangeArgs(least, most)
}

func (v Verb) run(k *Call) (err error) {
	if v.Check != nil {
		if err := v.Check(k); err != nil {
			return err
		}
	}
	if v.Several != "" && len(k.Args) > 1 {
		return v.several(k)
	}
	if v.Local {
		err = k.Check()
	} else if v.Connect != nil {
		end, err := v.Connect(k)
		if err != nil {
			return err
		}
		defer end()
	} else {
		k.API, err = k.Client()
	}
	if err != nil {
		return err
	}
	if v.Find != nil {
		if err := v.Find(k); err != nil {
			return err
		}
	}
	if v.Instead != nil {
		if done, err := v.Instead(k); done {
			return err
		}
	}
	if v.Ask != "" && (v.AskIf == nil || v.AskIf(k)) {
		if err := k.Ask("%s", k.Sentence(v.Ask, nil)); err != nil {
			return err
		}
	}
	if v.Run != nil {
		return v.Run(k)
	}
	for ; v.Every && len(k.Args) > 1; k.Args = k.Args[1:] {
		if err := v.call(k); err != nil {
			return err
		}
	}
	return v.call(k)
}

// call makes the one call of a verb.
func (v Verb) call(k *Call) error {
	params, err := v.params(k)
	if err != nil {
		return err
	}
	var query url.Values
	var body any
	switch {
	case v.Method == "":
		query = Query(params)
		if v.Query != nil {
			err = v.Query(k, query)
		}
	case v.Body != nil:
		body, err = v.Body(k, params)
	case v.Arg != "" || len(v.Flags) > 0:
		body = params
	}
	path := k.Path(v.Path)
	switch {
	case err != nil:
	case v.Stream:
		return k.Export(path, query, k.Out)
	case v.Paged:
		k.Answer, _, err = k.Pages(path, query)
	default:
		err = k.API.Call(k.Cmd.Context(), cmp.Or(v.Method, "GET"), path, query, body, &k.Answer)
	}
	if err != nil {
		return err
	}
	if !k.ForPeople() && (v.Watch == nil || !v.Watch(k)) {
		k.Raw(k.Answer)
		return nil
	}
	o, err := answer.Decode(k.Answer)
	if err == nil && v.Then != nil {
		return v.Then(k, o)
	}
	if err == nil {
		v.show(k, o)
	}
	return err
}

// several makes the call for all arguments.
func (v Verb) several(k *Call) error {
	params, err := v.params(k)
	if err != nil {
		return err
	}
	b := Bulk{Path: v.Several, Body: params, IDs: k.Args, Titles: map[string]string{}}
	if k.API, err = k.Client(); err != nil {
		return err
	}
	if v.Find != nil {
		b.IDs = nil
		for _, name := range slices.Clone(k.Args) {
			k.Args = []string{name}
			if err := v.Find(k); err != nil {
				return err
			}
			if b.Titles[k.ID] == "" {
				b.Titles[k.ID] = k.Title
				b.IDs = append(b.IDs, k.ID)
			}
		}
	}
	if v.AskSeveral != "" {
		if err := k.Ask(v.AskSeveral, len(b.IDs)); err != nil {
			return err
		}
	}
	return b.Do(k)
}

func (v Verb) show(k *Call, o Object) {
	switch {
	case v.Show != nil:
		v.Show(k, o)
	case v.Columns != "":
		k.Table(v.Columns, o.List("items"))
	case v.Fields != "":
		k.Describe(v.Fields, o)
	case v.Each != "":
		k.Each(v.Each, o.List("items"))
	}
	if v.Done != "" {
		k.Finish(v.Done, o)
	}
}
