package connect

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// The strings are what servers answered to SELECT VERSION() and SELECT @@version_comment, as their documentation and
// reports of users show them.
func TestServersThatOnlyLookLikeMySQLAreRefusedByName(t *testing.T) {
	const doubted = "is neither a MySQL nor a MariaDB that is known"
	for _, c := range []struct{ version, comment, refused, doubt string }{
		{version: "8.0.36", comment: "MySQL Community Server - GPL"},
		{version: "9.7.4", comment: "(Debian)"},
		{version: "8.0.36-0ubuntu0.22.04.1", comment: "(Ubuntu)"},
		{version: "8.0.35-commercial", comment: "MySQL Enterprise Server - Commercial"},
		{version: "5.7.44-log", comment: "MySQL Community Server (GPL)"},
		{version: "8.0.36-cluster", comment: "MySQL Cluster Community Server - GPL"},
		{version: "8.0.28", comment: "Source distribution"}, // Aurora MySQL 3, RDS
		{version: "8.0.mysql_aurora.3.04.0", comment: "Source distribution"},
		{version: "5.7.44-rds.20240408", comment: "Source distribution"},
		{version: "8.0.36-azure", comment: "MySQL Community Server - GPL"},
		{version: "8.0.31-google", comment: "(Google)"},
		{version: "8.0.36-u2-cloud", comment: "MySQL Enterprise - Cloud"}, // HeatWave
		{version: "9.0.1-cloud", comment: "MySQL Enterprise - Cloud"},
		{version: "8.4.4", comment: "MySQL Community Server - GPL"},
		{version: "8.0.35-27", comment: "Percona Server (GPL), Release 27, Revision 2f8eeab2"},
		{version: "8.0.36-28.1", comment: "Percona XtraDB Cluster (GPL), Release rel28, Revision bfb687f"},
		{version: "10.11.6-MariaDB-0+deb12u1", comment: "Debian 12"},
		{version: "5.5.5-10.6.16-MariaDB-log", comment: "mariadb.org binary distribution"},
		{version: "10.3.8-MariaDB-log", comment: "Source distribution"},
		{
			version: "8.0.11-TiDB-v7.5.1", comment: "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible",
			refused: "TiDB",
		},
		{
			version: "5.7.25-TiDB-v4.0.0-beta.2-961-g383366270",
			comment: "TiDB Server (Apache License 2.0) Community Edition, MySQL 5.7 compatible", refused: "TiDB",
		},
		{
			version: "8.0.11-TiDB-v8.5.3-serverless",
			comment: "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible", refused: "TiDB",
		},
		{
			version: "8.0.36", comment: "TiDB Server (Apache License 2.0) Enterprise Edition, MySQL 8.0 compatible",
			refused: "TiDB",
		}, // its setting server-version
		{
			version: "5.7.25-OceanBase-v4.2.1.0", comment: "OceanBase 4.2.1.0 (r100) (Built Sep 28 2023 05:29:07)",
			refused: "OceanBase",
		},
		{version: "5.7.25-OceanBase_CE-v4.4.2.1", comment: "OceanBase_CE 4.4.2.1", refused: "OceanBase"},
		{
			version: "5.7.25", comment: "OceanBase_CE 4.2.1.2 (r102000042023120514-ccdde7d) (Built Dec  5 2023 14:34:01)",
			refused: "OceanBase",
		},
		{version: "5.6.25-OBProxy-3.2.0", refused: "OceanBase"},
		{version: "5.7.25-OceanBase seekdb-v1.3.0.0", comment: "OceanBase SEEKDB 1.3.0", refused: "OceanBase"},
		{version: "5.7.9-vitess-10.0.0-SNAPSHOT", comment: "Version: 10.0.0-SNAPSHOT (Git revision d54b8)", doubt: doubted},
		{version: "8.0.11", comment: "Dolt", doubt: doubted},
		{
			version: "5.7.32", comment: "SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL Commercial)",
			doubt: doubted,
		},
		{version: "5.1.0", comment: "StarRocks version 3.1.2", doubt: doubted},
		{doubt: doubted},
	} {
		doubt, err := mysqlSession(&mysql.Config{}, map[string]string{"version": c.version, "version_comment": c.comment})
		said := c.version + ", " + c.comment
		if c.refused == "" {
			require.NoError(t, err, said)
		} else {
			require.ErrorContains(t, err, "the store is "+c.refused+" ("+c.version+"), which is refused: ", said)
			require.False(t, Waitable(err), "no waiting makes another server of it")
		}
		require.Equal(t, c.doubt != "", doubt != "", said)
		require.Contains(t, doubt, c.doubt, said)
	}
}

// The version of TiDB is a setting: it may say anything.
func TestServersAreKnownByTheirVariablesToo(t *testing.T) {
	for variable, name := range map[string]string{"tidb_current_ts": "TiDB", "ob_query_timeout": "OceanBase"} {
		_, err := mysqlSession(&mysql.Config{}, map[string]string{
			"version": "8.0.36", "version_comment": "MySQL Community Server - GPL", variable: "0",
		})
		require.ErrorContains(t, err, "the store is "+name)
	}
}
