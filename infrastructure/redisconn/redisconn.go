// Package redisconn opens the connection to Redis by the settings: to one server,
// Sentinel or a cluster. The product keeps no lasting data in Redis.
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

// The time-outs of Redis. They are short because no part depends on Redis: each goes
// on without an answer.
const (
	dialTimeout = 2 * time.Second
	ioTimeout   = time.Second
	// poolTimeout bounds the wait for a free connection.
	poolTimeout = time.Second
)

var (
	errNoAddrs = errors.New("redis.addrs is empty: name a server as host:port, all sentinels with redis.masterName, " +
		"or some nodes of a cluster")
	errClusterDB = errors.New("redis.db must be 0 with several redis.addrs and no redis.masterName: a cluster has one " +
		"database")
)

// Open makes the client; it does not connect yet, see Ping. One address means one server. With
// redis.masterName the addresses are sentinels; several addresses without it are nodes of a
// cluster. The caller closes the client.
//
// The client sends a call once: a call without an answer fails and is not repeated. Only the
// client of a cluster repeats calls while it looks for the node. Open switches off the
// library's own log, which is global. A failure that matters comes back as an error.
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
		// Without these settings an outage makes each call last for seconds.
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		// Servers before 7.2 answer these commands with an error.
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if cfg.TLS {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// Ping checks that Redis answers, and that it is of the kind that the settings describe. The
// error names the setting to correct, and no password; see Mistaken.
func Ping(ctx context.Context, client redis.UniversalClient, cfg config.Redis) error {
	err := client.Ping(ctx).Err()
	if err == nil {
		err = kindOf(ctx, client, cfg)
	}
	if err == nil {
		return nil
	}
	return &Error{Remedy: remedy(cfg, err), Err: err}
}

// Error says why Redis cannot be used.
type Error struct {
	// Remedy is one line that names the settings to check. It holds no secret.
	Remedy string
	Err    error
}

// Error implements error.
func (e *Error) Error() string { return e.Remedy + ": " + e.Err.Error() }

// Unwrap implements the interface of package errors.
func (e *Error) Unwrap() error { return e.Err }

// Mistaken reports whether an error of Ping is permanent: the settings are wrong.
func Mistaken(err error) bool {
	var answer redis.Error
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &record) || errors.As(err, &certificate) || errors.Is(err, errIsCluster) ||
		errors.Is(err, errIsSentinel) || errors.Is(err, errIsReplica) {
		return true
	}
	if !errors.As(err, &answer) {
		return false
	}
	for _, passing := range []string{
		"LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "ERR max number of clients",
		"MISCONF", "OOM",
	} {
		if redis.HasErrorPrefix(err, passing) {
			return false
		}
	}
	return true
}

// The kinds of servers that do not fit the settings.
var (
	errIsCluster  = errors.New("the server is a node of a cluster")
	errIsSentinel = errors.New("the server is a sentinel")
	errIsReplica  = errors.New("the server is a replica and takes no writes")
)

// kindOf asks a single server for its kind. A server that refuses the question counts as right.
func kindOf(ctx context.Context, client redis.UniversalClient, cfg config.Redis) error {
	if _, single := client.(*redis.Client); !single || cfg.MasterName != "" {
		return nil
	}
	info, err := client.Info(ctx).Result()
	var refused redis.Error
	switch {
	case errors.As(err, &refused):
		return nil
	case err != nil:
		return err
	case strings.Contains(info, "redis_mode:sentinel"):
		return errIsSentinel
	case strings.Contains(info, "cluster_enabled:1"):
		return errIsCluster
	case strings.Contains(info, "role:slave"):
		return errIsReplica
	}
	return nil
}

// remedy names the setting that is probably wrong, and the variable that sets it.
func remedy(cfg config.Redis, err error) string {
	where := fmt.Sprintf("redis.addrs (PS_REDIS_ADDRS: %s)", strings.Join(cfg.Addrs, ", "))
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
	case errors.Is(err, errIsCluster), starts("SELECT is not allowed", "MOVED", "CROSSSLOT"):
		return "Redis is a cluster; name several of its nodes in " + where + " and set redis.db (PS_REDIS_DB) to 0"
	case errors.Is(err, errIsSentinel):
		return "the server is a sentinel; name its master in redis.masterName (PS_REDIS_MASTER_NAME), or a Redis in " + where
	case errors.Is(err, errIsReplica), starts("READONLY"):
		return "the server is a replica; name its primary, or sentinels with redis.masterName (PS_REDIS_MASTER_NAME), in " +
			where
	case starts("This instance has cluster support disabled", "ERR This instance has cluster support disabled"):
		return "Redis is no cluster; name one server, or sentinels with redis.masterName (PS_REDIS_MASTER_NAME), in " + where
	case starts("NOAUTH", "WRONGPASS", "NOPERM", "AUTH", "invalid password", "Client sent AUTH"):
		return "Redis refuses the sign-in; check redis.username (PS_REDIS_USERNAME) and redis.password (PS_REDIS_PASSWORD)"
	case starts("DB index"):
		return fmt.Sprintf("Redis has no database %d; check redis.db (PS_REDIS_DB)", cfg.DB)
	case starts("CLUSTERDOWN"):
		return "the Redis cluster is incomplete; check its nodes, and that they are those of " + where
	case starts("LOADING", "MISCONF", "OOM", "MASTERDOWN"):
		return "Redis is there and does not serve yet, see its log; " + where
	case errors.As(err, &record), errors.As(err, &certificate):
		return "Redis was reached without agreement on TLS; check redis.tls (PS_REDIS_TLS) and the server's certificate, " +
			where
	case cfg.MasterName != "":
		return fmt.Sprintf("no sentinel names a master that answers; check redis.masterName (PS_REDIS_MASTER_NAME: %s) and "+
			"that the sentinels are those of %s", cfg.MasterName, where)
	default:
		return "Redis does not answer; check " + where + " and redis.tls (PS_REDIS_TLS)"
	}
}
