package command

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// basePath is where programs are looked up, and the PATH of every run. The
// server's own is not used: a job must not depend on who started the server.
const basePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// runPrefix begins the names that tell a process which run it is.
const runPrefix = "SCHEDULER_"

// timeLayout is RFC 3339 in UTC with milliseconds, as everywhere in the API.
const timeLayout = "2006-01-02T15:04:05.000Z"

// loaders are names that make a program load or run code that its definition
// does not show: of the dynamic linker, of shells and of interpreters.
var loaders = []string{
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH",
	"NODE_OPTIONS", "NODE_PATH", "PERL5OPT", "PERL5LIB", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONPATH", "RUBYOPT", "RUBYLIB",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "HOSTALIASES", "NLSPATH", "TMPDIR", "HOME", "USER", "LOGNAME", "SHELL",
}

var loaderPrefixes = []string{"LD_", "DYLD_", "BASH_FUNC_", "MALLOC_"}

func checkEnv(r *jobdata.Reader, env map[string]string) {
	if len(env) > maxEnv {
		r.Fault("env", "too_many", "shorten it to at most %d variables; it has %d", maxEnv, len(env))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		switch {
		case !isVariable(name):
			r.Fault("env", "invalid", "%.40q is not the name of a variable: use letters, digits and _, and begin with none of the digits", name)
		case strings.HasPrefix(name, runPrefix):
			r.Fault("env."+name, "reserved", "is set by the server and cannot be chosen")
		case slices.Contains(loaders, name), slices.ContainsFunc(loaderPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
			r.Fault("env."+name, "not_allowed", "could make the program run other code than the definition shows; set it in a script of your own")
		case name == "PATH" && !absolutePaths(value):
			r.Fault("env.PATH", "invalid", "must list absolute folders only")
		case len(value) > maxEnvValue:
			r.Fault("env."+name, "too_long", "shorten it to at most %d bytes", maxEnvValue)
		case strings.Contains(value, "\x00"):
			r.Fault("env."+name, "invalid", "must not contain NUL")
		}
	}
}

func isVariable(name string) bool {
	if name == "" || len(name) > maxEnvName || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

func absolutePaths(list string) bool {
	for dir := range strings.SplitSeq(list, ":") {
		if !strings.HasPrefix(dir, "/") {
			return false
		}
	}
	return true
}

// environment is all that a process finds: a plain base, what the definition
// adds, and the identity of the run. Nothing of the server's own environment
// is passed on, since that may hold its secrets.
func environment(run entity.Run, d definition, folder string, account Account) []string {
	x := run.Execution
	env := map[string]string{
		"PATH": basePath, "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder, "USER": account.Name, "LOGNAME": account.Name, "SHELL": "/bin/sh",
	}
	env["TRACEPARENT"] = x.TraceParent() // as tools for traces expect it
	maps.Copy(env, d.env)
	for name, value := range map[string]string{
		"EXECUTION_ID": x.ID, "JOB_ID": run.Job.ID, "JOB_NAME": run.Job.Name,
		"SCHEDULED_TIME": x.ScheduledTime.UTC().Format(timeLayout),
		"ATTEMPT":        strconv.Itoa(x.Attempt), "SHARD_INDEX": strconv.Itoa(x.ShardIndex), "SHARD_TOTAL": strconv.Itoa(max(x.ShardTotal, 1)),
		"FENCING_TOKEN": strconv.FormatInt(x.FencingToken(), 10), "IDEMPOTENCY_KEY": x.IdempotencyKey(),
		"PARAMS": x.Params, "CHECKPOINT": x.Checkpoint, "DEADLINE": deadline(run), "TRACEPARENT": x.TraceParent(),
		"TIMEOUT_SEC": strconv.FormatInt(int64(run.Job.Timeout()/time.Second), 10),
	} {
		env[runPrefix+name] = strings.ReplaceAll(value, "\x00", "")
	}
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// deadline is empty for a run that may take as long as it likes.
func deadline(run entity.Run) string {
	if run.Deadline.IsZero() {
		return ""
	}
	return run.Deadline.UTC().Format(timeLayout)
}
