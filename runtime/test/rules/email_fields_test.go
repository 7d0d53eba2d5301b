package rules_test

import (
	"strings"
	"testing"
)

// maxEmailFiles bounds how many hand-written files name a field of an email on its way from the request to the message,
// the record and a resend.
const maxEmailFiles = 8

// If many files spell out a field of an email, it is eventually forgotten in one of them. Other subjects with a
// field of the same name, such as a template, do not count.
func TestEmailFieldsAreNamedInFewFiles(t *testing.T) {
	t.Parallel()
	files := handWritten(t)
	for path := range files {
		if !strings.HasPrefix(path, "modules/sending/") && !strings.HasPrefix(path, "rest/emails/") &&
			path != "ent/schema/email.go" && path != "graph/schema/emails.graphqls" {
			delete(files, path)
		}
	}
	if found := filesNaming(files, "reply_to"); len(found) > maxEmailFiles {
		t.Errorf("%d email files name reply_to, at most %d may: keep a field in modules/sending/{message,email_row}.go and rest/emails/{body,record}.go\n\t%s",
			len(found), maxEmailFiles, strings.Join(found, "\n\t"))
	}
}
