package client

import (
	"net"
	"net/url"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// DefaultServer is where a standalone server listens.
const DefaultServer = "http://127.0.0.1:8080"

// Address completes what somebody typed for a server. Without a scheme it is
// http on this machine, where nobody can listen in, and https elsewhere.
func Address(typed string) (string, error) {
	if typed == "" {
		return DefaultServer, nil
	}
	text := typed
	if !strings.Contains(text, "://") {
		scheme := "https"
		if onThisMachine(hostOf(text)) {
			scheme = "http"
		}
		text = scheme + "://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return "", usage.Errorf("%q is not the address of a server; write it like https://scheduler.example.com or "+
			"127.0.0.1:8080", typed)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", usage.Errorf("the address of a server has neither a user nor a query; write it like " +
			"https://scheduler.example.com")
	}
	return strings.TrimRight(u.Scheme+"://"+strings.ToLower(u.Host)+u.Path, "/"), nil
}

// hostOf is the host of host:port/path.
func hostOf(text string) string {
	text, _, _ = strings.Cut(text, "/")
	if host, _, err := net.SplitHostPort(text); err == nil {
		return host
	}
	return strings.Trim(text, "[]")
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
