// Package randtest gives tests random choices that can be repeated.
package randtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Variable is the environment's name of the seed of a former run.
const Variable = "PS_TEST_SEED"

// Seed is a new one for each test, or that of the environment. The test's log
// tells it, so a test that fails says how to repeat its choices.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(Variable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, Variable)
	}
	t.Logf("%s=%d repeats these choices", Variable, seed)
	return seed
}

// New makes choices from a Seed. Safe for concurrent use; the choices of one
// goroutine then depend on those of the others.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(&source{inner: rand.NewPCG(Seed(t), 0)}) //nolint:gosec // a seed that can be repeated is the point
}

// source is one that goroutines share.
type source struct {
	mu    sync.Mutex
	inner rand.Source
}

// Uint64 implements rand.Source.
func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inner.Uint64()
}
