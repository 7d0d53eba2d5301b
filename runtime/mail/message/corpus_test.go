package message_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/message"
)

// expectation is the result of Python's email package, see testdata/expected.py.
type expectation struct {
	Subject string   `json:"subject"`
	Files   []string `json:"files"`
	Failed  string   `json:"failed"`
}

// publicMessages returns the messages of testdata/messages.zip, by name.
func publicMessages(t testing.TB) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader("testdata/messages.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	messages := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		messages[f.Name] = data
	}
	return messages
}

func TestPublicMessagesAreReadLikePythonReadsThem(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]expectation
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	messages := publicMessages(t)
	if len(messages) < 200 {
		t.Fatalf("only %d messages", len(messages))
	}
	equal, compared := 0, 0
	for name, raw := range messages {
		m := read(t, string(raw))
		checkMessage(t, name, raw, m)
		want, known := expected[name]
		switch {
		case !known:
			t.Errorf("%s: missing in expected.json", name)
			continue
		case want.Failed != "":
			continue
		}
		compared++
		var files []string
		for _, f := range m.Files {
			if f.Filename != "" {
				files = append(files, f.Filename)
			}
		}
		if m.Subject == want.Subject && slices.Equal(files, want.Files) {
			equal++
		} else {
			t.Logf("%s:\nsubject %q\nPython  %q\nfiles  %q\nPython %q", name, m.Subject, want.Subject, files,
				want.Files)
		}
	}
	t.Logf("%d of %d messages are read as Python reads them", equal, compared)
	if equal*100 < compared*97 {
		t.Errorf("only %d of %d messages are read as Python reads them", equal, compared)
	}
}

// checkMessage checks the properties of every message.
func checkMessage(t testing.TB, name string, raw []byte, m *message.Message) {
	t.Helper()
	for _, s := range append([]string{m.From, m.FromAddress, m.Subject, m.MessageID},
		slices.Concat(m.To, m.CC, m.ReplyTo, m.References, m.Defects)...) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r\n") {
			t.Errorf("%s: a field reads as %q, want valid UTF-8 on one line", name, s)
		}
	}
	for _, s := range []string{m.Text, m.HTML} {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") || len(s) > 5<<20 {
			t.Errorf("%s: a text of %d bytes is not clean", name, len(s))
		}
	}
	if m.To == nil || m.CC == nil || m.ReplyTo == nil || len(m.Defects) > 20 {
		t.Errorf("%s: %d defects, to %v, cc %v, reply-to %v", name, len(m.Defects), m.To, m.CC, m.ReplyTo)
	}
	for n, want := range m.Files {
		var data bytes.Buffer
		file, err := message.ReadFile(bytes.NewReader(raw), n, &data)
		if err != nil || file != want || int64(data.Len()) != file.Size {
			t.Errorf("%s: file %d: %v, %+v of %d bytes, want %+v", name, n, err, file, data.Len(), want)
		}
		if !utf8.ValidString(file.Filename+file.ContentType+file.ContentID) ||
			strings.ContainsAny(file.Filename+file.ContentType+file.ContentID, "\x00\r\n") {
			t.Errorf("%s: a file reads as %+v, want names of valid UTF-8 on one line", name, file)
		}
	}
}
