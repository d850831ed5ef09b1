// Package offline does what the commands do without a server: it checks a
// configuration, and migrates, copies, backs up and restores a store.
package offline

import (
	"context"
	"crypto/tls"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
)

// Check checks what a start needs: the keys of secrets, the certificate, the user and
// the interpreters of commands, and whether the brokers of Kafka answer. It creates nothing. The error is of type
// config.Problems; notes are for people.
func Check(ctx context.Context, cfg config.Config) (notes []string, err error) {
	var problems config.Problems
	wrong := func(key string, err error) {
		problems = append(problems, config.Problem{Key: key, Message: strings.TrimPrefix(err.Error(), key+": ")})
	}
	if _, err := keyring(cfg); err != nil {
		wrong("secrets.key", err)
	}
	if t := cfg.Server.TLS; t.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile); err != nil {
			wrong("server.tls", err)
		}
	}
	_, off, err := executors.Effective(cfg)
	if err != nil {
		wrong("executor.command.user", err)
	}
	notes = append(notes, off...)
	// A server starts without its brokers: this is no error.
	if err := kafka.Try(ctx, cfg.Kafka); err != nil {
		notes = append(notes, "kafka.brokers: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(problems) > 0 {
		return notes, problems
	}
	return notes, nil
}
