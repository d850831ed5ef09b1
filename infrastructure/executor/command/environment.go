package command

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
)

// basePath is where programs are looked up, and the PATH of every run. It is not the server's
// own PATH: a job must not depend on who started the server.
const basePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// runPrefix begins the variables that tell a process which run it is.
const runPrefix = "SCHEDULER_"

// loaders are variables that make a program load or run code that its definition does not show.
// The dynamic linker, shells, interpreters, and programs that start others read them. The list
// names what is known. A list of allowed names would refuse most variables that configure
// commands.
var loaders = []string{
	// The dynamic linker and the C library.
	"GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN",
	// Shells.
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "ZDOTDIR", "FPATH",
	"BASH_LOADABLES_PATH",
	// Interpreters and virtual machines.
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "BUN_OPTIONS", "DENO_DIR",
	"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "PERL5SHELL", "PERLIO", "PERLIO_DEBUG",
	"PYTHONSTARTUP", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
	"PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX",
	"RUBYOPT", "RUBYLIB", "RUBYSHELL", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "IBM_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS", "CLASSPATH",
	"DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE", "DOTNET_ROOT",
	"LUA_INIT", "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON",
	"R_ENVIRON_USER", "R_LIBS",
	"ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_LIBS", "ELIXIR_ERL_OPTIONS", "TCLLIBPATH", "JULIA_LOAD_PATH",
	"JULIA_DEPOT_PATH", "GUILE_LOAD_PATH",
	"AWKPATH", "AWKLIBPATH", "GOFLAGS", "GOTOOLCHAIN", "RUSTC_WRAPPER",
	// Libraries that load modules.
	"OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "OPENSSL_CONF_INCLUDE", "KRB5_CONFIG", "GTK_MODULES",
	"QT_PLUGIN_PATH", "GIO_EXTRA_MODULES", "SASL_PATH", "TERMINFO", "TERMCAP",
	// Programs that start others.
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR",
	"GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
	"SSH_ASKPASS", "SUDO_ASKPASS", "SVN_SSH", "CVS_RSH", "RSYNC_RSH", "HGRCPATH", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
	"BROWSER", "LESSOPEN", "LESSCLOSE", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES",
	"TAR_OPTIONS", "WGETRC", "CURL_HOME", "VIMINIT", "EXINIT",
	// Variables that the server sets itself.
	"TMPDIR", "HOME", "USER", "LOGNAME", "SHELL",
}

var loaderPrefixes = []string{
	"LD_", "DYLD_", "BASH_FUNC_", "MALLOC_", "GIT_CONFIG", "CORECLR_", "COR_", "LUA_INIT_",
	"LUA_PATH_", "LUA_CPATH_", "NPM_CONFIG_", "npm_config_", "OCAML_",
}

func checkEnv(r *jobdata.Reader, env map[string]string) {
	if len(env) > maxEnv {
		r.Reject("env", "too_many", "shorten it to at most %d variables; it has %d", maxEnv, len(env))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		switch {
		case !isVariable(name):
			r.Reject("env", "invalid",
				"%.40q is not the name of a variable: use letters, digits and _, and do not begin with a digit", name)
		case strings.HasPrefix(name, runPrefix):
			r.Reject("env."+name, "reserved", "is set by the server and cannot be chosen")
		case slices.Contains(loaders, name), slices.ContainsFunc(loaderPrefixes, func(p string) bool {
			return strings.HasPrefix(name, p)
		}):
			r.Reject("env."+name, "not_allowed",
				"could make the program run other code than the definition shows; set it in a script of your own")
		case name == "PATH" && !absolutePaths(value):
			r.Reject("env.PATH", "invalid", "must list absolute folders only")
		case len(value) > maxEnvValue:
			r.Reject("env."+name, "too_long", "shorten it to at most %d bytes", maxEnvValue)
		case strings.Contains(value, "\x00"):
			r.Reject("env."+name, "invalid", "must not contain NUL")
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

// identityVariables are the variables that tell the identity of the run.
var identityVariables = map[string]runidentity.Name{
	"EXECUTION_ID": runidentity.ExecutionID, "JOB_ID": runidentity.JobID, "JOB_NAME": runidentity.JobName,
	"SCHEDULED_TIME": runidentity.ScheduledTime, "DEADLINE": runidentity.Deadline,
	"ATTEMPT": runidentity.Attempt, "SHARD_INDEX": runidentity.ShardIndex, "SHARD_TOTAL": runidentity.ShardTotal,
	"FENCING_TOKEN": runidentity.FencingToken, "IDEMPOTENCY_KEY": runidentity.IdempotencyKey,
	"PARAMS": runidentity.Params, "CHECKPOINT": runidentity.Checkpoint, "TRACEPARENT": runidentity.TraceParent,
}

// environment returns all variables of a process: a plain base, the variables of the
// definition, and the identity of the run. It passes on nothing of the server's own
// environment, which may hold secrets.
func environment(run entity.Run, d definition, folder *workfolder.Folder, account Account) []string {
	id := runidentity.Of(run)
	env := map[string]string{
		"PATH": basePath, "LANG": "C.UTF-8", "HOME": folder.Home(), "TMPDIR": folder.Home(),
		"USER": account.Name, "LOGNAME": account.Name, "SHELL": "/bin/sh",
	}
	env["TRACEPARENT"] = id.TraceParent // as tools for traces expect it
	maps.Copy(env, d.env)
	for name, value := range identityVariables {
		env[runPrefix+name] = strings.ReplaceAll(id.Text(value), "\x00", "")
	}
	env[runPrefix+"REPORT"] = folder.Report()
	env[runPrefix+"TIMEOUT_SEC"] = strconv.FormatInt(int64(run.Job.Timeout()/time.Second), 10)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
