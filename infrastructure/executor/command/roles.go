package command

import "strings"

// argRole is how the programs of a command use an argument.
type argRole int

const (
	// asData: text that no program of the command reads as code.
	asData argRole = iota
	// asFile: it names a file of code.
	asFile
	// asCode: it is code or holds some, or names a program that is started.
	asCode
)

// rolesOf returns the role of each argument of a command. It follows programs that
// start others. It also finds the code of a known interpreter behind any other program,
// such as that of sh in "kubectl exec POD -- sh -c CODE".
func rolesOf(argv []string) []argRole {
	r := reading{table: languages(), argv: argv, roles: make([]argRole, len(argv))}
	r.mark(0, asCode)
	for i := r.follow(0); i < len(argv); i++ {
		if l, known := languageOf(r.table, argv[i]); known && (l.operand == isFile || l.operand == isCode) {
			r.options(l, i+1, false)
		}
	}
	return r.roles
}

type reading struct {
	table map[string]language
	argv  []string
	roles []argRole
}

func (r *reading) mark(i int, p argRole) {
	if i < len(r.roles) {
		r.roles[i] = max(r.roles[i], p)
	}
}

// follow reads the arguments of the program at an index, and of the program that this
// one starts. It returns the index behind what it understood.
func (r *reading) follow(at int) int {
	if at >= len(r.argv) {
		return at
	}
	l, known := languageOf(r.table, r.argv[at])
	if !known {
		return at + 1
	}
	i, given := r.options(l, at+1, true)
	for l.operand == isSetting && i < len(r.argv) && strings.Contains(plainStart(r.argv[i]), "=") {
		i++
	}
	i += l.before
	switch {
	case l.operand == isProgram && i < len(r.argv) && strings.HasPrefix(r.argv[i], "-") && l.option(r.argv[i]).code:
		r.mark(i+1, asCode) // flock takes it behind its file
		return i + 2
	case l.operand == isProgram, l.operand == isSetting:
		r.mark(i, asCode)
		return r.follow(i)
	case given:
		return i
	case l.operand == isFile:
		r.mark(i, asFile)
	case l.operand == isCode:
		r.mark(i, asCode)
	case l.operand == isLine:
		for ; i < len(r.argv); i++ {
			r.mark(i, asCode)
		}
	}
	return i + 1
}

// options reads the options of a program from an index on. It returns the index
// of the first operand, and whether an option has given the code. Where it is
// not sure that this is a program, only code is marked.
func (r *reading) options(l language, i int, sure bool) (operand int, given bool) {
	for ; i < len(r.argv); i++ {
		arg := r.argv[i]
		switch {
		case len(arg) >= 2 && arg != "--" && (arg[0] == '-' || arg[0] == '+' && l.shell):
		case l.anywhere:
			continue
		case arg == "--":
			return r.endOptions(l, i+1, given)
		default:
			return r.endOptions(l, i, given)
		}
		o := l.option(arg)
		given = given || o.code || o.file
		if p := o.role(sure); p > asData && !o.gathered {
			r.mark(i, asCode) // the option itself, with what may be attached
			if o.values > 0 {
				r.mark(i+1, p)
			}
		}
		if i += o.values; o.final {
			return i + 1, true
		}
	}
	return r.endOptions(l, i, given)
}

// endOptions takes what the options of a shell have announced.
func (r *reading) endOptions(l language, i int, given bool) (operand int, code bool) {
	if given && l.shell {
		r.mark(i, asCode)
		i++
	}
	return i, given
}

// option is what one argument that begins with - says.
type option struct {
	// code: its value is code; file: it names some; gathered: the value is the
	// first operand. final: nothing behind it is an option.
	code, file, gathered, final bool
	// data: its value may be any text.
	data bool
	// values is how many of the arguments behind it are its own.
	values int
}

// role is how a program uses an option and its value. Only of a program that surely is
// one, the other options count: they change how it reads what follows.
func (o option) role(sure bool) argRole {
	switch {
	case o.code, sure && !o.data && !o.file:
		return asCode
	case o.file && sure:
		return asFile
	}
	return asData
}

func (l language) option(arg string) option {
	if word, long := strings.CutPrefix(arg, "--"); long {
		return l.longOption(word)
	}
	letters := arg[1:]
	if l.shell {
		gathers := arg[0] == '-' && strings.Contains(letters, "c")
		return option{values: strings.Count(letters, "o") + strings.Count(letters, "O"), code: gathers, gathered: gathers}
	}
	for i := range len(letters) {
		c, behind := letters[i:i+1], letters[i+1:]
		o := option{code: strings.Contains(l.code, c), file: strings.Contains(l.file, c), data: strings.Contains(l.data, c), final: strings.Contains(l.final, c)}
		switch {
		case o.code, o.file, strings.Contains(l.value, c):
			// Else the value stands behind the letter. Letters of code may be gathered.
			if strings.Trim(behind, l.code) == "" {
				o.values = 1
			}
			return o
		case strings.Contains(l.rest, c):
			return option{}
		}
	}
	return option{}
}

func (l language) longOption(word string) option {
	name, _, attached := strings.Cut(word, "=")
	values := 1
	if attached {
		values = 0
	}
	for _, known := range l.longCode {
		// Most programs take an option that is cut short, too.
		if name != "" && strings.HasPrefix(known, name) {
			return option{code: true, values: values}
		}
	}
	for _, known := range l.longValue {
		if name == known {
			return option{values: values}
		}
	}
	return option{}
}

// plainStart is what of a text comes before its first placeholder.
func plainStart(text string) string {
	before, _, _ := strings.Cut(text, "${")
	return before
}
