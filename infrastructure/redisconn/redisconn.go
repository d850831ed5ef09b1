// Package redisconn opens the connection to Redis that the settings describe:
// one server, Sentinel or a cluster. The product keeps nothing in Redis that
// must last.
package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// The patience with Redis. It is short because nobody depends on Redis: who
// asks it goes on without.
const (
	dialTimeout = 2 * time.Second
	ioTimeout   = time.Second
	// poolTimeout bounds the wait for a free connection.
	poolTimeout = time.Second
)

var (
	errNoAddrs   = errors.New("redis.addrs is empty: name a server as host:port, all sentinels with redis.masterName, or some nodes of a cluster")
	errClusterDB = errors.New("redis.db must be 0 with several redis.addrs and no redis.masterName: a cluster has one database")
)

// Open makes the client; nothing is dialled yet, see Ping. One address is one
// server, redis.masterName means that the addresses are sentinels, several
// addresses without it are nodes of a cluster. Close must be called on what is
// returned.
//
// A call is sent once: one whose answer was lost fails, and is not repeated
// behind the caller's back. Only a cluster's client repeats calls while it
// looks for the node. The library's own log, which is global, is switched off:
// what matters comes back as an error.
func Open(cfg config.Redis) (redis.UniversalClient, error) {
	switch {
	case len(cfg.Addrs) == 0:
		return nil, errNoAddrs
	case len(cfg.Addrs) > 1 && cfg.MasterName == "" && cfg.DB != 0:
		return nil, errClusterDB
	}
	logging.Disable()
	return redis.NewUniversalClient(options(cfg)), nil
}

func options(cfg config.Redis) *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: cfg.Addrs, Username: cfg.Username, Password: cfg.Password, MasterName: cfg.MasterName, DB: cfg.DB,
		ClientName:  "platform-scheduler",
		DialTimeout: dialTimeout, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, PoolTimeout: poolTimeout,
		// Without these an outage makes each call last for seconds.
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		// What servers before 7.2 answer with an error.
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if cfg.TLS {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// Ping asks Redis for an answer. The error names the setting to mend, and no
// password.
func Ping(ctx context.Context, client redis.UniversalClient, cfg config.Redis) error {
	err := client.Ping(ctx).Err()
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", remedy(cfg, err), err)
}

// remedy says which setting is likely wrong.
func remedy(cfg config.Redis, err error) string {
	where := fmt.Sprintf("redis.addrs (%s)", strings.Join(cfg.Addrs, ", "))
	starts := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if redis.HasErrorPrefix(err, p) {
				return true
			}
		}
		return false
	}
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	switch {
	case starts("NOAUTH", "WRONGPASS", "NOPERM", "AUTH", "invalid password", "Client sent AUTH"):
		return "Redis refuses the sign-in; check redis.username and redis.password"
	case starts("DB index"):
		return fmt.Sprintf("Redis has no database %d; check redis.db", cfg.DB)
	case starts("CLUSTERDOWN"):
		return "the Redis cluster is incomplete; check its nodes, and that redis.addrs names the right ones"
	case starts("SELECT is not allowed"):
		return "Redis is a cluster; set redis.db to 0 and name several of its nodes in redis.addrs"
	case errors.As(err, &record), errors.As(err, &certificate):
		return "Redis was reached without agreement on TLS; check redis.tls and the server's certificate, " + where
	case cfg.MasterName != "":
		return fmt.Sprintf("no sentinel names a master that answers; check redis.masterName (%s) and that %s are sentinels", cfg.MasterName, where)
	default:
		return "Redis does not answer; check " + where + " and redis.tls"
	}
}
