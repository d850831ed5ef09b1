package dialect

import (
	"errors"
	"regexp"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	lite "modernc.org/sqlite/lib"
)

// Full reports that the store has no room for what it should write.
func (d *Dialect) Full(err error) bool {
	if d.IsSQLite() {
		var e *sqlite.Error
		return errors.As(err, &e) && e.Code()&0xff == lite.SQLITE_FULL
	}
	return mysqlFull(err)
}

// noSpace is how texts of a MySQL server name ENOSPC of its system, such as "Got error 28 from storage engine" and
// "(errno: 28 \"No space left on device\")".
var noSpace = regexp.MustCompile(`(?i)\b(error|errno:?|errcode:?) 28\b`)

// mysqlFull: the number says it, or a number that stands for any error of a file has the reason in its text.
func mysqlFull(err error) bool {
	var server *mysql.MySQLError
	if !errors.As(err, &server) {
		return false
	}
	switch server.Number {
	case 1021, 1114, 28: // the disk is full, the table is full, the number of the system itself
		return true
	case 3, 20, 1026, 1030: // a file cannot be written
		return noSpace.MatchString(server.Message)
	}
	return false
}
