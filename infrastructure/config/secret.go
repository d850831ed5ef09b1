package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// bearerChars are the characters of a token in an Authorization header.
const bearerChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

// mask replaces a secret that is set.
const mask = "******"

// knownDefaults are passwords that scanners try first. Other products ship with them, and
// attackers take over installations with them.
func knownDefaults() []string {
	return []string{
		"admin", "admin123", "administrator", "password", "password1", "password123", "passw0rd", "p@ssw0rd",
		"123456", "12345678", "123456789", "1234567890", "000000", "111111", "qwerty", "letmein", "changeme", "change-me",
		"change_me",
		"default", "default_token", "secret", "root", "root123", "guest", "test", "toor", "redis", "foobared", "mysql",
		"kafka",
		"scheduler", "platform-scheduler", "xxl-job", "xxl_job", "powerjob", "powerjob123", "nacos", "root.2020", mask,
	}
}

func isKnownDefault(s string) bool {
	return slices.Contains(knownDefaults(), strings.ToLower(strings.TrimSpace(s)))
}

func (c *Config) checkSecrets(p *Problems) {
	for _, k := range c.keys() {
		if !k.secret {
			continue
		}
		value := fmt.Sprint(k.show())
		if k.name == "store.dsn" {
			_, value, _, _ = splitDSN(value)
		}
		if value != "" && isKnownDefault(value) {
			p.add(k.name, "is a well-known default password; choose another")
		}
	}
	if s := c.Server.MetricsToken; s != "" && !isKnownDefault(s) &&
		(len(s) < 16 || len(s) > 512 || strings.Trim(s, bearerChars) != "") {
		p.add("server.metricsToken", "must have 16 to 512 letters, digits and -._~+/=, such as openssl rand -hex 32 prints")
	}
	// A first start requires more (access.MinPassword); later starts ignore the password.
	if s := c.Auth.InitialAdminPassword; s != "" && !isKnownDefault(s) && (len([]rune(s)) < 8 || len(s) > 256) {
		p.add("auth.initialAdminPassword", "must have 8 to 256 characters")
	}
}

// splitDSN splits user:password@rest; ok is false without a password. The password may itself
// hold @, because the driver reads up to the last one before the address.
func splitDSN(dsn string) (user, password, rest string, ok bool) {
	head := dsn
	if i := strings.LastIndexByte(dsn, '/'); i >= 0 {
		head = dsn[:i]
	}
	at := strings.LastIndexByte(head, '@')
	if at < 0 {
		return "", "", dsn, false
	}
	user, password, ok = strings.Cut(dsn[:at], ":")
	return user, password, dsn[at:], ok && password != ""
}

// maskSecret hides a secret value. Of a DSN it shows what is not secret.
func maskSecret(name, value string) string {
	if value == "" {
		return ""
	}
	if name == "store.dsn" {
		user, _, rest, ok := splitDSN(value)
		switch {
		case ok:
			return user + ":" + mask + rest
		case strings.HasPrefix(rest, "@"):
			return value
		}
	}
	return mask
}

// Masked returns every key and its value, for people. It hides secrets.
func (c *Config) Masked() map[string]any {
	out := map[string]any{}
	for _, k := range c.keys() {
		v := k.show()
		if k.secret {
			v = maskSecret(k.name, fmt.Sprint(v))
		}
		out[k.name] = v
	}
	return out
}

// MaskedYAML returns Masked as the text of a configuration file.
func (c *Config) MaskedYAML() (string, error) {
	raw, err := yaml.Marshal(c.MaskedTree())
	return string(raw), err
}

// MaskedTree returns Masked as a tree of sections, as in a file.
func (c *Config) MaskedTree() map[string]any {
	tree := map[string]any{}
	for name, v := range c.Masked() {
		at := tree
		parts := strings.Split(name, ".")
		for _, part := range parts[:len(parts)-1] {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = v
	}
	return tree
}
