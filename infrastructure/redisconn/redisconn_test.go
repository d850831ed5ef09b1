package redisconn_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// canary is a password that must not be seen again.
const canary = "canary-password-7"

func TestTheSettingsChooseTheClient(t *testing.T) {
	one := redistest.Open(t, config.Redis{
		Addrs: []string{"127.0.0.1:1"}, Username: "u", Password: canary, DB: 3,
		TLS: true,
	})
	o := one.(*redis.Client).Options()
	require.Equal(t, []any{"127.0.0.1:1", "u", canary, 3}, []any{o.Addr, o.Username, o.Password, o.DB})
	require.NotNil(t, o.TLSConfig)
	require.False(t, o.TLSConfig.InsecureSkipVerify)
	require.Equal(t, 2*time.Second, o.DialTimeout)
	require.Equal(t, []time.Duration{time.Second, time.Second}, []time.Duration{o.ReadTimeout, o.WriteTimeout})

	sentinel := redistest.Open(t, config.Redis{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, MasterName: "m", DB: 3})
	require.Equal(t, 3, sentinel.(*redis.Client).Options().DB)
	require.Equal(t, "FailoverClient", sentinel.(*redis.Client).Options().Addr)

	cluster := redistest.Open(t, config.Redis{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}})
	require.IsType(t, &redis.ClusterClient{}, cluster)
}

func TestSettingsThatFitNoRedisAreNamed(t *testing.T) {
	_, err := redisconn.Open(config.Redis{})
	require.ErrorContains(t, err, "redis.addrs is empty")
	_, err = redisconn.Open(config.Redis{Addrs: []string{"a:1", "b:1"}, DB: 1})
	require.ErrorContains(t, err, "redis.db must be 0")
}

func ping(t *testing.T, cfg config.Redis) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := redisconn.Ping(ctx, redistest.Open(t, cfg), cfg)
	if err != nil {
		require.NotContains(t, err.Error(), canary)
	}
	return err
}

func TestEveryKindOfRedisAnswers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, cfg config.Redis) {
		require.NoError(t, ping(t, cfg))
		if cfg.MasterName == "" {
			return
		}
		cfg.MasterName = "another"
		require.ErrorContains(t, ping(t, cfg), "redis.masterName (PS_REDIS_MASTER_NAME: another)")
	})
}

func TestPingNamesTheSettingToMend(t *testing.T) {
	gone := redistest.Gone(t)
	gone.Password = canary
	err := ping(t, gone)
	require.ErrorContains(t, err, "redis.addrs (PS_REDIS_ADDRS: "+gone.Addrs[0]+")")
	gone.MasterName = "mymaster"
	require.ErrorContains(t, ping(t, gone), "redis.masterName (PS_REDIS_MASTER_NAME: mymaster)")
}

func TestPingNamesTheSettingThatAServerRefuses(t *testing.T) {
	redistest.NeedRedis(t)
	require.NoError(t, ping(t, redistest.Config()))
	for setting, change := range map[string]func(c *config.Redis){
		"redis.username (PS_REDIS_USERNAME) and redis.password": func(c *config.Redis) {
			c.Username, c.Password = "nobody", canary
		},
		"redis.db":         func(c *config.Redis) { c.DB = 99_999 },
		"redis.tls":        func(c *config.Redis) { c.TLS = true },
		"redis.masterName": func(c *config.Redis) { c.MasterName = "mymaster" },
	} {
		wrong := redistest.Config()
		change(&wrong)
		err := ping(t, wrong)
		require.ErrorContains(t, err, setting)
	}
}
