package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command/argrole"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// checkCode refuses values in arguments where they would be code: whoever may
// start the job, or finish a step before it, would choose what is executed.
// Secrets are refused in every argument, since every user of the machine can
// read those.
func checkCode(r *jobdata.Reader, argv []string) {
	if !slices.ContainsFunc(argv, placeholder.Holds) {
		return
	}
	roles := argrole.Of(argv)
	for i, arg := range argv {
		field := fmt.Sprintf("command[%d]", i)
		if name := secretIn(arg); name != "" {
			r.Reject(field, "not_allowed", `must not hold %s: every user of the machine can read the arguments of a command. Put it into env, such as "env": {"VALUE": %q}, and let the program read $VALUE`, name, name)
			continue
		}
		open := placeholder.Open(arg)
		switch {
		case open == "":
		case i == 0:
			r.Reject(field, "not_allowed", `must not hold %s: whoever gives the value would choose the program. Name the program here, and put the value into an argument behind it or into env`, open)
		case roles[i] == argrole.Code, roles[i] == argrole.File && strings.HasPrefix(arg, open):
			r.Reject(field, "not_allowed", `must not hold %s: the value would be read as code. Put it into env, such as "env": {"VALUE": %q}, and use "$VALUE" here, or an argument behind the code`, open, open)
		}
	}
}

// checkPath refuses values in the list of folders in which programs are found.
func checkPath(r *jobdata.Reader, path string) {
	if open := placeholder.Open(path); open != "" {
		r.Reject("env.PATH", "not_allowed", "must not hold %s: whoever gives the value would choose the programs", open)
	}
}

// secretIn is the first secret that a text names, as it is written there.
func secretIn(text string) string {
	for _, name := range placeholder.SecretNames(text) {
		return "${secret." + name + "}"
	}
	return ""
}

// scriptPlaceholders begin what means a value elsewhere in a definition, and
// is no name of a variable to any shell.
var scriptPlaceholders = []string{"${params.", "${secret.", "${steps.", "${event.", "${item."}

// checkScript refuses placeholders in scripts of shells. They are never
// replaced there, as their values would be code, and a shell only says "bad
// substitution". Other languages may mean something of their own by them.
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
		r.Reject("script", "not_allowed", `must not hold %.60s}: no value is put into a script, where it would be code. Put it into env, such as "env": {"VALUE": "…"}, and use "$VALUE" here`, begin+name)
		return
	}
}
