package argrole

import (
	"path"
	"strings"
)

// language says which arguments of a program are code, or name the program that it
// starts. Options are letters behind one "-".
type language struct {
	// shell means that options are gathered, and that -c makes the first operand code.
	shell bool
	// code are options whose value is code; file are options whose value names a file
	// of code. All arguments behind a final option are data.
	code, file, final string
	// value are other options with a value; data are those of them whose value may be
	// any string.
	value, data string
	// rest are options whose value, if any, follows in the same argument.
	rest string
	// longCode and longValue are the same for words behind "--".
	longCode, longValue []string
	// anywhere means that options may also stand behind operands.
	anywhere bool
	// before counts the operands before the one that operand describes.
	before  int
	operand operand
}

// operand is what the first operand of a program is.
type operand int

const (
	// isFile: a file of code, unless an option gave the code.
	isFile operand = iota
	// isCode: code, unless an option gave it.
	isCode
	// isData: neither code nor a program.
	isData
	// isLine: the beginning of a line of code that ends with the last argument.
	isLine
	// isProgram: the program that the first program starts, with its arguments.
	isProgram
	// isSetting: a variable to set, or the program that the first program starts.
	isSetting
)

// languages returns shells, interpreters and programs that start others, by their names
// without a version.
func languages() map[string]language {
	shell := language{
		shell: true, longCode: []string{"command", "init-command"},
		longValue: []string{"rcfile", "init-file"},
	}
	python := language{code: "c", file: "m", final: "cm", value: "WXQ"}
	node := language{
		code: "ep", longCode: []string{"eval", "print"}, value: "rC",
		longValue: []string{"require", "import", "loader", "experimental-loader", "conditions"},
	}
	awk := language{code: "e", file: "fE", value: "vF", data: "vF", longCode: []string{"source"}, operand: isCode}
	sed := language{code: "e", file: "f", value: "l", longCode: []string{"expression"}, operand: isCode}
	login := language{
		code: "c", value: "sgGuw", longCode: []string{"command", "session-command"},
		longValue: []string{"shell", "group", "user"}, anywhere: true, operand: isData,
	}
	words := []string{
		"user", "group", "adjustment", "signal", "kill-after", "class", "classdata", "input", "output", "error",
		"max-args", "max-procs", "timeout", "reuid", "regid",
	}
	starts := func(value string, before int) language {
		return language{value: value, data: value, longValue: words, before: before, operand: isProgram}
	}
	line := func(value string, before int) language {
		return language{value: value, data: value, before: before, operand: isLine}
	}
	table := map[string]language{
		"perl": {code: "eE", value: "I", rest: "MmiFxCDV"},
		"ruby": {code: "e", value: "rICEFKW", rest: "ixT"},
		"php": {code: "rBRE", file: "fF", value: "cdzSt", longCode: []string{
			"run", "process-begin", "process-code",
			"process-end",
		}, longValue: []string{"define"}},
		"lua":       {code: "e", value: "l"},
		"luajit":    {code: "e", value: "lj"},
		"R":         {code: "e", file: "f", value: "g"},
		"Rscript":   {code: "e"},
		"expect":    {code: "c", file: "f"},
		"osascript": {code: "e", value: "l"},
		"script":    {code: "c", longCode: []string{"command"}, anywhere: true, operand: isData},
		"su":        login, "runuser": login,
		"env": {
			code: "S", value: "uC", data: "uC", longCode: []string{"split-string"},
			longValue: []string{"unset", "chdir"}, operand: isSetting,
		},
		"flock": {
			code: "c", value: "wE", data: "wE", longCode: []string{"command"}, longValue: words, before: 1,
			operand: isProgram,
		},
		"ssh": line("bcDEeFIiJLlmOopQRSWw", 1), "watch": line("n", 0), "parallel": line("jna", 0),
		"nice": starts("n", 0), "nohup": starts("", 0), "setsid": starts("", 0), "time": starts("fo", 0),
		"setpriv": starts("", 0),
		"sudo":    starts("ughpCrtTUD", 0), "doas": starts("uC", 0), "stdbuf": starts("ioe", 0), "ionice": starts("cnpPu", 0),
		"xargs": starts("ILnPsdaE", 0), "busybox": starts("", 0), "toybox": starts("", 0),
		"timeout": starts("sk", 1), "chroot": starts("", 1), "taskset": starts("", 1),
	}
	for _, family := range []struct {
		language
		names string
	}{
		{shell, "sh bash rbash dash ash zsh ksh mksh pdksh yash fish csh tcsh"},
		{python, "python pypy jython"},
		{node, "node nodejs bun deno"},
		{awk, "awk gawk mawk nawk"},
		{sed, "sed gsed"},
	} {
		for name := range strings.FieldsSeq(family.names) {
			table[name] = family.language
		}
	}
	return table
}

// languageOf finds a program by its name, whatever its folder and its version:
// /usr/bin/python3.11 is python.
func languageOf(table map[string]language, program string) (language, bool) {
	name := path.Base(program)
	if l, ok := table[name]; ok {
		return l, true
	}
	l, ok := table[strings.TrimRight(name, "0123456789.-")]
	return l, ok
}
