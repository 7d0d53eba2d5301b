package journeys_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// Sessions of other mail servers. To turn a report into a test, put its commands into testdata/sessions: a line that
// begins with > is sent, one that begins with < is the beginning of the reply, and # is a comment. EHLO was sent
// before.
func TestInboundSessions(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	files, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no sessions (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			session, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := dialInbound(t, app)
			sent := ""
			for line := range strings.Lines(string(session)) {
				line = strings.TrimRight(line, "\r\n")
				if text, sends := strings.CutPrefix(line, ">"); sends {
					sent += strings.TrimPrefix(text, " ") + "\r\n"
				}
				if want, replies := strings.CutPrefix(line, "< "); replies {
					if got := c.say(t, sent); !strings.HasPrefix(got, want) {
						t.Errorf("after %q the reply is %q, want %s", sent, got, want)
					}
					sent = ""
				}
			}
			if sent != "" {
				t.Errorf("the session ends with %q, want a reply", sent)
			}
		})
	}
}
