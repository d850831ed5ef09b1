// Package secret seals values with keys that are kept outside the database. It uses
// XChaCha20-Poly1305, with a random nonce for each value. Each value is bound to the name under
// which it is stored, so that no row can replace another.
package secret

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// KeyBytes is the length of a key.
const KeyBytes = chacha20poly1305.KeySize

// ErrNoKey means that this node has no key, or not the key that sealed a value.
var ErrNoKey = errors.New("this node does not have the key")

// Keyring holds the key that seals, and the keys that sealed before. A nil or empty Keyring has
// no key. Safe for concurrent use.
type Keyring struct {
	current string
	keys    map[string]cipher.AEAD
}

// NewKeyring reads keys, each 32 bytes in base64. The first seals; the others only open what
// they sealed. Without keys, the ring neither seals nor opens.
func NewKeyring(keys ...string) (*Keyring, error) {
	r := &Keyring{keys: map[string]cipher.AEAD{}}
	for i, text := range keys {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(raw) != KeyBytes {
			return nil, fmt.Errorf("key %d is not %d bytes in base64, as `openssl rand -base64 32` prints them", i+1, KeyBytes)
		}
		aead, err := chacha20poly1305.NewX(raw)
		if err != nil {
			return nil, fmt.Errorf("use key %d: %w", i+1, err)
		}
		id := keyID(raw)
		r.keys[id] = aead
		if i == 0 {
			r.current = id
		}
	}
	return r, nil
}

// keyID names a key without revealing it.
func keyID(raw []byte) string {
	sum := sha256.Sum256(append([]byte("platform-scheduler key "), raw...))
	return hex.EncodeToString(sum[:4])
}

// Current returns the id of the key that seals, or "" without a key.
func (r *Keyring) Current() string {
	if r == nil {
		return ""
	}
	return r.current
}

// Has reports whether the ring holds a key.
func (r *Keyring) Has(keyID string) bool { return r != nil && r.keys[keyID] != nil }

// Seal encrypts a value for a name with the current key.
func (r *Keyring) Seal(name, value string) (keyID string, sealed []byte, err error) {
	if r.Current() == "" {
		return "", nil, ErrNoKey
	}
	aead := r.keys[r.current]
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(value)+aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return "", nil, fmt.Errorf("make a nonce: %w", err)
	}
	return r.current, aead.Seal(nonce, nonce, []byte(value), bound(name, r.current)), nil
}

// Open decrypts what Seal made for the same name. It fails with ErrNoKey when the ring does not
// hold the key.
func (r *Keyring) Open(name, keyID string, sealed []byte) (string, error) {
	if r == nil || r.keys[keyID] == nil {
		return "", fmt.Errorf("%w %s that sealed it", ErrNoKey, keyID)
	}
	aead := r.keys[keyID]
	if len(sealed) < aead.NonceSize() {
		return "", errors.New("the sealed value is damaged")
	}
	value, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], bound(name, keyID))
	if err != nil {
		return "", errors.New("the sealed value is damaged")
	}
	return string(value), nil
}

// bound is the additional data that binds a value to its name and key.
func bound(name, keyID string) []byte { return []byte(keyID + "/" + name) }
