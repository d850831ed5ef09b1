package registry

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// clusterKeyID is the id of the only row.
const clusterKeyID = "peers"

// ClusterKey implements secret.ClusterKeys.
func (r *Nodes) ClusterKey(ctx context.Context) (entity.SealedKey, bool, error) {
	return sqldb.First(ctx, r.s.Pool, "cluster-key.get",
		"SELECT key_id, sealed FROM scheduler_cluster_key WHERE id = ?", []any{clusterKeyID},
		func(rows *sql.Rows) (k entity.SealedKey, err error) {
			err = rows.Scan(&k.KeyID, &k.Sealed)
			return k, err
		})
}

// AddClusterKey implements secret.ClusterKeys.
func (r *Nodes) AddClusterKey(ctx context.Context, k entity.SealedKey) error {
	now, at := r.s.Pool.Now()
	_, err := r.s.ExecAtOnce(ctx, repository.LaneAPI, "cluster-key.add",
		"INSERT INTO scheduler_cluster_key (id, key_id, sealed, create_time) VALUES (?, ?, ?, "+now+")"+
			r.s.Dialect.OnDuplicateKeep("id"), append([]any{clusterKeyID, k.KeyID, k.Sealed}, at...)...)
	return err
}

// ResealClusterKey implements secret.ClusterKeys.
func (r *Nodes) ResealClusterKey(ctx context.Context, former string, k entity.SealedKey) error {
	_, err := r.s.ExecAtOnce(ctx, repository.LaneAPI, "cluster-key.reseal",
		"UPDATE scheduler_cluster_key SET key_id = ?, sealed = ? WHERE id = ? AND key_id = ?",
		k.KeyID, k.Sealed, clusterKeyID, former)
	return err
}
