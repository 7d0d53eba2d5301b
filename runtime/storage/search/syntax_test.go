package search_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/storage/search"
)

func TestSearchTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]search.Term{
		"":                   nil,
		" \t":                nil,
		"receipt  ada":       {{Value: "receipt", At: 1}, {Value: "ada", At: 10}},
		`to:bob@example.net`: {{Field: "to", Value: "bob@example.net", At: 1}},
		`x TO:"two words" y`: {{Value: "x", At: 1}, {Field: "to", Value: "two words", At: 3},
			{Value: "y", At: 18}},
		`"to:bob" Re: ü`: {{Value: "to:bob", At: 1}, {Value: "Re:", At: 10}, {Value: "ü", At: 14}},
		`""`:             nil,
		`12:30 a@b:c`:    {{Value: "12:30", At: 1}, {Value: "a@b:c", At: 7}},
		`tag:env=prod tag:kind:order`: {{Field: "tag", Value: "env=prod", At: 1},
			{Field: "tag", Value: "kind:order", At: 14}},
	} {
		got, err := search.Fields(text, "to", "tag")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("parsing %q returned the error %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestSearchMistakesHavePosition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`ü to:"bob`:    "an unclosed quote at character 6",
		`"bob`:         "an unclosed quote at character 1",
		`a stauts:x`:   `at character 3 the unknown field "stauts"; use one of to, tag`,
		`to:""`:        "at character 1 the field to without a value",
		`http://a.bc/`: `at character 1 the unknown field "http"`,
	} {
		if got, err := search.Fields(text, "to", "tag"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parsing %q returned %v and %v, want the mistake %q", text, got, err, want)
		}
	}
}

func FuzzFields(f *testing.F) {
	f.Add(`a to:"b c" tag:d`)
	f.Fuzz(func(t *testing.T, text string) {
		terms, err := search.Fields(text, "to", "tag")
		for _, term := range terms {
			if term.Value == "" || term.At < 1 || err != nil {
				t.Errorf("%q has the term %+v in addition to %v", text, term, err)
			}
		}
	})
}
