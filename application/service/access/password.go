package access

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// MinPassword and MaxPassword bound new passwords, in characters and in bytes.
const (
	MinPassword = 10
	MaxPassword = 256
)

const (
	// minOwn is how many characters a password has beside the name of its user.
	minOwn = 6
	// minDistinct is how many different characters it has, maxPeriod the length of
	// a part that may not make up all of it.
	minDistinct = 4
	maxPeriod   = 5
)

// guessedWords and guessedKeys are what is tried first: words with digits and
// signs around them, and walks over the keyboard.
func guessedWords() []string {
	return []string{
		"password", "passw0rd", "p@ssword", "p@ssw0rd", "pa$$word", "passwordpassword", "mypassword", "thepassword",
		"newpassword", "passphrase",
		"admin", "administrator", "adminadmin", "adminpassword", "root", "rootroot", "rootpassword", "user", "guest", "test",
		"testtest", "testpassword", "demo",
		"changeme", "change-me", "change_me", "changethis", "pleasechange", "default", "defaultpassword", "default_token",
		"secret", "topsecret", "letmein", "letmeinplease",
		"welcome", "login", "iloveyou", "sunshine", "princess", "football", "baseball", "superman", "batman", "dragon",
		"monkey", "master", "trustno", "computer", "internet",
		"qwerty", "qwertyuiop", "azerty", "azertyuiop", "asdfghjkl", "zxcvbnm", "qwertz", "qwertzuiop", "abc", "abcd",
		"scheduler", "platform-scheduler", "platformscheduler",
		"xxl-job", "xxl_job", "xxljob", "powerjob", "quartz", "nacos", "redis", "mysql", "kafka", "docker", "kubernetes",
	}
}

func guessedKeys() []string {
	return []string{
		"1q2w3e4r5t", "1q2w3e4r5t6y", "q1w2e3r4t5", "1qaz2wsx3edc", "qazwsxedcrfv", "zaq12wsxcde3", "qwer1234qwer",
		"asdf1234asdf", "1234qwerasdf", "123qweasdzxc",
		"qweasdzxc123", "a1b2c3d4e5", "1a2b3c4d5e", "abc123abc123", "correcthorsebatterystaple",
		"correct horse battery staple",
	}
}

// weaknesses says what is wrong with a new password.
func weaknesses(field, password, userName string) []apperror.Field {
	wrong := func(code, format string, args ...any) []apperror.Field {
		return []apperror.Field{{Field: field, Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return wrong("invalid_text", "must be valid UTF-8 without NUL")
	case utf8.RuneCountInString(password) < MinPassword:
		return wrong("too_short", "must have at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return wrong("too_long", "must have at most %d bytes", MaxPassword)
	case mostly(password, userName):
		return wrong("too_common", "must have at least %d characters beside the name of the user", minOwn)
	case plainPattern([]rune(strings.ToLower(password))):
		return wrong("too_common",
			"must not repeat or count up a few characters; choose several words, or a password that a program made")
	case guessed(strings.ToLower(password)):
		return wrong("too_common", "is among the first that are guessed; choose another")
	default:
		return nil
	}
}

// mostly reports that a password is little more than the name.
func mostly(password, name string) bool {
	if len(name) < 3 {
		return false
	}
	rest := strings.ReplaceAll(strings.ToLower(password), strings.ToLower(name), "")
	return len(rest) < len(password) && utf8.RuneCountInString(rest) < minOwn
}

// plainPattern reports a few characters over and over, or in their order.
func plainPattern(runes []rune) bool {
	distinct := map[rune]bool{}
	for _, r := range runes {
		distinct[r] = true
	}
	if len(distinct) < minDistinct {
		return true
	}
	for period := 1; period <= maxPeriod; period++ {
		if slices.Equal(runes[period:], runes[:len(runes)-period]) {
			return true
		}
	}
	return counts(runes, 1) || counts(runes, -1)
}

// counts reports digits or letters in their order, such as 7890123456.
func counts(runes []rune, step rune) bool {
	for i := 1; i < len(runes); i++ {
		d := runes[i] - runes[i-1]
		around := step * ('0' - '9') // from 9 to 0, or back
		digits := unicode.IsDigit(runes[i]) && unicode.IsDigit(runes[i-1])
		if d != step && (d != around || !digits) {
			return false
		}
	}
	return true
}

// guessed reports one of the first guesses; lower is in lower case.
func guessed(lower string) bool {
	if slices.Contains(guessedKeys(), lower) {
		return true
	}
	word := strings.TrimFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(guessedWords(), word)
}
