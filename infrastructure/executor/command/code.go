package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command/argrole"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// checkCode refuses values in arguments that a program reads as code. Otherwise the caller who
// starts the job, or who finishes a step before it, would choose what runs. It refuses secrets
// in all arguments, because every user of the machine can read arguments.
func checkCode(r *jobdata.Reader, argv []string) {
	if r.Filled() || !slices.ContainsFunc(argv, placeholder.Holds) {
		return
	}
	roles := argrole.Of(argv)
	for i, arg := range argv {
		field := fmt.Sprintf("command[%d]", i)
		if name := secretIn(arg); name != "" {
			r.Reject(field, "not_allowed",
				`must not hold %s: every user of the machine can read the arguments of a command. Put it into env, such as "env": {"VALUE": %q}, and let the program read $VALUE`, name, name)
			continue
		}
		open := placeholder.Open(arg)
		switch {
		case open == "":
		case i == 0:
			r.Reject(field, "not_allowed",
				`must not hold %s: the caller who gives the value would choose the program. Name the program here, and put the value into an argument behind it or into env`, open)
		case roles[i] == argrole.Code, roles[i] == argrole.File && strings.HasPrefix(arg, open):
			r.Reject(field, "not_allowed",
				`must not hold %s: the value would be read as code. Put it into env, such as "env": {"VALUE": %q}, and use "$VALUE" here, or an argument behind the code`, open, open)
		}
	}
}

// checkPath refuses values in the list of folders that hold programs.
func checkPath(r *jobdata.Reader, path string) {
	if open := placeholder.Open(path); open != "" && !r.Filled() {
		r.Reject("env.PATH", "not_allowed", "must not hold %s: the caller who gives the value would choose the programs",
			open)
	}
}

// secretIn returns the placeholder of the first secret that a string names.
func secretIn(text string) string {
	for _, name := range placeholder.SecretNames(text) {
		return "${secret." + name + "}"
	}
	return ""
}

// scriptPlaceholders begin placeholders that mean a value elsewhere in a definition. For no
// shell do they name a variable.
var scriptPlaceholders = []string{"${params.", "${secret.", "${steps.", "${event.", "${item."}

// checkScript refuses placeholders in scripts of shells. The server never replaces them there,
// because their values would be code. The shell would only say "bad substitution". Other
// languages may use the same characters for their own purpose.
func checkScript(r *jobdata.Reader, script, interpreter string) {
	if !placeholder.Holds(script) {
		return
	}
	if !argrole.IsShell(interpreter) {
		return
	}
	for _, begin := range scriptPlaceholders {
		before, rest, found := strings.Cut(script, begin)
		if !found || strings.HasSuffix(before, "$") || strings.HasSuffix(before, `\`) {
			continue
		}
		name, _, _ := strings.Cut(rest, "}")
		r.Reject("script", "not_allowed",
			`must not hold %.60s}: no value is put into a script, where it would be code. Put it into env, such as "env": {"VALUE": "…"}, and use "$VALUE" here`, begin+name)
		return
	}
}
