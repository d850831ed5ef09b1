package vo

import "strings"

// Hidden stands where a value is that the reader may not see.
const Hidden = "***"

// secretWords are parts of names whose values are not shown, in small letters
// and without what separates words.
var secretWords = []string{"password", "passwd", "secret", "token", "apikey", "accesskey", "privatekey", "authorization", "credential", "cookie"}

// SecretName reports whether the name of a parameter or a header says that its
// value is a secret.
func SecretName(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	for _, word := range secretWords {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return false
}

// HideSecrets hides the values of what decoded JSON says are secrets. It changes
// the objects in it.
func HideSecrets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if SecretName(name) {
				v[name] = Hidden
			} else {
				v[name] = HideSecrets(v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = HideSecrets(v[i])
		}
	}
	return v
}
