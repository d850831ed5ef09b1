// Package argrole says how the programs of a command use its arguments. The command
// executor refuses values of a run in arguments that a program reads as code.
package argrole

import "strings"

// Role is how the programs of a command use an argument.
type Role int

const (
	// Data is text that no program of the command reads as code.
	Data Role = iota
	// File names a file of code.
	File
	// Code is code or holds some, or names a program that is started.
	Code
)

// Of returns the role of each argument of a command. It follows programs that start
// others. It also finds the code of a known interpreter behind any other program, such as
// that of sh in "kubectl exec POD -- sh -c CODE".
func Of(argv []string) []Role {
	r := reading{table: languages(), argv: argv, roles: make([]Role, len(argv))}
	r.mark(0, Code)
	for i := r.follow(0); i < len(argv); i++ {
		if l, known := languageOf(r.table, argv[i]); known && (l.operand == isFile || l.operand == isCode) {
			r.options(l, i+1, false)
		}
	}
	return r.roles
}

// IsShell reports whether a program is a known shell.
func IsShell(program string) bool {
	l, known := languageOf(languages(), program)
	return known && l.shell
}

type reading struct {
	table map[string]language
	argv  []string
	roles []Role
}

func (r *reading) mark(i int, p Role) {
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
		r.mark(i+1, Code) // flock takes it behind its file
		return i + 2
	case l.operand == isProgram, l.operand == isSetting:
		r.mark(i, Code)
		return r.follow(i)
	case given:
		return i
	case l.operand == isFile:
		r.mark(i, File)
	case l.operand == isCode:
		r.mark(i, Code)
	case l.operand == isLine:
		for ; i < len(r.argv); i++ {
			r.mark(i, Code)
		}
	}
	return i + 1
}

// options reads the options of a program from an index on. It returns the index of the
// first operand, and whether an option gave the code. It marks only code where it is not
// sure that this is a program.
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
		if p := o.role(sure); p > Data && !o.gathered {
			r.mark(i, Code) // the option itself, with what may be attached
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

// endOptions marks the operand that holds the code which an option of a shell announced.
func (r *reading) endOptions(l language, i int, given bool) (operand int, code bool) {
	if given && l.shell {
		r.mark(i, Code)
		i++
	}
	return i, given
}

// option is the meaning of one argument that begins with "-".
type option struct {
	// code means that its value is code, and file that its value names a file of code.
	// gathered means that the value is the first operand. No option follows a final one.
	code, file, gathered, final bool
	// data means that its value may be any string.
	data bool
	// values counts the arguments behind it that are its values.
	values int
}

// role is how a program uses an option and its value. Options without code count only
// where sure is true: they change how the program reads what follows.
func (o option) role(sure bool) Role {
	switch {
	case o.code, sure && !o.data && !o.file:
		return Code
	case o.file && sure:
		return File
	}
	return Data
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
		o := option{
			code: strings.Contains(l.code, c), file: strings.Contains(l.file, c), data: strings.Contains(l.data, c),
			final: strings.Contains(l.final, c),
		}
		switch {
		case o.code, o.file, strings.Contains(l.value, c):
			// Otherwise the value follows the letter. Letters of code may be gathered.
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
		// Most programs also take a shortened option.
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

// plainStart returns the part of a string before its first placeholder.
func plainStart(text string) string {
	before, _, _ := strings.Cut(text, "${")
	return before
}
