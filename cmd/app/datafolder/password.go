package datafolder

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// FirstPassword is the first admin's password, and the file that holds it.
func (d *Folder) FirstPassword() (password, file string, err error) {
	file = d.File(passwordFile)
	password, err = firstPassword(file)
	return password, file, err
}

// firstPassword reads the file of a start that did not get further, or makes
// a password up and writes it.
func firstPassword(file string) (string, error) {
	old, err := readPrivate(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if password := strings.TrimSpace(string(old)); password != "" {
		return password, nil
	}
	raw := make([]byte, 18)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	password := base64.RawURLEncoding.EncodeToString(raw)
	return password, os.WriteFile(file, []byte(password+"\n"), 0o600)
}
