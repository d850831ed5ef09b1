package secret

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ClusterKeys keeps the one key by which nodes sign what they say to each other.
type ClusterKeys interface {
	ClusterKey(ctx context.Context) (k entity.SealedKey, found bool, err error)
	// AddClusterKey leaves one that is there as it is.
	AddClusterKey(ctx context.Context, k entity.SealedKey) error
	// ResealClusterKey does nothing unless it is still sealed by the former key.
	ResealClusterKey(ctx context.Context, former string, k entity.SealedKey) error
}

const (
	clusterKeyBytes = 32
	// clusterKeyName binds the sealed value to its use.
	clusterKeyName = "cluster key"
)

// OpenClusterKey reads the key of the cluster, and makes it at the first start. With a
// key of secrets it seals the stored key, also one that is not sealed yet or is sealed
// by a former key.
func OpenClusterKey(ctx context.Context, keys ClusterKeys, sealer Sealer) ([]byte, error) {
	stored, found, err := keys.ClusterKey(ctx)
	if err == nil && !found {
		if stored, err = freshClusterKey(sealer); err == nil {
			err = keys.AddClusterKey(ctx, stored)
		}
		if err == nil { // another node may have been first
			stored, found, err = keys.ClusterKey(ctx)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the key of the cluster: %w", err)
	case !found:
		return nil, fmt.Errorf("the key of the cluster was not kept")
	}
	text := string(stored.Sealed)
	if stored.KeyID != "" {
		if text, err = sealer.Open(clusterKeyName, stored.KeyID, stored.Sealed); err != nil {
			return nil, fmt.Errorf("open the key of the cluster, by which nodes sign what they say to each other: %w; "+
				"secrets.key (PS_SECRETS_KEY) must be the same on every node", err)
		}
	}
	if current := sealer.Current(); current != "" && current != stored.KeyID {
		id, sealed, err := sealer.Seal(clusterKeyName, text)
		if err == nil {
			err = keys.ResealClusterKey(ctx, stored.KeyID, entity.SealedKey{KeyID: id, Sealed: sealed})
		}
		if err != nil {
			return nil, fmt.Errorf("seal the key of the cluster: %w", err)
		}
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != clusterKeyBytes {
		return nil, fmt.Errorf("the key of the cluster in the store is damaged; delete its row in scheduler_cluster_key " +
			"and restart every node")
	}
	return key, nil
}

func freshClusterKey(sealer Sealer) (k entity.SealedKey, err error) {
	raw := make([]byte, clusterKeyBytes)
	if _, err := rand.Read(raw); err != nil {
		return k, err
	}
	text := base64.StdEncoding.EncodeToString(raw)
	if sealer.Current() == "" {
		return entity.SealedKey{Sealed: []byte(text)}, nil
	}
	k.KeyID, k.Sealed, err = sealer.Seal(clusterKeyName, text)
	return k, err
}
