package conformance_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

var sdkCommand = flag.String("sdk", "", "the command of the worker under test, from the top folder; empty: the Go one")

// patience is how long a scenario waits for what has to come, however slow the machine is.
const patience = time.Minute

// atOnce is how many scenarios go on at once: they wait most of the time.
const atOnce = "12"

// command is how the worker under test is started.
var command []string

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	code, err := suite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func suite(m *testing.M) (code int, err error) {
	if command = strings.Fields(*sdkCommand); len(command) == 0 {
		dir, err := os.MkdirTemp("", "goworker")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		program := filepath.Join(dir, "goworker")
		out, err := exec.Command("go", "build", "-o", program, "./goworker").CombinedOutput()
		if err != nil {
			return 1, fmt.Errorf("build the worker: %w\n%s", err, out)
		}
		command = []string{program}
	}
	return m.Run(), nil
}

// isGo: the worker under test is that of the Go SDK.
func isGo() bool { return *sdkCommand == "" }

// scene is a gateway with a worker.
type scene struct {
	*conformance.Gateway
	t       *testing.T
	servers []*httptest.Server
	dir     string
	env     map[string]string

	cmd    *exec.Cmd
	stderr bytes.Buffer
	exited chan struct{}
	mu     sync.Mutex
	code   int
}

// play makes a gateway with one address. The worker starts with start.
func play(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	s := &scene{
		Gateway: conformance.NewGateway(), t: t, dir: t.TempDir(), env: map[string]string{}, exited: make(chan struct{}),
	}
	s.servers = []*httptest.Server{s.serve(0)}
	require.NoError(t, os.WriteFile(s.path("token"), []byte(s.Token+"\n"), 0o600))
	require.NoError(t, os.WriteFile(s.path("ledger"), nil, 0o600))
	t.Cleanup(s.end)
	return s
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

// serve makes one address of the gateway. It listens from start on.
func (s *scene) serve(n int) *httptest.Server {
	server := httptest.NewUnstartedServer(s.Handler(n))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	return server
}

// start starts the worker.
func (s *scene) start() {
	s.t.Helper()
	var urls []string
	for _, server := range s.servers {
		if server.URL == "" {
			server.Start()
		}
		urls = append(urls, server.URL)
	}
	env := map[string]string{
		"PS_SERVERS": strings.Join(urls, ","), "PS_TOKEN_FILE": s.path("token"), "PS_GROUP": "shop",
		"PS_INSTANCE": "shop-1", "PS_SLOTS": "8", "PS_GRACE_MS": "5000", "PS_CA_FILE": "", "PS_LEDGER": s.path("ledger"),
	}
	for name, value := range s.env {
		env[name] = value
	}
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Dir = filepath.Join("..", "..")
	s.cmd.Env = os.Environ()
	for name, value := range env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	s.cmd.Stderr, s.cmd.Stdout = &s.stderr, io.Discard
	s.cmd.WaitDelay = time.Second
	require.NoError(s.t, s.cmd.Start())
	go func() {
		err := s.cmd.Wait()
		s.mu.Lock()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			s.code = exit.ExitCode()
		}
		s.mu.Unlock()
		close(s.exited)
	}()
}

// end stops the worker by force, and judges what holds in each scenario.
func (s *scene) end() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.exited
	}
	for _, server := range s.servers {
		server.CloseClientConnections()
		server.Close()
	}
	for _, fault := range s.Faults() {
		s.t.Error(fault)
	}
	begun := map[string]bool{}
	for _, line := range s.ledger() {
		if name, ok := strings.CutPrefix(line, "begin "); ok {
			if begun[name] {
				s.t.Errorf("%s began twice", name)
			}
			begun[name] = true
		}
	}
	if s.t.Failed() && s.cmd != nil {
		s.t.Logf("the ledger:\n%s\nthe worker said:\n%s\nits calls:\n%s", strings.Join(s.ledger(), "\n"), s.stderr.String(),
			s.History())
	}
}

// ledger are the lines that the handlers wrote.
func (s *scene) ledger() []string {
	text, err := os.ReadFile(s.path("ledger"))
	if err != nil {
		s.t.Error(err)
	}
	lines := strings.Split(string(text), "\n")
	return lines[:len(lines)-1] // what follows the last line feed is not whole
}

// wrote reports whether the ledger has that line, or one that begins so.
func (s *scene) wrote(what string) bool {
	return slices.ContainsFunc(s.ledger(), func(line string) bool { return strings.HasPrefix(line+" ", what+" ") })
}

// until waits until something is true of what the gateway knows.
func (s *scene) until(what string, ask func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond) // for the ledger
	defer tick.Stop()
	for {
		ok, changed := s.Look(ask)
		if ok {
			return
		}
		select {
		case <-s.exited:
			if ok, _ := s.Look(ask); !ok {
				s.t.Fatalf("the worker has ended, and it never came: %s", what)
			}
			return
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("it never came: %s", what)
		}
	}
}

// ended waits for the end of a run, and returns it.
func (s *scene) ended(r *conformance.Run) (e conformance.End) {
	s.t.Helper()
	s.until("the end of "+r.ID, func() bool {
		if r.Ended() == nil {
			return false
		}
		e = *r.Ended()
		return true
	})
	return e
}

// polls waits for so many more polls.
func (s *scene) polls(n int) {
	s.t.Helper()
	first := -1
	s.until(fmt.Sprintf("%d more polls", n), func() bool {
		now := len(s.Calls("poll"))
		if first < 0 {
			first = now
		}
		return now >= first+n
	})
}

// registered waits for the first poll.
func (s *scene) registered() {
	s.t.Helper()
	s.until("a poll", func() bool { return s.Newest("poll") != nil })
}

func (s *scene) terminate() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
}

// exit waits for the end of the process, and returns its code.
func (s *scene) exit() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatal("the worker does not end")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}

// secure makes the address one with TLS, and returns the certificate that its own descends from.
func (s *scene) secure() (ca []byte, handshakes *counter) {
	handshakes = &counter{}
	server := s.servers[0]
	server.Config.ErrorLog = log.New(handshakes, "", 0)
	server.EnableHTTP2 = true
	server.StartTLS()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), handshakes
}

// counter counts handshakes that failed.
type counter struct {
	mu sync.Mutex
	n  int
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.Contains(p, []byte("TLS handshake error")) {
		c.n++
	}
	return len(p), nil
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// gone: the worker has ended.
func (s *scene) gone() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// trust makes the worker trust what descends from a certificate, and nothing else.
func (s *scene) trust(ca []byte) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.path("ca.pem"), ca, 0o600))
	s.env["PS_CA_FILE"] = s.path("ca.pem")
}

// anotherCA is a certificate that the gateway's does not descend from.
func anotherCA(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "another"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}
