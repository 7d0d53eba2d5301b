package db_test

import (
	"slices"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// entryPoints returns all the ways to execute a statement.
func entryPoints(d *db.DB) map[string]db.Execer {
	return map[string]db.Execer{"SQL": d.SQL, "Ent": d.Ent, "Hot": d.Hot, "Prepared": d.Prepared}
}

// checkRoundTrip sends a list through every entry point and reads it back.
func checkRoundTrip[E db.Element](t *testing.T, d *db.DB, sqlType string, equal func(a, b E) bool, lists ...[]E) {
	t.Helper()
	for name, door := range entryPoints(d) {
		for _, list := range lists {
			got, err := db.One(t.Context(), door, func(into *[]E) []any { return []any{db.ScanArray(into)} }, `SELECT $1::`+sqlType, db.Array(list))
			if err != nil || got == nil || !slices.EqualFunc(got, list, equal) {
				t.Errorf("%s: the array %v was read back as %v, error %v", name, list, got, err)
			}
		}
	}
}

func same[E comparable](a, b E) bool { return a == b }

func TestArraysRoundTrip(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	checkRoundTrip(t, d, "text[]", same, nil, []string{""}, []string{"a"},
		[]string{"a", "", `"quoted", {braces} \\ NULL`, "ä\n€", "x,y"})
	checkRoundTrip(t, d, "bytea[]", slices.Equal, nil, [][]byte{{}}, [][]byte{[]byte("a")},
		[][]byte{[]byte("\x00\xff\\x41"), {}, []byte("ä")})
	checkRoundTrip(t, d, "bigint[]", same, nil, []int64{1, -2, 1 << 62})
	checkRoundTrip(t, d, "smallint[]", same, nil, []int64{1, -2})
	checkRoundTrip(t, d, "integer[]", same, nil, []int32{1, -2, 1 << 30})
	checkRoundTrip(t, d, "float8[]", same, nil, []float64{0.1, -1e300})
	checkRoundTrip(t, d, "boolean[]", same, nil, []bool{true, false})
}
