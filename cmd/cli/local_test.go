package cli_test

import (
	"encoding/json"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func pemOf(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}

// config check tries what a start would try.
func TestConfigCheckTriesKeysAndUsers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	for name, c := range map[string]struct {
		environ []string
		says    string
	}{
		"a key that is none":       {[]string{"PS_SECRETS_KEY=abc"}, "secrets.key"},
		"former keys alone":        {[]string{"PS_SECRETS_FORMER_KEYS=abc"}, "secrets.formerKeys needs secrets.key"},
		"a user that is not there": {[]string{"PS_EXECUTOR_COMMAND_USER=no-such-user"}, "executor.command.user: "},
		"a certificate that is none": {
			[]string{"PS_SERVER_TLS_CERT_FILE=" + file, "PS_SERVER_TLS_KEY_FILE=" + file},
			"server.tls: ",
		},
		"SQLite and a DSN": {
			[]string{"PS_STORE_DRIVER=sqlite", "PS_STORE_DSN=u:longpassword@tcp(h:1)/d"},
			"store.dsn: names a MySQL or MariaDB",
		},
		"a variable that is not known": {[]string{"PS_SERVR_ADDR=x"}, "did you mean PS_SERVER_ADDR?"},
	} {
		code, out, errOut := run(t, c.environ, "config", "check", "--strict")
		require.Equal(t, 1, code, "%s: %s", name, out)
		require.Contains(t, errOut, c.says, name)
	}
	data := filepath.Join(t.TempDir(), "data")
	code, out, errOut := run(t, []string{"PS_DATA_DIR=" + data, "PS_SERVR_ADDR=x", "PS_KAFKA_BROKERS=127.0.0.1:1"},
		"config", "check")
	require.Zero(t, code, errOut)
	require.Equal(t, "the configuration is good\n", out)
	require.Contains(t, errOut, "warning: the variable PS_SERVR_ADDR is not a key")
	require.Contains(t, errOut, "warning: kafka.brokers: the broker 127.0.0.1:1 does not serve")
	require.NoDirExists(t, data, "a check makes nothing")

	var v struct {
		Good     bool
		Problems []struct{ Key, Message string }
		Warnings []string
	}
	code, out, _ = run(t, []string{"PS_LOG_LEVEL=loud"}, "config", "check", "-o", "json")
	require.Equal(t, 1, code)
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.False(t, v.Good)
	require.Equal(t, "log.level", v.Problems[0].Key)
}

// A server that listens for others without TLS warns of what that shows them.
func TestTheStartTellsOfPasswordsInClear(t *testing.T) {
	busy, err := net.Listen("tcp", ":0") // so that the start ends by itself
	require.NoError(t, err)
	defer func() { _ = busy.Close() }()
	_, port, err := net.SplitHostPort(busy.Addr().String())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		environ []string
		clear   bool
	}{
		"this machine alone": {[]string{"PS_SERVER_ADDR=127.0.0.1:" + port}, false},
		"everybody":          {[]string{"PS_SERVER_ADDR=:" + port}, true},
		"a proxy that asks by TLS": {
			[]string{"PS_SERVER_ADDR=:" + port, "PS_SERVER_PUBLIC_URL=https://jobs.example.com"},
			false,
		},
	} {
		code, _, errOut := run(t, append(c.environ, "PS_LOG_FORMAT=text"), "server")
		require.Equal(t, 1, code, "%s: %s", name, errOut)
		require.Contains(t, errOut, "server.addr", name)
		said := strings.Contains(errOut,
			"passwords and tokens come over the network in clear: set server.tls.certFile and server.tls.keyFile")
		require.Equal(t, c.clear, said, "%s: %s", name, errOut)
	}
}

// The shown values are those that a start here would use.
func TestConfigShowKnowsWhetherCommandsRun(t *testing.T) {
	code, out, errOut := run(t, nil, "config", "show")
	require.Zero(t, code, errOut)
	if os.Geteuid() == 0 {
		require.Regexp(t, `(?s)command:\n +enabled: false`, out)
		require.Contains(t, errOut, "commands are off: this server runs as root")
	} else {
		require.Regexp(t, `(?s)command:\n +enabled: true`, out)
	}
	code, out, _ = run(t, nil, "config", "show", "-o", "json")
	require.Zero(t, code)
	var v struct{ Server struct{ Addr string } }
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Equal(t, "127.0.0.1:8080", v.Server.Addr)
	code, out, _ = run(t, nil, "config", "example")
	require.Zero(t, code)
	example, err := config.Example()
	require.NoError(t, err)
	require.Equal(t, example, out)
}

func TestMigrationsArePlannedAndUndoneWithCare(t *testing.T) {
	data := "PS_DATA_DIR=" + filepath.Join(t.TempDir(), "data")
	code, out, _ := run(t, []string{data}, "migrate", "plan")
	require.Zero(t, code)
	require.Contains(t, out, "the store's schema is version 0; this program knows version ")
	require.Contains(t, out, "would apply 00001 00001_job_definition.sql")
	require.NoDirExists(t, strings.TrimPrefix(data, "PS_DATA_DIR="), "a plan makes nothing")

	code, _, errOut := run(t, []string{data}, "migrate", "up")
	require.Zero(t, code, errOut)
	_, out, _ = run(t, []string{data}, "migrate", "plan")
	require.Contains(t, out, "nothing would be changed")
	code, _, errOut = run(t, []string{data}, "migrate", "down")
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "there is no terminal to ask on; use --yes")
	_, out, _ = run(t, []string{data}, "migrate", "status")
	require.NotContains(t, out, "pending", "nothing was undone")

	code, out, errOut = run(t, []string{data}, "migrate", "down", "--yes")
	require.Zero(t, code, errOut)
	require.Regexp(t, `^undone \d{5} `, out)
	var plan struct {
		CurrentVersion, ProgramVersion int
		Pending                        []struct{ Name string }
		WayBack                        *bool
	}
	_, out, _ = run(t, []string{data}, "migrate", "plan", "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &plan))
	require.Less(t, plan.CurrentVersion, plan.ProgramVersion)
	require.Len(t, plan.Pending, 1)
	require.NotNil(t, plan.WayBack)
	var status struct {
		Items []struct {
			Version   int
			AppliedAt *string
		}
		NextCursor *string
	}
	_, out, _ = run(t, []string{data}, "migrate", "status", "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &status))
	require.NotNil(t, status.Items[0].AppliedAt)
	require.Nil(t, status.Items[len(status.Items)-1].AppliedAt)
}

// A store that a restore has not finished is another trouble than a wrong folder, and has another remedy.
func TestAnInterruptedRestoreIsNoMissingStore(t *testing.T) {
	for name, args := range map[string][]string{
		"activate": {"store", "activate", "--yes"}, "standby": {"store", "standby"}, "size": {"store", "size"},
		"backup": {"store", "backup", t.TempDir()},
	} {
		data := t.TempDir()
		code, _, errOut := run(t, []string{"PS_DATA_DIR=" + data}, args...)
		require.Equal(t, 1, code, name)
		require.Contains(t, errOut, "there is no store", name)
		part := filepath.Join(data, datafolder.DatabaseFile+".restoring")
		require.NoError(t, os.WriteFile(part, []byte("half"), 0o600))
		code, _, errOut = run(t, []string{"PS_DATA_DIR=" + data}, args...)
		require.Equal(t, 1, code, name)
		require.Contains(t, errOut, "was interrupted; run `platform-scheduler store restore` again", name)
	}
}
