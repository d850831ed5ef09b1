// Package command runs commands. It reads their definitions and gives each run a folder and an
// environment of its own. It makes an outcome of the end of the process. A helper outside this
// process starts the processes, behind the Starter interface.
package command

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/charset"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// The bounds of a definition, in bytes unless the name says otherwise.
const (
	maxArgs     = 256
	maxArg      = 32 << 10
	maxScript   = bounds.DataBytes // a longer one has no room in jobData
	maxDir      = 4 << 10
	maxEnv      = 200
	maxEnvName  = 128
	maxEnvValue = 32 << 10
	maxCodes    = 64
)

// definition is checked job data. It has either argv or a script.
type definition struct {
	argv        []string
	script      string
	interpreter string
	env         map[string]string
	workingDir  string
	success     []int
	// charset is the encoding of what it writes; "" is UTF-8.
	charset string
	limits  Limits
}

// parse reads and checks job data. The definition is usable when there are no errors.
func parse(data string, interpreters []string, run *placeholder.Values) (definition, []apperror.Field) {
	r := jobdata.Read(data, run)
	d := definition{
		argv:        r.List("command", maxArgs),
		script:      r.Text("script", maxScript),
		interpreter: r.Text("interpreter", maxArg),
		env:         r.Texts("env"),
		workingDir:  r.Template("workingDir", maxDir, placeholder.Raw),
		success:     exitCodes(r),
		charset:     r.Text("outputCharset", charset.MaxName),
		limits: Limits{
			CPUSec:    r.Integer("cpuSec", 1, 7*24*3600),
			MemoryMb:  r.Integer("memoryMb", 16, 1<<20),
			OpenFiles: r.Integer("openFiles", 16, 1<<20),
			Processes: r.Integer("processes", 1, 1<<16),
			FileMb:    r.Integer("fileMb", 1, 1<<20),
		},
	}
	checkCode(r, d.argv)
	checkPath(r, d.env["PATH"])
	checkScript(r, d.script, d.interpreter)
	d.expand(r)
	d.checkProgram(r, interpreters)
	checkEnv(r, d.env)
	checkDir(r, d.workingDir)
	if d.charset != "" && !charset.Known(d.charset) {
		r.Reject("outputCharset", "unknown_value", "must be the name of an encoding, such as gbk, iso-8859-1 or utf-16le; "+
			"https://encoding.spec.whatwg.org/#names-and-labels lists them")
	}
	return d, r.End()
}

// expand puts values into arguments and variables. A value stays one argument. It leaves
// scripts alone: they read variables, and a value inside a script would be code.
func (d *definition) expand(r *jobdata.Reader) {
	for i, arg := range d.argv {
		d.argv[i] = r.Expand(fmt.Sprintf("command[%d]", i), arg, placeholder.Raw)
	}
	for _, name := range slices.Sorted(maps.Keys(d.env)) {
		d.env[name] = r.Expand("env."+name, d.env[name], placeholder.Raw)
	}
}

func (d *definition) checkProgram(r *jobdata.Reader, interpreters []string) {
	_, given := r.Raw("command")
	switch {
	case d.argv == nil && given: // wrong, and said to be
	case len(d.argv) == 0 && d.script == "":
		r.Reject("command", "required",
			`give the program and its arguments as an array of strings, such as ["/usr/bin/backup", "--all"], or a script with its interpreter`)
	case len(d.argv) > 0 && d.script != "":
		r.Reject("script", "conflict", "give either command or script, not both")
	case d.script != "" && d.interpreter == "":
		r.Reject("interpreter", "required", "must be one of %s", strings.Join(interpreters, ", "))
	case d.script != "" && !slices.Contains(interpreters, d.interpreter):
		r.Reject("interpreter", "unknown_value", "must be one of %s (executor.command.interpreters)",
			strings.Join(interpreters, ", "))
	case d.script == "" && d.interpreter != "":
		r.Reject("interpreter", "conflict", "belongs to a script; name the program in command instead")
	}
	if strings.Contains(d.script, "\x00") {
		r.Reject("script", "invalid", "must not contain NUL")
	}
	for i, arg := range d.argv {
		switch {
		case i == 0 && strings.TrimSpace(arg) == "":
			r.Reject("command[0]", "required", "must name a program")
		case i == 0 && strings.Contains(arg, "/") && !path.IsAbs(arg):
			r.Reject("command[0]", "invalid", "must be an absolute path, or a name that is looked up in %s", basePath)
		case len(arg) > maxArg:
			r.Reject("command", "too_long", "shorten argument %d to at most %d bytes", i, maxArg)
		case strings.Contains(arg, "\x00"):
			r.Reject("command", "invalid", "argument %d must not contain NUL", i)
		}
	}
}

// exitCodes reads the exit codes of success; without codes only 0 is success.
func exitCodes(r *jobdata.Reader) []int {
	codes := r.Integers("successExitCodes", maxCodes, 0, 255)
	if len(codes) == 0 {
		return []int{0}
	}
	out := make([]int, len(codes))
	for i, c := range codes {
		out[i] = int(c)
	}
	return out
}

// checkDir refuses folders that are probably a mistake. A relative folder depends on where the
// server was started. The root is never a working folder.
func checkDir(r *jobdata.Reader, dir string) {
	switch {
	case dir == "":
	case !path.IsAbs(dir):
		r.Reject("workingDir", "invalid", "must be an absolute path; leave it out for a folder of the run's own")
	case slices.Contains(strings.Split(dir, "/"), ".."), strings.ContainsAny(dir, "\x00\n"):
		r.Reject("workingDir", "invalid", "must not contain .. or control characters")
	case path.Clean(dir) == "/":
		r.Reject("workingDir", "invalid", "must not be the root folder; leave it out for a folder of the run's own")
	}
}
