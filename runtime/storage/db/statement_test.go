package db_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestCompileNumbersNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                               ``,
		`SELECT 1`:                       `SELECT 1`,
		`@a + @b - @a`:                   `$1 + $2 - $1`,
		`@v.from::text[], @v.to::text[]`: `$1::text[], $2::text[]`,
		`search @@ @query::tsquery`:      `search @@ $1::tsquery`,
		`'it''s @a' || @b`:               `'it''s @a' || $1`,
		`"odd @a" = @b`:                  `"odd @a" = $1`,
		"@a -- and @b, isn't it\n- @c":   "$1 -- and @b, isn't it\n- $2",
		`tags @> @tags - 1 -- @end`:      `tags @> $1 - 1 -- @end`,
		`'costs $1' <> @a`:               `'costs $1' <> $1`,
	} {
		if got := db.Compile(text).Text; got != want {
			t.Errorf("Compile(%q) returned %q, want %q", text, got, want)
		}
	}
}

func TestCompilePanicsOnMistakes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`$1 = @a`, `@a = $12`, `'open = @a`, `"open`} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Compile(%q) did not panic", text)
				}
			}()
			db.Compile(text)
		}()
	}
}

func TestArgumentsFindTheirParameters(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := db.Compile(`SELECT concat_ws(',', @first::text, @g.one::text, @g.two::text, @last::text, @first::text)`)
	group := db.Group([]string{"g.one", "g.two"}, []any{"2", "3"})
	for name, door := range entryPoints(d) {
		for _, given := range [][]db.Argument{
			{db.Arg("first", "1"), group, db.Arg("last", nil)},
			{db.Arg("last", nil), group, db.Arg("first", "1")},
			{db.Arg("g.two", "3"), db.Arg("first", "1"), db.Arg("last", nil), db.Arg("g.one", "2")},
		} {
			got, err := db.One(t.Context(), door, db.Value[string], s.Text, s.Args(given...)...)
			if err != nil || got != "1,2,3,1" {
				t.Errorf("%s: the arguments %v arrived as %q, %v", name, given, got, err)
			}
		}
	}
}

func TestWrongArgumentIsAnError(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	two := db.Compile(`SELECT concat(@a::text, @b::text)`)
	for _, wrong := range []struct {
		statement *db.Statement
		given     []db.Argument
		want      string
	}{
		{two, []db.Argument{db.Arg("b", "x")}, "parameter @a has no value"},
		{two, nil, "parameter @a has no value"},
		{two, []db.Argument{db.Arg("a", "x"), db.Arg("b", "x"), db.Arg("a", nil)}, "parameter @a has two values"},
		{two, []db.Argument{db.Arg("a", "x"), db.Arg("b", "x"), db.Arg("c", "x")}, "there is no parameter @c"},
		{db.Compile(`SELECT 'x'`), []db.Argument{db.Arg("c", "x")}, "there is no parameter @c"},
	} {
		for name, door := range entryPoints(d) {
			_, err := db.One(t.Context(), door, db.Value[string], wrong.statement.Text,
				wrong.statement.Args(wrong.given...)...)
			if err == nil || !strings.Contains(err.Error(), wrong.want) {
				t.Errorf("%s: %s with the arguments %v returned %v, want an error with %q", name, wrong.statement.Text,
					wrong.given, err, wrong.want)
			}
		}
	}
}

func TestQueryNumbersItsArguments(t *testing.T) {
	t.Parallel()
	var q db.Query
	q.Text = `SELECT ` + q.Arg(7) + ` + ` + q.Arg(8)
	if q.Text != `SELECT $1 + $2` || len(q.Args) != 2 {
		t.Errorf("the query is %q with %v", q.Text, q.Args)
	}
}

// BenchmarkArgs measures the cost of names before a round trip.
func BenchmarkArgs(b *testing.B) {
	names, values, text := []string{}, []any{}, "SELECT 1"
	for i := range 50 {
		name := "v.column_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		names, values, text = append(names, name), append(values, any("value")), text+", @"+name
	}
	s := db.Compile(text + ", @limit")
	for b.Loop() {
		s.Args(db.Group(names, values), db.Arg("limit", 3))
	}
}
