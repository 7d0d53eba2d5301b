package body_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

type mailbox struct{ Text, Email, Name string }

// form has a field of each type that accepts a string, and some that do not.
type form struct {
	Title, Word, Secret, Color string
	Reply                      mailbox
	Copies                     []mailbox
	At                         *time.Time
	Names                      []string
	Any                        any
	On                         bool
	Cleared                    bool
}

func declareForm(change bool) func(*form) body.Object {
	return func(f *form) body.Object {
		return body.Object{Change: change, Fields: []body.Field{
			{Name: "title", Type: body.Text(&f.Title), Need: map[bool]body.Need{false: body.Required}[change]},
			{Name: "word", Aliases: []string{"wort"}, Type: body.Text(&f.Word), Null: map[bool]func(){true: func() { f.Cleared = true }}[change]},
			{Name: "secret", Type: body.Text(&f.Secret).Format("password")},
			{Name: "color", Type: body.Choice(&f.Color, "red", "blue")},
			{Name: "reply", Type: body.Mailbox(&f.Reply)},
			{Name: "copies", Type: body.Mailboxes(&f.Copies)},
			{Name: "at", Type: body.Pointer(&f.At, body.Time)},
			{Name: "names", Type: body.List(&f.Names, body.Text)},
			{Name: "any", Type: body.Any(&f.Any)},
			{Name: "on", Type: body.Boolean(&f.On)},
		}}
	}
}

func decodeForm(t *testing.T, text string, change bool) (form, fault.Fields) {
	t.Helper()
	given, err := body.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%s is not read: %v", text, err)
	}
	f, err := body.Decode(given, declareForm(change))
	return f, fault.Classify(err).Fields
}

// A blank text in an optional field means the same as omitting the field, whatever kind of text it accepts.
func TestBlankTextsAreOmitted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"title":"T","word":"","secret":"","reply":"","copies":"","at":""}`,
		`{"title":"T","wort":" ","reply":"\u00a0","copies":"\u3000 \n","at":"  "}`,
		`{"title":"T","reply":null,"copies":[]}`,
	} {
		got, wrong := decodeForm(t, text, false)
		if diff := cmp.Diff(form{Title: "T", Copies: got.Copies}, got); diff != "" || len(got.Copies) > 0 ||
			len(wrong) > 0 {
			t.Errorf("%s is read as (-want +got): %s%v", text, diff, wrong)
		}
		canonical := func(text string) string {
			out, err := idempotency.CanonicalBody([]byte(text), declareForm(false)(new(form)).Form())
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		if got, want := canonical(text), canonical(`{"title":"T"}`); got != want {
			t.Errorf("under an idempotency key %s is %s, want %s", text, got, want)
		}
	}
	got, wrong := decodeForm(t,
		`{"title":"T","word":"\u00e4","secret":" ","names":[""],"any":"","reply":{"email":"a@b","name":""}}`, false)
	want := form{Title: "T", Word: "ä", Secret: " ", Names: []string{""}, Any: "", Reply: mailbox{Email: "a@b"}}
	if diff := cmp.Diff(want, got); diff != "" || len(wrong) > 0 {
		t.Errorf("texts that are not blank, or are values, are read as (-want +got): %s%v", diff, wrong)
	}
	if got, wrong := decodeForm(t, `{"title":"T","word":"","wort":"W"}`, false); got.Word != "W" || len(wrong) > 0 {
		t.Errorf("a blank word and its alias W are read as %q (%v)", got.Word, wrong)
	}
}

func TestBlankTextsAreRefusedWhereTheyAreNotOmitted(t *testing.T) {
	t.Parallel()
	_, wrong := decodeForm(t, `{"title":"","names":"","on":""}`, false)
	want := fault.Fields{"title": "is required", "names": "must be an array, not a string",
		"on": "must be a boolean, not a string"}
	if diff := cmp.Diff(want, wrong); diff != "" {
		t.Errorf("blank texts in a new object (-want +got): %s", diff)
	}
	got, wrong := decodeForm(t, `{"title":" ","word":""}`, true)
	const kept = "cannot be empty; omit it to keep the current value"
	if diff := cmp.Diff(fault.Fields{"title": kept}, wrong); diff != "" || !got.Cleared {
		t.Errorf("blank texts in a change, with the nullable field cleared: %v (-want +got): %s", got.Cleared, diff)
	}
}
