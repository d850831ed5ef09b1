package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// unit is the file of the service: its settings by name, with all their values.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(read(t, "platform-scheduler.service")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			out[name] = append(out[name], value)
		}
	}
	return out
}

// installed is the product where the unit looks for it, below a folder that
// stands for the root of the machine.
type installed struct {
	root string
	unit map[string][]string
}

// What the build of the image is given.
const (
	builtVersion = "9.8.7"
	builtCommit  = "0123456789abcdef0123456789abcdef01234567"
	builtTime    = "2026-01-02T03:04:05Z"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// builtIn is the folder of the program that build makes once.
var builtIn string

var build = sync.OnceValues(func() (binary string, err error) {
	if builtIn, err = os.MkdirTemp("", "deploy"); err != nil {
		return "", err
	}
	binary = filepath.Join(builtIn, "platform-scheduler")
	dockerfile, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		return "", err
	}
	line := regexp.MustCompile(`(?m)^RUN (.* go build .*)$`).
		FindStringSubmatch(strings.ReplaceAll(string(dockerfile), "\\\n", " "))
	if line == nil || !strings.Contains(line[1], "-o /platform-scheduler ") {
		return "", errors.New("the Dockerfile builds nothing")
	}
	cmd := exec.Command("sh", "-euc", strings.Replace(line[1], "-o /platform-scheduler ", `-buildvcs=false -o "$OUT" `, 1))
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "OUT="+binary, "VERSION="+builtVersion, "COMMIT="+builtCommit, "BUILD_TIME="+builtTime)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return binary, nil
})

// built is the program as the line of the Dockerfile builds it, without the
// repository.
func built(t *testing.T) string {
	t.Helper()
	binary, err := build()
	require.NoError(t, err)
	return binary
}

func install(t *testing.T) *installed {
	t.Helper()
	i := &installed{root: t.TempDir(), unit: unit(t)}
	for _, dir := range []string{"/usr/local/bin", "/etc/platform-scheduler", "/var/lib/platform-scheduler"} {
		require.NoError(t, os.MkdirAll(i.root+dir, 0o700))
	}
	require.NoError(t, os.Symlink(built(t), i.root+"/usr/local/bin/platform-scheduler"))
	return i
}

// here puts the folder before the absolute paths of a text.
func (i *installed) here(text string) string {
	return regexp.MustCompile(`/(etc|usr|var)/`).ReplaceAllString(text, i.root+"$0")
}

// environment is what systemd gives the service.
func (i *installed) environment(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, value := range i.unit["Environment"] {
		env = append(env, i.here(value))
	}
	for _, value := range i.unit["EnvironmentFile"] {
		file, optional := strings.CutPrefix(value, "-")
		data, err := os.ReadFile(i.here(file))
		if os.IsNotExist(err) && optional {
			continue
		}
		require.NoError(t, err)
		env = append(env, strings.Fields(string(data))...)
	}
	return env
}

// text is what several goroutines may write.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// start starts the unit's command as systemd would, waits until it says that it
// is ready, and returns what it says.
func (i *installed) start(t *testing.T) *text {
	t.Helper()
	require.Len(t, i.unit["ExecStart"], 1)
	argv := strings.Fields(i.here(i.unit["ExecStart"][0]))
	socket := filepath.Join(i.root, "notify")
	_ = os.Remove(socket)
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer notify.Close()
	said := &text{}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(i.environment(t), "NOTIFY_SOCKET="+socket, "PATH="+os.Getenv("PATH"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	require.NoError(t, notify.SetReadDeadline(time.Now().Add(60*time.Second)))
	buf := make([]byte, 64)
	n, err := notify.Read(buf)
	require.NoError(t, err, said)
	require.Equal(t, "READY=1", string(buf[:n]))
	return said
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// The unit reads its settings where its head says: the file, and before it the
// variables.
func TestTheUnitReadsItsSettings(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop builds no binaries: see make test")
		return
	}
	i := install(t)
	addr := freeAddr(t)
	require.NoError(t, os.WriteFile(i.root+"/etc/platform-scheduler/config.yaml",
		[]byte("server:\n  addr: "+addr+"\n  shutdownGraceSec: 0\nnode:\n  id: from-the-file\nlog:\n  level: debug\n"),
		0o600))
	require.NoError(t, os.WriteFile(i.root+"/etc/platform-scheduler/env", []byte("PS_NODE_ID=from-the-variables\n"),
		0o600))
	i.start(t)
	res, err := http.Get("http://" + addr + "/readyz")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode, "the address is that of the file")
	require.FileExists(t, i.root+"/var/lib/platform-scheduler/platform-scheduler.db")

	shown := exec.CommandContext(t.Context(), i.root+"/usr/local/bin/platform-scheduler", "config", "show")
	shown.Env = i.environment(t)
	out, err := shown.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "id: from-the-variables")
	require.Contains(t, string(out), "level: debug")
}

// Neither of the files needs to exist; a file with a mistake in it is told.
func TestTheUnitStartsWithoutSettings(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop builds no binaries: see make test")
		return
	}
	i := install(t)
	i.unit["Environment"] = append(i.unit["Environment"], "PS_SERVER_ADDR="+freeAddr(t)) // 8080 may be taken here
	i.start(t)

	require.NoError(t, os.WriteFile(i.root+"/etc/platform-scheduler/config.yaml", []byte("servr: {}\n"), 0o600))
	check := exec.CommandContext(t.Context(), i.root+"/usr/local/bin/platform-scheduler", "config", "check")
	check.Env = i.environment(t)
	out, err := check.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "servr")
}

// The manager itself finds nothing wrong, where there is one.
func TestSystemdUnderstandsTheUnit(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop builds no binaries: see make test")
		return
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		prooftest.Missing(t, "there is no systemd-analyze")
		return
	}
	i := install(t)
	file := filepath.Join(i.root, "platform-scheduler.service")
	require.NoError(t, os.WriteFile(file,
		[]byte(strings.ReplaceAll(read(t, "platform-scheduler.service"), "/usr/local/bin", i.root+"/usr/local/bin")), 0o600))
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
	out, err = exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=30", file).
		CombinedOutput()
	require.NoError(t, err, string(out))
}

// An image knows its version and its commit, although the repository is no part
// of its build.
func TestTheImageKnowsItsVersion(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop builds no binaries: see make test")
		return
	}
	dockerfile := read(t, "Dockerfile")
	for _, arg := range []string{"VERSION", "COMMIT", "BUILD_TIME"} {
		require.Equal(t, 2, strings.Count(dockerfile, "\nARG "+arg+"=\n"), "for the build and for the labels")
	}
	for _, label := range []string{"version=\"$VERSION\"", "revision=\"$COMMIT\"", "created=\"$BUILD_TIME\""} {
		require.Contains(t, dockerfile, "org.opencontainers.image."+label)
	}
	out, err := exec.CommandContext(t.Context(), built(t), "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), builtVersion)

	i := &installed{root: t.TempDir(), unit: map[string][]string{"ExecStart": {built(t) + " server"}}}
	addr := freeAddr(t)
	i.unit["Environment"] = []string{"PS_SERVER_ADDR=" + addr, "PS_DATA_DIR=" + filepath.Join(i.root, "data")}
	i.start(t)
	res, err := http.Get("http://" + addr + "/version")
	require.NoError(t, err)
	defer res.Body.Close()
	var shown struct{ Version, Commit, BuildTime string }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&shown))
	require.Equal(t, struct{ Version, Commit, BuildTime string }{builtVersion, builtCommit, builtTime}, shown)
}
