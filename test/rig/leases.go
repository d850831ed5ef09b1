package rig

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ShiftLeases moves the ends of all leases in a Redis, as a jump of its clock by the opposite
// does. A lease that ends an hour later is one whose clock fell back by an hour. Each is one
// string, "token end holder", with the end in milliseconds.
func ShiftLeases(ctx context.Context, addr string, by time.Duration) error {
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = client.Close() }()
	keys := client.Scan(ctx, 0, "{*:lock}:*", 500).Iterator()
	for keys.Next(ctx) {
		text, err := client.Get(ctx, keys.Val()).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return err
		}
		token, rest, _ := strings.Cut(text, " ")
		end, holder, ok := strings.Cut(rest, " ")
		ms, err := strconv.ParseInt(end, 10, 64)
		if !ok || err != nil {
			return fmt.Errorf("the lease %s is %q", keys.Val(), text)
		}
		if ms == 0 { // it was given back
			continue
		}
		next := fmt.Sprintf("%s %d %s", token, ms+by.Milliseconds(), holder)
		if err := client.SetArgs(ctx, keys.Val(), next, redis.SetArgs{KeepTTL: true, Mode: "XX"}).Err(); err != nil &&
			!errors.Is(err, redis.Nil) {
			return err
		}
	}
	return keys.Err()
}
