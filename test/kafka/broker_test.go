package kafka_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// broker is a private Kafka that a test may kill.
type broker struct {
	t   *testing.T
	dir string
	env []string
	// addr is of the plain listener, secure of that with TLS and SASL.
	addr, secure string
}

var (
	exported       = regexp.MustCompile(`(?m)^export KAFKA_BROKERS='(.*)'$`)
	exportedSecure = regexp.MustCompile(`(?m)^export KAFKA_SECURE_BROKERS='(.*)'$`)
)

// newBroker starts one that goes with the test; env is added to its environment.
func newBroker(t *testing.T, env ...string) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), env: env}
	t.Cleanup(func() {
		_ = b.signal(syscall.SIGCONT)
		b.run("down")
	})
	b.up()
	return b
}

func (b *broker) up() {
	b.t.Helper()
	said := b.run("up", "kafka")
	found := exported.FindStringSubmatch(said)
	require.NotNil(b.t, found)
	b.addr = found[1]
	if found := exportedSecure.FindStringSubmatch(said); found != nil {
		b.secure = found[1]
	}
}

func (b *broker) kill() { b.t.Helper(); b.run("kill", "kafka") }

// restart ends the broker as an operator does, and brings it back.
func (b *broker) restart() { b.t.Helper(); b.run("down"); b.up() }

func (b *broker) freeze() { b.t.Helper(); require.NoError(b.t, b.signal(syscall.SIGSTOP)) }

func (b *broker) thaw() { b.t.Helper(); require.NoError(b.t, b.signal(syscall.SIGCONT)) }

func (b *broker) signal(sig syscall.Signal) error {
	text, err := os.ReadFile(filepath.Join(b.dir, "run", "kafka.pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

func (b *broker) run(verb string, names ...string) string {
	b.t.Helper()
	args := append([]string{verb, b.dir}, names...)
	cmd := exec.CommandContext(context.Background(), "../services/services", args...)
	cmd.Env = append(os.Environ(), b.env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(b.t, err)
	return string(out)
}
