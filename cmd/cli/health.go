package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// healthWithin is how long the server may take to answer.
const healthWithin = 5 * time.Second

func (s *session) healthCommand() *cobra.Command {
	return s.Command(remote.Verb{
		Use: "health", Short: "Ask the server of this machine whether it is ready", Example: "health", Local: true,
		Long: `Ask the server of this machine, at the address of its configuration, whether it
is ready. Exit code 0: it is; 1: it is not. Made for health checks of containers.`,
		Run: func(k *remote.Call) error {
			cfg, err := s.load()
			if err != nil {
				return err
			}
			answer, err := askReady(k.Cmd.Context(), cfg)
			if !s.ForPeople() {
				s.Raw(answer)
			}
			if err == nil {
				s.Line("ready")
			}
			return err
		},
	})
}

// maxHealth bounds what is read of the answer, in bytes.
const maxHealth = 1 << 20

// askReady returns what the server answers; an error says that it is not ready.
func askReady(ctx context.Context, cfg config.Config) (answer json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	address := readyAddress(cfg)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", address, err)
	}
	// The certificate is made for another name than that of this machine; what is asked here is no secret.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true,
		MinVersion:         tls.VersionTLS12,
	}, DisableKeepAlives: true}} //nolint:gosec // see above
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the server does not answer: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxHealth))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", address, err)
	}
	if json.Valid(text) {
		answer = text
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", address, response.Status)
	}
	return answer, err
}

// readyAddress is where the server of this machine answers whether it is ready.
func readyAddress(cfg config.Config) string {
	scheme := "http"
	if cfg.Server.TLS.CertFile != "" {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(cfg.Server.Addr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if strings.Contains(cfg.Server.Addr, "::") {
			host = "localhost"
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/readyz"
}
