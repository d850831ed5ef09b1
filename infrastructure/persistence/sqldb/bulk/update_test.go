package bulk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

func TestValueTableBindsWhatIsSharedOnce(t *testing.T) {
	ids, ends := []string{"a", "b", "c"}, []any{"1", nil, "3"}
	for lists, derived := range map[bool]string{
		false: "(SELECT " + bulk.AsID + " AS c0, " + bulk.AsTime + " AS c1 UNION ALL SELECT ?,? UNION ALL SELECT ?,?) v",
		true:  "(WITH x(c0,c1) AS (VALUES (" + bulk.AsID + ", " + bulk.AsTime + "),(?,?),(?,?)) SELECT * FROM x) v",
	} {
		d := dialect.NewMySQL(lists)
		v := bulk.NewUpdate(3, func(i int) any { return ids[i] })
		set := "t.status = " + v.Expr(bulk.AsIs, func(int) any {
			return "SUCCESS"
		}) + ", t.end_time = " + v.Expr(bulk.AsTime, func(i int) any { return ends[i] })
		query, args := v.Statement(d, "runs", set, "t.token = "+v.Expr(bulk.AsIs, func(int) any { return 7 }))
		require.Equal(t, "UPDATE "+derived+" STRAIGHT_JOIN runs t FORCE INDEX (PRIMARY)"+
			" ON v.c0 = t.id SET t.status = ?, t.end_time = v.c1 WHERE t.token = ?", query)
		require.Equal(t, []any{"a", "1", "b", nil, "c", "3", "SUCCESS", 7}, args)
	}
}
