package auth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/auth"
)

func TestHashAndVerify(t *testing.T) {
	h := auth.NewArgon2(2)
	encoded, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(encoded, "$argon2id$v=19$m=19456,t=2,p=1$"), encoded)

	again, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, encoded, again, "the salt must differ")

	ok, err := h.Verify(t.Context(), "correct horse", encoded)
	require.NoError(t, err)
	require.True(t, ok)
	for _, wrong := range []string{"", "correct horsf", "correct horse ", "Correct horse"} {
		ok, err = h.Verify(t.Context(), wrong, encoded)
		require.NoError(t, err)
		require.False(t, ok, "%q", wrong)
	}
}

func TestVerifyReadsOtherCosts(t *testing.T) {
	// The hash of "password" with the salt "somesalt", from the reference test vectors of Argon2.
	const vector = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	ok, err := auth.NewArgon2(1).Verify(t.Context(), "password", vector)
	require.NoError(t, err)
	require.True(t, ok)
}

func TestVerifyRefusesOtherFormats(t *testing.T) {
	h := auth.NewArgon2(1)
	for _, bad := range []string{
		"", "plain", "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=18$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=4294967295,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=2,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$", "$argon2id$v=19$m=19456,t=2,p=1$!!$!!",
		"$argon2id$" + strings.Repeat("x", 1000),
	} {
		_, err := h.Verify(t.Context(), "password", bad)
		require.ErrorIs(t, err, auth.ErrFormat, bad)
	}
}

func TestWaitingForAPlaceEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := auth.NewArgon2(1)
	free := h.Occupy()
	defer free()
	_, err := h.Hash(ctx, "x")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, h.Burn(ctx, "x"), context.Canceled)
}

// Of a flood so many wait as there is room for, and the rest learns so at once.
func TestTheQueueIsBounded(t *testing.T) {
	h := auth.NewArgon2(1)
	free := h.Occupy()
	outcomes := make(chan error, 100)
	for range 100 {
		go func() { outcomes <- h.Burn(t.Context(), "x") }()
	}
	for range 100 - 32 {
		require.True(t, apperror.Is(<-outcomes, apperror.KindTooMany))
	}
	free()
	for range 32 {
		require.NoError(t, <-outcomes)
	}
}

func TestBurnDoesTheWorkOfVerify(t *testing.T) {
	require.NoError(t, auth.NewArgon2(0).Burn(t.Context(), "x"))
}
