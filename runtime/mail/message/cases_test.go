package message_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/message"
)

// TestReportedMessages reads the messages in testdata/cases. To turn a report into a test, put the message
// into NAME.eml and the expected values into NAME.json; omitted members are not compared.
func TestReportedMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cases/*.eml")
	if err != nil || len(files) < 15 {
		t.Fatalf("found %d cases (%v), want all", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".eml"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			expected, err := os.ReadFile(strings.TrimSuffix(file, ".eml") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			m := read(t, string(raw))
			got := map[string]any{"subject": m.Subject, "from": m.From, "text": m.Text, "html": m.HTML,
				"files": fileNames(m), "defects": m.Defects}
			var want map[string]any
			if err := json.Unmarshal(expected, &want); err != nil {
				t.Fatal(err)
			}
			for name, value := range want {
				if list, is := value.([]any); is {
					value = toStrings(list)
				}
				if diff := cmp.Diff(value, got[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func fileNames(m *message.Message) []string {
	names := []string{}
	for _, f := range m.Files {
		names = append(names, f.Filename)
	}
	return names
}

func toStrings(list []any) []string {
	out := []string{}
	for _, v := range list {
		text, _ := v.(string)
		out = append(out, text)
	}
	return out
}
