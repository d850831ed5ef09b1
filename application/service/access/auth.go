// Package access holds who may come in: sign-in, sessions, users, API tokens and
// the rules of passwords.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Bounds of sign-in. Lengths are in characters, except where a column or the
// cost of hashing asks for bytes.
const (
	// FirstAdmin is the name of the user that the first start makes.
	FirstAdmin = "admin"
	// SessionLife is how long a sign-in lasts. Of a user the latest MaxSessions go
	// on, and older ones end.
	SessionLife = 12 * time.Hour
	MaxSessions = 100

	maxUserName   = 100
	maxToken      = 256
	sessionPrefix = "pss_"
)

// PasswordHasher hashes and compares passwords. It is safe for concurrent use
// and bounds the memory of concurrent calls by itself.
type PasswordHasher interface {
	// Hash returns a salted, self-describing hash.
	Hash(ctx context.Context, password string) (string, error)
	// Verify reports whether the password has that hash, in constant time.
	Verify(ctx context.Context, password, encoded string) (bool, error)
	// Burn takes as long as Verify, so that the time of an answer does not
	// tell whether a user exists.
	Burn(ctx context.Context, password string) error
}

// PastSignIns tells where users have signed in from, also at other nodes and
// before this process began.
type PastSignIns interface {
	// SignInAddresses are those of one user, latest first.
	SignInAddresses(ctx context.Context, userID string) ([]string, error)
}

// Login is a fresh session: the token is shown once and only its hash is kept.
type Login struct {
	Token     string
	ExpiresAt time.Time
	User      entity.User
}

// AuthService signs people in and out. It is safe for concurrent use.
type AuthService struct {
	users    repository.Users
	sessions repository.Sessions
	tokens   repository.Tokens
	past     PastSignIns
	hasher   PasswordHasher
	clock    clock.Clock
	guard    *loginGuard
}

// NewAuthService puts sign-in together from its ports. past may be nil. Then only sign-ins
// at this node, since it began, tell an owner from a stranger.
func NewAuthService(users repository.Users, sessions repository.Sessions, tokens repository.Tokens, past PastSignIns,
	hasher PasswordHasher, c clock.Clock,
) *AuthService {
	return &AuthService{
		users: users, sessions: sessions, tokens: tokens, past: past, hasher: hasher, clock: c,
		guard: newLoginGuard(),
	}
}

// Login checks a name and password and opens a session. A wrong pair is
// apperror.KindUnauthenticated whether or not the user exists. Too many tries for the
// account, or from the address, are apperror.KindTooMany before any check. While others
// guess at the account it may wait for its turn, at most longestTurn.
func (s *AuthService) Login(ctx context.Context, name, password, clientAddr string) (Login, error) {
	if s.past != nil && s.guard.wondersAbout(s.clock.Monotonic(), accountKey(name), clientAddr) {
		s.recall(ctx, name)
	}
	try, err := s.guard.begin(s.clock.Monotonic(), accountKey(name), clientAddr)
	if err != nil {
		return Login{}, err
	}
	user, err := s.attempt(ctx, try, name, password)
	if err != nil {
		return Login{}, err
	}
	token, session := s.newSession(user.ID)
	if err := s.sessions.AddSession(ctx, session, MaxSessions); err != nil {
		return Login{}, fmt.Errorf("open a session for %s: %w", user.ID, err)
	}
	return Login{Token: token, ExpiresAt: session.ExpiresAt, User: user}, nil
}

// newSession makes a session that begins now, and its token.
func (s *AuthService) newSession(userID string) (token string, session entity.Session) {
	token = newSecret(sessionPrefix)
	now := s.clock.Now()
	return token, entity.Session{
		TokenHash: hashToken(token), UserID: userID, ExpiresAt: now.Add(SessionLife), CreateTime: now,
	}
}

// recall tells the guard where an account has signed in from. Where the store does
// not answer, the sign-in finds that out by itself.
func (s *AuthService) recall(ctx context.Context, name string) {
	user, err := s.users.UserByName(ctx, name)
	if err != nil {
		return
	}
	addresses, err := s.past.SignInAddresses(ctx, user.ID)
	if err != nil {
		return
	}
	s.guard.recall(accountKey(name), addresses)
}

// errUnfinished is the outcome of a try that a panic ended.
var errUnfinished = errors.New("the try was not finished")

// attempt checks a pair when the turn of the try has come.
func (s *AuthService) attempt(ctx context.Context, try *attempt, name, password string) (user entity.User, err error) {
	err = errUnfinished
	defer func() { try.end(err) }()
	if err = clock.Sleep(ctx, s.clock, try.turn); err != nil {
		return user, err
	}
	if err = try.enter(); err != nil {
		return user, err
	}
	return s.check(ctx, name, password)
}

// check verifies the pair; its time does not depend on which part is wrong.
func (s *AuthService) check(ctx context.Context, name, password string) (entity.User, error) {
	wrong := apperror.New(apperror.KindUnauthenticated, "wrong_credentials", "the user name or the password is wrong")
	if len(password) > MaxPassword || name == "" || utf8.RuneCountInString(name) > maxUserName {
		// Nobody has such a name or password, and hashing more would only be
		// work for us.
		if err := s.hasher.Burn(ctx, ""); err != nil {
			return entity.User{}, fmt.Errorf("check a password: %w", err)
		}
		return entity.User{}, wrong
	}
	user, err := s.users.UserByName(ctx, name)
	if apperror.Is(err, apperror.KindNotFound) {
		if err := s.hasher.Burn(ctx, password); err != nil {
			return entity.User{}, fmt.Errorf("check a password: %w", err)
		}
		return entity.User{}, wrong
	}
	if err != nil {
		return entity.User{}, fmt.Errorf("look up a user: %w", err)
	}
	ok, err := s.hasher.Verify(ctx, password, user.PasswordHash)
	if err != nil {
		return entity.User{}, fmt.Errorf("check the password of %s: %w", user.ID, err)
	}
	if !ok || user.Role == entity.RoleDisabled {
		return entity.User{}, wrong
	}
	return user, nil
}

// Logout ends the session of a token, or revokes an API token; an unknown one
// is no error.
func (s *AuthService) Logout(ctx context.Context, token string) error {
	if strings.HasPrefix(token, tokenPrefix) {
		t, err := s.tokens.TokenByHash(ctx, hashToken(token), s.clock.Now())
		if err == nil {
			_, err = s.tokens.DropToken(ctx, t.ID, t.UserID)
		}
		if err != nil && !apperror.Is(err, apperror.KindNotFound) {
			return fmt.Errorf("revoke a token: %w", err)
		}
		return nil
	}
	if err := s.sessions.DropSession(ctx, hashToken(token)); err != nil && !apperror.Is(err, apperror.KindNotFound) {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// Authenticate returns the owner of a session token or API token, or
// apperror.KindUnauthenticated. It returns the error of a store that is away: without
// the store no caller gets in.
func (s *AuthService) Authenticate(ctx context.Context, token string) (entity.Principal, error) {
	unknown := apperror.New(apperror.KindUnauthenticated, "unknown_token",
		"the token is unknown or expired; sign in again")
	if token == "" || len(token) > maxToken {
		return entity.Principal{}, unknown
	}
	p, userID, err := s.owner(ctx, token)
	if apperror.Is(err, apperror.KindNotFound) {
		return entity.Principal{}, unknown
	}
	if err != nil {
		return entity.Principal{}, fmt.Errorf("look up a token: %w", err)
	}
	p.User, err = s.users.UserByID(ctx, userID)
	if apperror.Is(err, apperror.KindNotFound) || err == nil && p.User.Role == entity.RoleDisabled {
		return entity.Principal{}, unknown
	}
	if err != nil {
		return entity.Principal{}, fmt.Errorf("look up the owner of a token: %w", err)
	}
	return p, nil
}

// AuthenticateAll returns the owners of session tokens, by one look-up of all of them. It
// leaves out API tokens, whose use is noted one by one, and tokens that are unknown or
// expired. It returns the error of a store that is away.
func (s *AuthService) AuthenticateAll(ctx context.Context, tokens []string) (map[string]entity.Principal, error) {
	byHash := make(map[string]string, len(tokens))
	hashes := make([]string, 0, len(tokens))
	for _, token := range tokens {
		if token != "" && len(token) <= maxToken && !strings.HasPrefix(token, tokenPrefix) {
			hash := hashToken(token)
			byHash[hash], hashes = token, append(hashes, hash)
		}
	}
	users, err := s.sessions.SessionUsers(ctx, hashes, s.clock.Now())
	if err != nil {
		return nil, fmt.Errorf("look up the owners of sessions: %w", err)
	}
	found := make(map[string]entity.Principal, len(users))
	for hash, user := range users {
		if user.Role != entity.RoleDisabled {
			found[byHash[hash]] = entity.Principal{User: user}
		}
	}
	return found, nil
}

// owner finds whose token it is.
func (s *AuthService) owner(ctx context.Context, token string) (p entity.Principal, userID string, err error) {
	now := s.clock.Now()
	if !strings.HasPrefix(token, tokenPrefix) {
		session, err := s.sessions.SessionByHash(ctx, hashToken(token), now)
		if err == nil && !session.ExpiresAt.After(now) {
			err = apperror.NotFound("session", "given")
		}
		return p, session.UserID, err
	}
	t, err := s.tokens.TokenByHash(ctx, hashToken(token), now)
	if err != nil {
		return p, "", err
	}
	if now.Sub(t.LastUsedAt) >= useEvery {
		// For people to see which tokens nobody uses: no reason to refuse a call.
		_ = s.tokens.UseToken(ctx, t.ID, now)
	}
	return entity.Principal{TokenID: t.ID, TokenName: t.Name, Scopes: t.Scopes}, t.UserID, nil
}

// PasswordChange is another password that users choose for themselves.
type PasswordChange struct {
	Old, New string
	// KeepTokens leaves the API tokens as they are.
	KeepTokens bool
	// Renew opens a session where the old password was one that had to be changed: its user
	// goes on without another sign-in.
	Renew bool
}

// ChangePassword replaces the password of a user who knows the old one. It ends all
// sessions of that user, and all API tokens unless KeepTokens is set. The answer is the
// session that Renew opened, the only one then, or nil. Wrong fields are oldPassword and
// newPassword.
func (s *AuthService) ChangePassword(ctx context.Context, userID string, change PasswordChange) (*Login, error) {
	user, err := s.users.UserByID(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("look up user %s: %w", userID, err)
	}
	if fields := weaknesses("newPassword", change.New, user.Name); fields != nil {
		return nil, apperror.Invalid(fields)
	}
	if change.New == change.Old {
		return nil, apperror.InvalidField("newPassword", "unchanged", "must differ from the old password")
	}
	// A stolen session must not become a way to guess the password.
	try, err := s.guard.beginOwn(s.clock.Monotonic(), user.ID)
	if err != nil {
		return nil, err
	}
	_, err = s.attempt(ctx, try, user.Name, change.Old)
	if apperror.Is(err, apperror.KindUnauthenticated) {
		return nil, apperror.InvalidField("oldPassword", "wrong_password", "is not the present password")
	}
	if err != nil {
		return nil, err
	}
	return s.setPassword(ctx, user, change)
}

func (s *AuthService) setPassword(ctx context.Context, user entity.User, change PasswordChange) (*Login, error) {
	hash, err := s.hasher.Hash(ctx, change.New)
	if err != nil {
		return nil, fmt.Errorf("hash the new password of %s: %w", user.ID, err)
	}
	p := repository.NewPassword{Hash: hash, KeepTokens: change.KeepTokens, At: s.clock.Now()}
	var renewed *Login
	if change.Renew && user.MustChangePassword {
		token, session := s.newSession(user.ID)
		user.MustChangePassword = false
		p.Session, renewed = &session, &Login{Token: token, ExpiresAt: session.ExpiresAt, User: user}
	}
	if err := s.users.SetPassword(ctx, user.ID, p); err != nil {
		return nil, fmt.Errorf("store the new password of %s: %w", user.ID, err)
	}
	return renewed, nil
}

// EnsureFirstAdmin makes the user admin, who is to change the password, if there is no
// user at all. Without a password it makes one up and returns it, once; else generated
// is empty. When two nodes start at the same time, one of them makes the user.
func (s *AuthService) EnsureFirstAdmin(ctx context.Context, initialPassword string) (generated string, err error) {
	n, err := s.users.CountUsers(ctx)
	if err != nil {
		return "", fmt.Errorf("count the users: %w", err)
	}
	if n > 0 {
		return "", nil
	}
	password := initialPassword
	if password == "" {
		generated = newSecret("")
		password = generated
	} else if fields := weaknesses("auth.initialAdminPassword", password, FirstAdmin); fields != nil {
		return "", apperror.Invalid(fields)
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return "", fmt.Errorf("hash the first password: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make an id for the first user: %w", err)
	}
	now := s.clock.Now()
	err = s.users.AddUser(ctx, entity.User{
		ID: id.String(), Name: FirstAdmin, PasswordHash: hash, Role: entity.RoleAdmin, MustChangePassword: true,
		CreateTime: now, UpdateTime: now,
	})
	if apperror.Is(err, apperror.KindConflict) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("add the first user: %w", err)
	}
	return generated, nil
}

// newSecret returns 256 random bits as a string, behind a prefix that secret scanners
// recognise.
func newSecret(prefix string) string {
	raw := make([]byte, 32)
	// crypto/rand never fails: it ends the process instead.
	_, _ = rand.Read(raw)
	return prefix + hex.EncodeToString(raw)
}

// hashToken is how tokens are stored: they are random, so that a fast hash
// without salt is enough.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
