package batch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

type kind string

type sample struct {
	Text, Optional string
	Kind           kind
	Data           []byte
	Count          int
	Score          float64
	Yes            bool
	At             time.Time
	List           []string
}

var samples = batch.New("v",
	batch.Text("from", func(s *sample) string { return s.Text }),
	batch.Text("optional", func(s *sample) string { return s.Optional }).OrNull(),
	batch.Text("kind", func(s *sample) kind { return s.Kind }).SourceOnly(),
	batch.Bytes("data", func(s *sample) []byte { return s.Data }).OrNull(),
	batch.Int("count", func(s *sample) int { return s.Count }).OrNull().As("int"),
	batch.Float("score", func(s *sample) float64 { return s.Score }),
	batch.Bool("yes", func(s *sample) bool { return s.Yes }),
	batch.Time("at", func(s *sample) time.Time { return s.At }),
	batch.JSON("list", func(s *sample) []string { return s.List }),
	batch.ComputedColumn[*sample]("upper_kind", `upper(v.kind)`),
)

const samplesTable = `CREATE TABLE samples (n bigserial, "from" text NOT NULL, optional varchar, data bytea, count int, score float8, yes bool, at timestamptz, list jsonb, upper_kind varchar)`

func TestBatchStoresRowsThroughEveryHandle(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	if _, err := db.Exec(t.Context(), d.SQL, samplesTable); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	rows := []*sample{
		{Text: `a "b", {c}`, Optional: "o", Kind: "x", Data: []byte("\x00\xff"), Count: 7, Score: 0.25, Yes: true, At: at, List: []string{"ä", "'"}},
		{Kind: "y", List: []string{}},
	}
	insert := db.Compile(`WITH stored AS (` + samples.Insert("samples") + ` WHERE v.kind <> @unwanted RETURNING n) SELECT count(*) FROM stored`)
	const read = `SELECT "from" || '|' || coalesce(optional, 'NULL') || '|' || coalesce(encode(data, 'hex'), 'NULL') || '|' || coalesce(count::text, 'NULL')
		|| '|' || score || '|' || yes || '|' || coalesce(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'NULL') || '|' || list || '|' || upper_kind FROM samples ORDER BY n`
	want := []string{
		`a "b", {c}|o|00ff|7|0.25|true|2026-02-03 04:05:06.000007|["ä", "'"]|X`,
		`|NULL|NULL|NULL|0|false|NULL|[]|Y`,
	}
	for name, door := range map[string]db.Execer{"SQL": d.SQL, "Ent": d.Ent, "Hot": d.Hot, "Prepared": d.Prepared} {
		for _, list := range [][]*sample{rows, nil, {{Kind: "unwanted", List: []string{}}}} {
			stored, err := db.One(t.Context(), door, db.Value[int], insert.Text,
				insert.Args(samples.Rows(list), db.Arg("unwanted", "unwanted"))...)
			if wanted := len(list) / 2 * 2; err != nil || stored != wanted {
				t.Errorf("%s: stored %d rows, %v, want %d", name, stored, err, wanted)
			}
		}
		got, err := db.All(t.Context(), d.SQL, db.Value[string], read)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: stored rows differ: %v (-want +got)\n%s", name, err, diff)
		}
		if _, err := db.Exec(t.Context(), d.SQL, `TRUNCATE samples`); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRowsAreNumbered(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	words := batch.New("w", batch.Text("word", func(s string) string { return s }))
	s := db.Compile(`SELECT place || w.word FROM ` + words.NumberedSource("place") + ` ORDER BY w.word`)
	got, err := db.All(t.Context(), d.Hot, db.Value[string], s.Text, s.Args(words.Rows([]string{"b", "a"}))...)
	if diff := cmp.Diff([]string{"2a", "1b"}, got); err != nil || diff != "" {
		t.Errorf("the numbered rows are wrong: %v (-want +got)\n%s", err, diff)
	}
}

type unencodable struct{}

func (unencodable) MarshalJSON() ([]byte, error) { return nil, errors.New("no JSON for this") }

func TestUnencodableValueFailsStatement(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	b := batch.New("v", batch.JSON("body", func(u unencodable) any { return u }))
	s := db.Compile(`SELECT 1 FROM ` + b.Source())
	for name, door := range map[string]db.Execer{"SQL": d.SQL, "Hot": d.Hot, "Prepared": d.Prepared} {
		_, err := db.All(t.Context(), door, db.Value[int], s.Text, s.Args(b.Rows([]unencodable{{}}))...)
		if err == nil || !strings.Contains(err.Error(), "column body") ||
			!strings.Contains(err.Error(), "no JSON for this") {
			t.Errorf("%s: the error is %v, want one that names the column and the cause", name, err)
		}
	}
}

func Example() {
	type visit struct {
		Page    string
		Visitor string // "" if unknown
		Took    time.Duration
	}
	visits := batch.New("visit",
		batch.Text("page", func(v visit) string { return v.Page }),
		batch.Text("visitor", func(v visit) string { return v.Visitor }).OrNull(),
		batch.Int("took_ms", func(v visit) int64 { return v.Took.Milliseconds() }).As("int"),
		batch.ComputedColumn[visit]("seen_at", `now()`),
	)
	insert := db.Compile(visits.Insert("visits") + ` ON CONFLICT DO NOTHING`)
	fmt.Println(insert.Text)
	// To run it: db.Exec(ctx, d.Prepared, insert.Text, insert.Args(visits.Rows(list))...)

	// Output:
	// INSERT INTO visits ("page", "visitor", "took_ms", "seen_at")
	// SELECT visit."page", NULLIF(visit."visitor", ''), visit."took_ms"::int, now()
	// FROM unnest($1::text[], $2::text[], $3::bigint[]) AS visit ("page", "visitor", "took_ms") ON CONFLICT DO NOTHING
}
