package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

const (
	envPrefix = "PS_"
	// secretFileLimit bounds what a …_FILE variable may read, in bytes.
	secretFileLimit = 64 << 10
)

// readEnviron collects PS_* variables by key. Case and underscores do not matter. NAME_FILE
// reads the value from a file.
func readEnviron(environ []string, problems *Problems) (values map[string]any, warnings []string) {
	byPlain := map[string]string{}
	for _, name := range names() {
		byPlain[plain(name)] = name
	}
	values = map[string]any{}
	from := map[string]string{}
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || len(name) <= len(envPrefix) || !strings.EqualFold(name[:len(envPrefix)], envPrefix) {
			continue
		}
		rest := plain(name[len(envPrefix):])
		key, isFile := byPlain[rest], false
		if key == "" {
			key, isFile = byPlain[strings.TrimSuffix(rest, "file")], strings.HasSuffix(rest, "file")
		}
		if key == "" {
			if !foreign(rest) {
				warnings = append(warnings, fmt.Sprintf("the variable %s is not a key of the configuration and is ignored%s", name,
					meantVariable(rest)))
			}
			continue
		}
		if isFile {
			read, err := readSecret(value)
			if err != nil {
				problems.add(key, fmt.Sprintf("%s: %v", name, err))
				continue
			}
			value = read
		}
		if other, twice := from[key]; twice && values[key] != value {
			problems.add(key, fmt.Sprintf("%s and %s say different things; set one of them", other, name))
			continue
		}
		values[key], from[key] = value, name
	}
	return values, warnings
}

// meantVariable returns the variable of the key with nearly the same spelling.
func meantVariable(rest string) string {
	var known []string
	byPlain := map[string]string{}
	for _, name := range names() {
		known = append(known, plain(name))
		byPlain[plain(name)] = variable(name)
	}
	near := spelling.Nearest(rest, known)
	if near == "" {
		return ""
	}
	return "; did you mean " + byPlain[near] + "?"
}

// variable returns the name of a key in the environment, as texts write it.
func variable(name string) string {
	var b strings.Builder
	before := '.'
	for _, c := range name {
		switch {
		case c == '.':
			b.WriteByte('_')
		case unicode.IsUpper(c) && unicode.IsLower(before):
			b.WriteByte('_')
			b.WriteRune(c)
		default:
			b.WriteRune(unicode.ToUpper(c))
		}
		before = c
	}
	return envPrefix + b.String()
}

// foreign reports variables that other parts of the product read.
func foreign(rest string) bool {
	return strings.HasPrefix(rest, "test") || strings.HasPrefix(rest, "failpoint") || rest == "config"
}

func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the secret's file: %w", err)
	}
	if info.IsDir() || info.Size() > secretFileLimit {
		return "", fmt.Errorf("the secret's file %s must be a file of at most %d bytes", path, secretFileLimit)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the secret's file: %w", err)
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

func lookupEnv(environ []string, name string) string {
	for _, pair := range environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			return v
		}
	}
	return ""
}
