package cli_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
)

// run calls the command line with nothing but the given environment.
func run(t *testing.T, environ []string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	if !slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "PS_DATA_DIR=") }) {
		environ = append(environ, "PS_DATA_DIR="+filepath.Join(t.TempDir(), "data"))
	}
	code = cli.Execute(args, &o, &e, environ)
	return code, o.String(), e.String()
}

func TestExitCodesAndMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a-file")
	require.NoError(t, os.WriteFile(file, []byte("not a folder"), 0o600))
	corrupt := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(corrupt, "platform-scheduler.db"),
		bytes.Repeat([]byte("garbage "), 1000), 0o600))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = busy.Close() }()

	for _, c := range []struct {
		name    string
		environ []string
		args    []string
		code    int
		says    string
	}{
		{"no command shows the help", nil, nil, 0, "Available Commands"},
		{"an unknown command", nil, []string{"fly"}, 2, "unknown command"},
		{"an unknown flag", nil, []string{"server", "--fast"}, 2, "--fast"},
		{"an argument too many", nil, []string{"version", "now"}, 2, "now"},
		{"an unknown bench", nil, []string{"bench", "speed"}, 2, "speed"},
		{"the version", nil, []string{"version"}, 0, "platform-scheduler"},
		{"a good configuration", nil, []string{"config", "check"}, 0, "good"},
		{"a wrong value names its key", []string{"PS_LOG_LEVEL=loud"}, []string{"config", "check"}, 1, "log.level"},
		{"a missing file", nil, []string{"config", "check", "--config", "/nowhere.yaml"}, 1, "/nowhere.yaml"},
		{
			"a default password is refused",
			[]string{"PS_AUTH_INITIAL_ADMIN_PASSWORD=admin"},
			[]string{"config", "check"},
			1,
			"auth.initialAdminPassword",
		},
		{"a busy port", []string{"PS_SERVER_ADDR=" + busy.Addr().String()}, []string{"server"}, 1, "server.addr"},
		{
			"a data folder that cannot be",
			[]string{"PS_DATA_DIR=" + file + "/data", "PS_SERVER_ADDR=127.0.0.1:0"},
			[]string{"server"},
			1, "dataDir",
		},
		{
			"an unreadable database",
			[]string{"PS_DATA_DIR=" + corrupt, "PS_SERVER_ADDR=127.0.0.1:0"},
			[]string{"server"},
			1,
			"not a usable SQLite database",
		},
		{"the schema is made", nil, []string{"migrate", "up"}, 0, "applied"},
		{"a copy needs a target", nil, []string{"migrate", "copy"}, 2, "--to-dsn"},
		{
			"a copy goes to MySQL", nil,
			[]string{"migrate", "copy", "--to-driver", "sqlite", "--to-dsn", "x"},
			2,
			"--to-driver",
		},
		{"a copy of nothing", nil, []string{"migrate", "copy", "--to-dsn", "u:p@tcp(127.0.0.1:1)/d"}, 1, "no store to copy"},
		{"the migrations are listed", nil, []string{"migrate", "status"}, 0, "pending"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errOut := run(t, c.environ, c.args...)
			require.Equal(t, c.code, code, "%s%s", out, errOut)
			require.Contains(t, out+errOut, c.says)
		})
	}
}

func TestConfigShowMasksSecrets(t *testing.T) {
	code, out, _ := run(t, []string{
		"PS_AUTH_INITIAL_ADMIN_PASSWORD=canary-7f3a91", "PS_STORE_DRIVER=mysql",
		"PS_STORE_DSN=u:canary-7f3a91@tcp(h:1)/d",
	}, "config", "show")
	require.Zero(t, code)
	require.NotContains(t, out, "canary")
	require.Contains(t, out, "******")
}

func TestEveryCommandHelpsWithAnExample(t *testing.T) {
	for _, args := range [][]string{
		{"server"},
		{"migrate"},
		{"migrate", "up"},
		{"migrate", "copy"},
		{"config"},
		{"config", "show"},
		{"bench"},
		{"version"},
	} {
		code, out, _ := run(t, nil, append(args, "--help")...)
		require.Zero(t, code)
		require.Contains(t, out, "Examples:", args)
	}
}
