package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// The numbers are those of the catalogue of bad input.
func TestAWrongCommandNamesItsField(t *testing.T) {
	env := func(name, value string) string {
		return fmt.Sprintf(`{"command":["true"],"env":{%q:%q}}`, name, value)
	}
	for name, c := range map[string]struct{ data, field, code string }{
		"nothing to run":              {`{}`, "jobData.command", "required"},
		"both":                        {`{"command":["true"],"script":"x","interpreter":"sh"}`, "jobData.script", "conflict"},
		"a text for a list":           {`{"command":"rm -rf /"}`, "jobData.command", "wrong_type"},
		"an empty program":            {`{"command":[" "]}`, "jobData.command[0]", "required"},
		"a relative program":          {`{"command":["../evil"]}`, "jobData.command[0]", "invalid"},
		"a script without one":        {`{"script":"x"}`, "jobData.interpreter", "required"},
		"105 not on the list":         {`{"script":"x","interpreter":"perl"}`, "jobData.interpreter", "unknown_value"},
		"105 a path to one":           {`{"script":"x","interpreter":"/bin/sh"}`, "jobData.interpreter", "unknown_value"},
		"an interpreter of nothing":   {`{"command":["true"],"interpreter":"sh"}`, "jobData.interpreter", "conflict"},
		"106 NUL in an argument":      {`{"command":["echo","a\u0000b"]}`, "jobData.command", "invalid"},
		"106 NUL in a script":         {`{"script":"a\u0000b","interpreter":"sh"}`, "jobData.script", "invalid"},
		"107 the dynamic linker":      {env("LD_PRELOAD", "/tmp/x.so"), "jobData.env.LD_PRELOAD", "not_allowed"},
		"107 a shell's start":         {env("BASH_ENV", "/tmp/x"), "jobData.env.BASH_ENV", "not_allowed"},
		"107 an exported function":    {env("BASH_FUNC_ls", "() { id; }"), "jobData.env.BASH_FUNC_ls", "not_allowed"},
		"107 the path of python":      {env("PYTHONPATH", "/tmp"), "jobData.env.PYTHONPATH", "not_allowed"},
		"107 a relative path":         {env("PATH", "/bin:."), "jobData.env.PATH", "invalid"},
		"107 an empty part of a path": {env("PATH", "/bin::/usr/bin"), "jobData.env.PATH", "invalid"},
		"the run's identity": {
			env("SCHEDULER_FENCING_TOKEN", "9"), "jobData.env.SCHEDULER_FENCING_TOKEN",
			"reserved",
		},
		"no name of a variable": {env("a=b", "x"), "jobData.env", "invalid"},
		"NUL in a value":        {`{"command":["true"],"env":{"A":"a\u0000b"}}`, "jobData.env.A", "invalid"},
		"108 the root":          {`{"command":["true"],"workingDir":"/./"}`, "jobData.workingDir", "invalid"},
		"108 upwards":           {`{"command":["true"],"workingDir":"/srv/../etc"}`, "jobData.workingDir", "invalid"},
		"108 relative":          {`{"command":["true"],"workingDir":"tmp"}`, "jobData.workingDir", "invalid"},
		"a code beyond 255": {
			`{"command":["true"],"successExitCodes":[256]}`, "jobData.successExitCodes",
			"out_of_range",
		},
		"codes of another type":   {`{"command":["true"],"successExitCodes":"0"}`, "jobData.successExitCodes", "wrong_type"},
		"a limit below its least": {`{"command":["true"],"memoryMb":1}`, "jobData.memoryMb", "out_of_range"},
		"an unknown encoding":     {`{"command":["true"],"outputCharset":"klingon"}`, "jobData.outputCharset", "unknown_value"},
		"an unknown field":        {`{"command":["true"],"shell":true}`, "jobData.shell", "unknown_field"},
		"too many arguments": {
			`{"command":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 257), ",") + `]}`,
			"jobData.command", "too_many",
		},
		"too many variables": {manyVariables(), "jobData.env", "too_many"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			faults := b.Check(&entity.Job{Data: c.data})
			require.Len(t, faults, 1, "%v", faults)
			require.Equal(t, []string{c.field, c.code}, []string{faults[0].Field, faults[0].Code})
			require.NotEmpty(t, faults[0].Message)
			require.Equal(t, entity.ReasonInvalid, b.run(t.Context(), c.data).Reason, "and it does not run")
			require.Empty(t, b.starter.orders)
		})
	}
}

func manyVariables() string {
	env := map[string]string{}
	for i := range 201 {
		env[fmt.Sprintf("V%d", i)] = "x"
	}
	data, _ := json.Marshal(map[string]any{"command": []string{"true"}, "env": env})
	return string(data)
}

// The variables are those of the review, by their kinds; what programs are
// configured by may be set.
func TestVariablesThatLoadCodeAreRefused(t *testing.T) {
	b := newBench(t)
	check := func(name string) int {
		return len(b.Check(&entity.Job{Data: fmt.Sprintf(`{"command":["true"],"env":{%q:"x"}}`, name)}))
	}
	for _, name := range []string{
		"GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "OPENSSL_CONF", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH",
		"JDK_JAVA_OPTIONS", "CLASSPATH",
		"LUA_INIT", "LUA_INIT_5_4", "PERL5DB", "PERLLIB", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "NODE_OPTIONS",
		"npm_config_script_shell", "LESSOPEN",
		"PAGER", "RSYNC_RSH", "MAKEFLAGS", "PHPRC", "R_PROFILE_USER", "ZDOTDIR", "AWKPATH", "TAR_OPTIONS", "LD_AUDIT",
	} {
		require.Equal(t, 1, check(name), name)
	}
	for _, name := range []string{
		"GIT_AUTHOR_NAME", "GIT_DIR", "JAVA_HOME", "JAVA_OPTS", "NODE_ENV", "PYTHONUNBUFFERED", "PYTHONIOENCODING",
		"PYTHONDONTWRITEBYTECODE", "PGPASSWORD",
		"AWS_ACCESS_KEY_ID", "HTTP_PROXY", "https_proxy", "SSL_CERT_FILE", "LANG", "LC_ALL", "TZ", "GOPATH", "KUBECONFIG",
		"DEBUG",
	} {
		require.Zero(t, check(name), name)
	}
}

func TestEverythingWrongIsNamedAtOnce(t *testing.T) {
	faults := newBench(t).Check(
		&entity.Job{Data: `{"script":"x","interpreter":"perl","workingDir":"x","env":{"LD_X":"1"},"extra":1}`})
	require.Len(t, faults, 4)
}

// A server that runs as root runs commands as root only when told to.
func TestRootIsNoAccident(t *testing.T) {
	account, err := command.FindAccount("", "server")
	if os.Geteuid() == 0 {
		require.ErrorContains(t, err, "executor.command.user")
		account, err = command.FindAccount("root", "server")
		require.NoError(t, err)
		require.Equal(t, command.Account{Name: "root"}, account)
		nobody, err := command.FindAccount("nobody", "server")
		require.NoError(t, err)
		require.True(t, nobody.Change)
		require.NotZero(t, nobody.UID)
	} else {
		require.NoError(t, err)
		require.False(t, account.Change)
		_, err = command.FindAccount("root", "server")
		require.ErrorContains(t, err, "only root can")
	}
	_, err = command.FindAccount("no-such-user", "server")
	require.ErrorContains(t, err, "no-such-user")
}
