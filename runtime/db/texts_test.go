package db_test

import (
	"slices"
	"testing"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/dbtest"
)

func TestTextsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, list := range [][]string{nil, {""}, {"a"}, {"a", "", `"quoted", {braces} \\ NULL`, "ä\n€", "x,y"}} {
		var got []string
		if err := d.Hot.QueryRowContext(t.Context(), `SELECT $1::text[]`, db.Texts(list)).Scan(pq.Array(&got)); err != nil || !slices.Equal(got, list) {
			t.Errorf("%q came as %q, %v", list, got, err)
		}
	}
}

func TestBlobsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, list := range [][][]byte{{{}}, {[]byte("a")}, {[]byte("\x00\xff\\x41"), {}, []byte("ä")}} {
		var got pq.ByteaArray
		if err := d.Hot.QueryRowContext(t.Context(), `SELECT $1::bytea[]`, db.Blobs(list)).Scan(&got); err != nil || !slices.EqualFunc(got, list, slices.Equal) {
			t.Errorf("%q came as %q, %v", list, got, err)
		}
	}
}
