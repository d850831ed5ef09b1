package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

func TestAGroupIsMadeAndChanged(t *testing.T) {
	d := newDesk(t)
	put := func(n worker.GroupInput) (*entityworker.Group, entityworker.Group, error) {
		return d.groups.Put(t.Context(), n)
	}
	n := worker.GroupInput{Name: "shop", JobGroups: []string{"pay", "audit", "pay"}, Commands: true, MaxWorkers: 3}
	n.Version = 1
	_, _, err := put(n)
	wantCode(t, err, apperror.KindNotFound, "not_found")
	n.Version = 0
	before, made, err := put(n)
	require.NoError(t, err)
	require.Nil(t, before)
	require.Equal(t, []any{[]string{"audit", "pay"}, true, false, 3, 1},
		[]any{made.JobGroups, made.Commands, made.Secrets, made.MaxWorkers, made.Version})
	n.Secrets = true
	before, changed, err := put(n)
	require.NoError(t, err)
	require.Equal(t, made, *before)
	require.Equal(t, []any{true, 2}, []any{changed.Secrets, changed.Version}, "without a version the last edit wins")
	n.Version = 1
	_, _, err = put(n)
	wantCode(t, err, apperror.KindConflict, "stale_version")
	n.Version = 2
	_, _, err = put(n)
	require.NoError(t, err)

	_, _, err = put(worker.GroupInput{Name: "Shop", JobGroups: []string{"a\x00"}, MaxWorkers: 10_001})
	var fields []string
	for _, f := range apperror.InvalidFields(err) {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{"name", "jobGroups[0]", "maxWorkers"}, fields)
	for _, groups := range [][]string{nil, make([]string, 101)} {
		_, _, err = put(worker.GroupInput{Name: "shop", JobGroups: groups, MaxWorkers: 1})
		require.Equal(t, "jobGroups", apperror.InvalidFields(err)[0].Field)
	}
	all, err := d.groups.List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// A token is shown once; it works until it ends, and five seconds longer at most once it is revoked (V16, V26).
func TestATokenLetsIn(t *testing.T) {
	d := newDesk(t)
	d.group("shop", "pay")
	id, secret := d.token("shop")
	require.Regexp(t, "^psw_[0-9a-f]{64}$", secret)
	found, err := d.tokens.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	require.Equal(t, []any{id, "shop"}, []any{found.ID, found.Group})
	listed, err := d.groups.Tokens(t.Context(), "shop")
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.NotContains(t, fmt.Sprint(listed), secret)
	require.Equal(t, d.clock.Now(), listed[0].LastUsedAt)

	_, other := d.token("shop")
	_, err = d.groups.RevokeToken(t.Context(), "bank", id)
	wantCode(t, err, apperror.KindNotFound, "not_found")
	revoked, err := d.groups.RevokeToken(t.Context(), "shop", id)
	require.NoError(t, err)
	require.Equal(t, "deploy", revoked.Name)
	_, err = d.tokens.Authenticate(t.Context(), secret)
	wantCode(t, err, apperror.KindUnauthenticated, "unknown_token")
	_, err = d.tokens.Authenticate(t.Context(), other)
	require.NoError(t, err, "rotation is two live tokens")
	d.clock.Advance(time.Hour)
	_, err = d.tokens.Authenticate(t.Context(), other)
	wantCode(t, err, apperror.KindUnauthenticated, "unknown_token")
	for _, wrong := range []string{
		"", "psw_", secret[:10], "pst_" + secret[4:], secret + "0", "psw_" + strings.Repeat("g", 64),
	} {
		_, err = d.tokens.Authenticate(t.Context(), wrong)
		wantCode(t, err, apperror.KindUnauthenticated, "unknown_token")
	}
}

func TestTokensAreRefused(t *testing.T) {
	d := newDesk(t)
	d.group("shop", "pay")
	create := func(name string, life time.Duration) error {
		_, _, err := d.groups.CreateToken(t.Context(), worker.TokenInput{
			Group: "shop", Name: name, ExpiresAt: d.clock.Now().Add(life),
		})
		return err
	}
	for name, life := range map[string]time.Duration{"a": 0, "b": 366*24*time.Hour + 1} {
		require.Equal(t, "expiresAt", apperror.InvalidFields(create(name, life))[0].Field)
	}
	for _, name := range []string{"", " a", "a\x00", strings.Repeat("x", 101)} {
		require.Equal(t, "name", apperror.InvalidFields(create(name, time.Hour))[0].Field)
	}
	for range entityworker.MaxTokens {
		require.NoError(t, create("a", 366*24*time.Hour))
	}
	wantCode(t, create("a", time.Hour), apperror.KindConflict, "too_many_tokens")
	_, _, err := d.groups.CreateToken(t.Context(), worker.TokenInput{Group: "none", Name: "a"})
	wantCode(t, err, apperror.KindNotFound, "not_found")
	_, err = d.groups.Tokens(t.Context(), "none")
	wantCode(t, err, apperror.KindNotFound, "not_found")
	require.NoError(t, d.groups.Delete(t.Context(), "shop"))
	wantCode(t, d.groups.Delete(t.Context(), "shop"), apperror.KindNotFound, "not_found")
}

// book is a store of tokens in which every one is good, until the test says otherwise.
type book struct {
	looks, uses atomic.Int64
	err         atomic.Pointer[error]
	// hold keeps looks waiting; nil does not.
	hold chan struct{}
}

func (b *book) WorkerTokenByHash(ctx context.Context, hash string, now time.Time) (entityworker.Token, error) {
	b.looks.Add(1)
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-ctx.Done():
			return entityworker.Token{}, ctx.Err()
		}
	}
	if err := b.err.Load(); err != nil {
		return entityworker.Token{}, *err
	}
	return entityworker.Token{ID: hash, Group: "shop", ExpiresAt: now.Add(time.Hour)}, nil
}

func (b *book) UseWorkerToken(context.Context, string, time.Time) error {
	b.uses.Add(1)
	return nil
}

func (b *book) fail(err error) { b.err.Store(&err) }

func secretOf(i int) string { return fmt.Sprintf("psw_%064x", i) }

func TestATokenIsLookedUpOnceInFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{hold: make(chan struct{})}
		a := worker.NewAuthenticator(b, clock.NewSystem())
		done := make(chan error, 1000)
		for range cap(done) {
			go func() {
				_, err := a.Authenticate(t.Context(), secretOf(1))
				done <- err
			}()
		}
		synctest.Wait()
		close(b.hold)
		for range cap(done) {
			require.NoError(t, <-done)
		}
		require.Equal(t, int64(1), b.looks.Load(), "a thousand workers, one look")
		time.Sleep(5*time.Second - 1)
		b.fail(apperror.NotFound("worker token", "given"))
		_, err := a.Authenticate(t.Context(), secretOf(1))
		require.NoError(t, err)
		time.Sleep(time.Nanosecond)
		for range 2 {
			_, err = a.Authenticate(t.Context(), secretOf(1))
			wantCode(t, err, apperror.KindUnauthenticated, "unknown_token")
		}
		require.Equal(t, int64(2), b.looks.Load(), "that it is unknown is remembered as well")
	})
}

// A store that is away keeps nobody out who was in: the gateway answers such workers by itself (V8).
func TestAStoreThatIsAwayKeepsNobodyOut(t *testing.T) {
	for name, away := range map[string]func(b *book){
		"fails": func(b *book) { b.fail(errors.New("down")) },
		"hangs": func(b *book) { b.hold = make(chan struct{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &book{}
				a := worker.NewAuthenticator(b, clock.NewSystem())
				_, err := a.Authenticate(t.Context(), secretOf(1))
				require.NoError(t, err)
				away(b)
				time.Sleep(2 * time.Minute)
				began := time.Now()
				_, err = a.Authenticate(t.Context(), secretOf(1))
				require.NoError(t, err)
				_, err = a.Authenticate(t.Context(), secretOf(1))
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(began), time.Second, "the second call does not wait again")
				_, err = a.Authenticate(t.Context(), secretOf(2))
				require.Error(t, err, "a stranger")
				require.False(t, apperror.Is(err, apperror.KindUnauthenticated))
				time.Sleep(9 * time.Minute)
				_, err = a.Authenticate(t.Context(), secretOf(1))
				require.Error(t, err, "not for ever")
				time.Sleep(time.Minute) // the looks end
			})
		})
	}
}

// Guessing takes neither the store nor the memory of a node.
func TestUnknownTokensAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		a := worker.NewAuthenticator(b, clock.NewSystem())
		_, err := a.Authenticate(t.Context(), secretOf(0))
		require.NoError(t, err)
		time.Sleep(5 * time.Second)
		b.hold = make(chan struct{})
		refused := make(chan error, 1000)
		for i := range cap(refused) {
			go func() {
				_, err := a.Authenticate(t.Context(), secretOf(i+1))
				refused <- err
			}()
		}
		synctest.Wait()
		require.Equal(t, int64(1+16), b.looks.Load())
		for range 1000 - 16 {
			require.Positive(t, wantCode(t, <-refused, apperror.KindTooMany, "too_many_unknown_tokens").RetryAfterSec)
		}
		in := make(chan error, 1)
		go func() {
			_, err := a.Authenticate(t.Context(), secretOf(0))
			in <- err
		}()
		synctest.Wait()
		require.Equal(t, int64(1+16+1), b.looks.Load(), "one who was in before is looked up beside them")
		close(b.hold)
		require.NoError(t, <-in)
		synctest.Wait()

		b.fail(apperror.NotFound("worker token", "given"))
		for i := range 20_000 {
			_, err := a.Authenticate(t.Context(), secretOf(i+2000))
			wantCode(t, err, apperror.KindUnauthenticated, "unknown_token")
		}
		_, err = a.Authenticate(t.Context(), secretOf(0))
		require.NoError(t, err, "who is in stays in")
	})
}

// No group is made beside a node of another release: it would run the jobs of workers itself (V22).
func TestNoGroupIsMadeBesideAnOlderNode(t *testing.T) {
	d := newDesk(t)
	epoch, err := d.store.Register(t.Context(), entity.Node{
		ID: "node-9", Status: entity.NodeUp, Roles: []string{entity.RoleExecutor}, Version: "1.9",
	})
	require.NoError(t, err)
	n := worker.GroupInput{Name: "shop", JobGroups: []string{"pay"}, MaxWorkers: 3}
	_, _, err = d.groups.Put(t.Context(), n)
	wantCode(t, err, apperror.KindConflict, "old_nodes")
	require.ErrorContains(t, err, "bring node-9 (1.9) to 2.0")
	require.NoError(t, d.store.Leave(t.Context(), "node-9", epoch))
	_, _, err = d.groups.Put(t.Context(), n)
	require.NoError(t, err)
}
