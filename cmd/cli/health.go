package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// healthWithin is how long the server may take to answer.
const healthWithin = 5 * time.Second

func (s *session) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask the server of this machine whether it is ready",
		Long: `Ask the server of this machine, at the address of its configuration, whether it
is ready. Exit code 0: it is; 1: it is not. Made for health checks of containers.`,
		Example: "  platform-scheduler health",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.load()
			if err != nil {
				return err
			}
			if err := askReady(c.Context(), cfg); err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, "ready")
			return err
		},
	}
}

func askReady(ctx context.Context, cfg config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	address := readyAddress(cfg)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	// The certificate is made for another name than that of this machine; what is
	// asked here is no secret.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}} //nolint:gosec // see above
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, response.Status)
	}
	return nil
}

// readyAddress is where the server of this machine tells whether it is ready.
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
