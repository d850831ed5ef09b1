package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Problem is one wrong key.
type Problem struct {
	Key     string `json:"key"`
	Message string `json:"message"`
}

// Problems holds all wrong keys of a configuration as one error. Messages never hold the value
// of a secret.
type Problems []Problem

// Error implements error, one line per key.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Key + ": " + one.Message
	}
	return "the configuration is wrong:\n  " + strings.Join(lines, "\n  ")
}

func (p *Problems) add(key, message string) { *p = append(*p, Problem{Key: key, Message: message}) }

// Validate returns all wrong keys as Problems, or nil.
func (c *Config) Validate() error {
	if p := c.problems(); len(p) > 0 {
		return p
	}
	return nil
}

func (c *Config) problems() Problems {
	var p Problems
	c.checkServer(&p)
	c.checkStore(&p)
	c.checkExecutor(&p)
	c.checkSecrets(&p)
	c.checkMonitoring(&p)
	if c.Node.ID == "" || len(c.Node.ID) > nodeIDLimit || cleanID(c.Node.ID) != c.Node.ID {
		p.add("node.id", fmt.Sprintf("must be 1 to %d letters, digits, dots, dashes and underscores", nodeIDLimit))
	}
	if c.Node.IP != "" && net.ParseIP(c.Node.IP) == nil {
		p.add("node.ip", "must be an IP address")
	}
	if c.Engine.HorizonMs <= c.Engine.ScanIntervalMs {
		p.add("engine.horizonMs", "must be greater than engine.scanIntervalMs")
	}
	if c.Engine.LeaseMs < 6*c.Engine.BeatMs {
		p.add("engine.leaseMs", "must be at least six times engine.beatMs, so that lost beats are no death")
	}
	return p
}

func (c *Config) checkServer(p *Problems) {
	if _, port, err := net.SplitHostPort(c.Server.Addr); err != nil || !validPort(port) {
		p.add("server.addr", "must be host:port or :port, with a port from 0 to 65535")
	}
	if len(c.Server.Roles) == 0 {
		p.add("server.roles", "must name at least one of api, scheduler, executor")
	}
	if u := c.Server.PublicURL; u != "" {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.User != nil {
			p.add("server.publicUrl", "must be an http or https address without a user")
		}
	}
	if (c.Server.TLS.CertFile == "") != (c.Server.TLS.KeyFile == "") {
		p.add("server.tls", "needs both certFile and keyFile")
	}
	for _, f := range []struct{ key, path string }{
		{"server.tls.certFile", c.Server.TLS.CertFile}, {"server.tls.keyFile", c.Server.TLS.KeyFile},
	} {
		if f.path == "" {
			continue
		}
		if info, err := os.Stat(f.path); err != nil || info.IsDir() {
			p.add(f.key, fmt.Sprintf("the file %s cannot be read", f.path))
		}
	}
	checkNetworks(p, "server.trustedProxies", c.Server.TrustedProxies)
	if c.DataDir == "" {
		p.add("dataDir", "must name a directory")
	}
	// "Local" would make schedules depend on the machine.
	if _, err := time.LoadLocation(c.Server.TimeZone); err != nil || c.Server.TimeZone == "" ||
		c.Server.TimeZone == "Local" {
		p.add("server.timeZone", "must be an IANA time zone such as Asia/Shanghai or UTC")
	}
}

func (c *Config) checkMonitoring(p *Problems) {
	for key, address := range map[string]string{
		"monitoring.heartbeatUrl": c.Monitoring.HeartbeatURL, "monitoring.watchdogUrl": c.Monitoring.WatchdogURL,
	} {
		u, err := url.Parse(address)
		if address != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			p.add(key, "must be an http or https address")
		}
	}
	if u, err := url.Parse(c.Tracing.Endpoint); c.Tracing.Endpoint != "" &&
		(err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
		p.add("tracing.endpoint", "must be an http or https address without a user, such as "+
			"http://collector:4318/v1/traces; headers go into OTEL_EXPORTER_OTLP_HEADERS")
	}
	zone := c.Monitoring.WeeklyReport.TimeZone
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		p.add("monitoring.weeklyReport.timeZone", "must be an IANA time zone such as Asia/Shanghai or UTC, or empty")
	}
}

func (c *Config) checkStore(p *Problems) {
	if c.Profile == ProfileCluster && c.Store.Driver != DriverMySQL {
		p.add("store.driver", "must be mysql in the cluster profile: nodes cannot share a SQLite file")
	}
	if c.Store.Driver == DriverSQLite && c.Store.DSN != "" {
		p.add("store.dsn", "names a MySQL or MariaDB, and store.driver is sqlite; leave one of them out")
	}
	if c.Store.Driver == DriverMySQL && c.Store.DSN == "" {
		p.add("store.dsn", "is required for mysql, for example user:password@tcp(host:3306)/scheduler")
	}
	if c.Profile == ProfileCluster && len(c.Redis.Addrs) == 0 {
		p.add("redis.addrs", "is required in the cluster profile")
	}
	checkAddrs(p, "redis.addrs", c.Redis.Addrs)
	checkAddrs(p, "kafka.brokers", c.Kafka.Brokers)
	if c.Kafka.SASL.Mechanism != "" && (c.Kafka.SASL.Username == "" || c.Kafka.SASL.Password == "") {
		p.add("kafka.sasl.mechanism", "needs kafka.sasl.username and kafka.sasl.password")
	}
	if strings.Trim(c.Kafka.TopicPrefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" ||
		c.Kafka.TopicPrefix == "" || len(c.Kafka.TopicPrefix) > 100 {
		p.add("kafka.topicPrefix", "must be 1 to 100 letters, digits, dots, dashes and underscores")
	}
}

func (c *Config) checkExecutor(p *Problems) {
	checkNetworks(p, "executor.http.allowCIDRs", c.Executor.HTTP.AllowCIDRs)
	if slices.Contains(c.Executor.Command.Interpreters, "") {
		p.add("executor.command.interpreters", "must not hold an empty name")
	}
}

func validPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}

func checkAddrs(p *Problems, key string, addrs []string) {
	for _, a := range addrs {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || !validPort(port) {
			p.add(key, fmt.Sprintf("%q must be host:port", a))
		}
	}
}

// checkNetworks accepts 10.0.0.0/8 and single addresses.
func checkNetworks(p *Problems, key string, networks []string) {
	for _, n := range networks {
		if _, err := netip.ParsePrefix(n); err == nil {
			continue
		}
		if _, err := netip.ParseAddr(n); err != nil {
			p.add(key, fmt.Sprintf("%q must be a network such as 10.0.0.0/8 or an address", n))
		}
	}
}
