package answer

import "github.com/go-sql-driver/mysql"

// Number is an answer that servers give, or what stands before them.
type Number struct {
	Number uint16
	Text   string
	// Source is whose answer it is, and where it is written down.
	Source string
}

// Err is the answer as the driver tells it.
func (n Number) Err() error { return &mysql.MySQLError{Number: n.Number, Message: n.Text} }

// Where the numbers were read: the tables of messages that the servers of the tests bring along (MariaDB 10.11, whose
// source is sql/share/errmsg-utf8.txt; MySQL 9.7, whose source is share/messages_to_clients.txt), and the sources and
// manuals of the others.
const (
	servers  = "MySQL 9.7 and MariaDB 10.11, english/errmsg.sys: "
	galera   = "Percona XtraDB Cluster, manual, variable wsrep_reject_queries; both servers name the number: "
	proxysql = "ProxySQL, lib/MySQL_Session.cpp, CONNECTING_SERVER; manual, mysql-connect_timeout_server_max"
	tidb     = "TiDB, errno/errcode.go and manual, error codes: "
)

// Numbers are answers about the whole server that are easily taken for a row's, or that
// nobody has thought of.
func Numbers() []Number {
	return []Number{
		{1047, "WSREP has not yet prepared node for application use", galera + "ER_UNKNOWN_COM_ERROR"},
		{1146, "Table 'scheduler_live_fire' doesn't exist", servers + "ER_NO_SUCH_TABLE, while a tool swaps tables"},
		{1412, "Table definition has changed, please retry transaction", servers + "ER_TABLE_DEF_CHANGED"},
		{1206, "The total number of locks exceeds the lock table size", servers + "ER_LOCK_TABLE_FULL"},
		{1637, "Too many active concurrent transactions", servers + "ER_TOO_MANY_CONCURRENT_TRXS"},
		{1038, "Out of sort memory, consider increasing server sort buffer size", servers + "ER_OUT_OF_SORTMEMORY"},
		{1135, "Can't create a new thread (errno 11)", servers + "ER_CANT_CREATE_THREAD"},
		{1026, "Error writing file 'binlog' (errno: 28)", servers + "ER_ERROR_ON_WRITE, disk of the binary log"},
		{
			9001, "Max connect timeout reached while reaching hostgroup 0 after 10000ms",
			proxysql + ". The same number is TiDB's ErrPDServerTimeout",
		},
		{9002, "TiKV server timeout", tidb + "ErrTiKVServerTimeout"},
		{9003, "TiKV server is busy", tidb + "ErrTiKVServerBusy"},
		{9005, "Region is unavailable", tidb + "ErrRegionUnavailable"},
		{9007, "Write conflict", tidb + "ErrWriteConflict"},
		{8028, "Information schema is changed during the execution of the statement", tidb + "ErrInfoSchemaChanged"},
	}
}
