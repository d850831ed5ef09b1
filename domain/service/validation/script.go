package validation

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// shells read a carriage return as a part of the word before it.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "rbash"}

// CarriageReturns warns of a script for a shell, or code of one, whose lines end in CRLF as Windows writes them. Such a
// definition is kept as it is: the carriage returns may be meant.
func CarriageReturns(job *entity.Job) []apperror.Field {
	if job.Type != entity.JobCommand {
		return nil
	}
	field, shell := "", ""
	var script struct{ Script, Interpreter string }
	var command struct{ Command []string }
	if json.Unmarshal([]byte(job.Data), &script) == nil && strings.Contains(script.Script, "\r\n") {
		field, shell = "script", path.Base(script.Interpreter)
	}
	if json.Unmarshal([]byte(job.Data), &command) == nil {
		if reader := shellOf(command.Command); reader != "" {
			field, shell = "command", reader
		}
	}
	if !slices.Contains(shells, shell) {
		return nil
	}
	return []apperror.Field{
		{
			Field: DataField + "." + field,
			Code:  "carriage_return",
			Message: fmt.Sprintf("has lines that end in CRLF, as Windows "+
				"writes them: %s reads the carriage return as a part of the last word, so that commands and files are not found; "+
				"save it with lines that end in LF (dos2unix, or the line endings of the editor)", shell),
		},
	}
}

// shellOf is the shell that reads an argument with lines that end in CRLF; "" for none. Another program may start it,
// as env, sudo and timeout do. Then -c comes between.
func shellOf(command []string) string {
	shell, reads := "", false
	for i, arg := range command {
		switch name := path.Base(arg); {
		case slices.Contains(shells, name):
			shell, reads = name, i == 0
		case shell == "":
		case strings.HasPrefix(arg, "-"):
			reads = reads || strings.Contains(arg, "c")
		case reads && strings.Contains(arg, "\r\n"):
			return shell
		}
	}
	return ""
}
