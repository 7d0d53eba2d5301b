package bounces

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/deliveryreport"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

const corpusPath = "bounce+token@rp.dev.test"

// judgeMessage judges a message that arrived at the return path of bob.
func judgeMessage(t *testing.T, message string) judgement {
	t.Helper()
	report, err := dsn.Parse(strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	return judgeReport(report, bob)
}

// describeJudgement returns the kind and, for a bounce, its class and effect on the recipient.
func describeJudgement(j judgement) string {
	switch {
	case j.bounce == nil:
		return string(j.kind)
	case j.bounce.Verdict.Bounces:
		return "bounced " + j.class
	}
	return "failed " + j.class
}

// Reports collected from real systems. A message without Return-Path comes from the null path; {RCPT} is our
// recipient.
func TestRealReports(t *testing.T) {
	t.Parallel()
	expect.Cases(t, "testdata/cases", func(t *testing.T, input []byte) string {
		message := strings.NewReplacer("{RCPT}", bob, "{PATH}", corpusPath).Replace(string(input))
		if !strings.HasPrefix(message, "Return-Path:") {
			message = "Return-Path: <>\n" + message
		}
		return describeJudgement(judgeMessage(t, message))
	})
}

// remoteReply is a line of testdata/replies.txt.
type remoteReply struct {
	fault, phase, code, enhanced, text string
}

var replyLine = regexp.MustCompile(`^(\w+) +(\w+) +(\d{3}) (?:(\d\.\d+\.\d+) )?(.*)$`)

func readReplies(t *testing.T) (all []remoteReply) {
	t.Helper()
	text, err := os.ReadFile("testdata/replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := replyLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("testdata/replies.txt has the invalid line %q", line)
		}
		all = append(all, remoteReply{m[1], m[2], m[3], m[4], m[5]})
	}
	return all
}

// phaseWords are the names that mail systems use for the phases.
var phaseWords = map[string]map[string]string{
	"session": {"{POSTFIX}": "EHLO command", "{EXIM}": "initial connection", "{EXIM1}": "HELO",
		"{SENDMAIL}": "EHLO mx.example.net", "{QMAIL}": "Connected to 203.0.113.25 but my name was rejected.", "{STATE}": "2"},
	"sender": {"{POSTFIX}": "MAIL FROM command", "{EXIM}": "MAIL FROM:<hello@dev.test>", "{EXIM1}": "MAIL FROM",
		"{SENDMAIL}": "MAIL From:<hello@dev.test>", "{QMAIL}": "Connected to 203.0.113.25 but sender was rejected.", "{STATE}": "9"},
	"recipient": {"{POSTFIX}": "RCPT TO command", "{EXIM}": "RCPT TO:<{RCPT}>", "{EXIM1}": "RCPT TO",
		"{SENDMAIL}": "RCPT To:<{RCPT}>", "{QMAIL}": "does not like recipient.", "{STATE}": "14"},
	"message": {"{POSTFIX}": "end of DATA command", "{EXIM}": "end of data", "{EXIM1}": "TEXT", "{SENDMAIL}": "DATA",
		"{QMAIL}": "failed after I sent the message.", "{STATE}": "18"},
}

// render writes the report of one mail system about a reply.
func (r remoteReply) render(form string) string {
	status, guess, whole := r.enhanced, r.enhanced, r.code+" "+r.text
	if r.enhanced != "" {
		whole = r.code + " " + r.enhanced + " " + r.text
	} else {
		status, guess = "5.0.0", "5.0.0"
		if r.phase == "recipient" && r.code == "550" {
			guess = "5.1.1" // Sendmail's own conclusion
		}
	}
	for word, says := range phaseWords[r.phase] {
		form = strings.ReplaceAll(form, word, says)
	}
	form = strings.NewReplacer("{REPLY}", whole, "{TEXT}", r.text).Replace(form)
	return "Return-Path: <>\n" + strings.NewReplacer("{RCPT}", bob, "{PATH}", corpusPath, "{STATUS}", status, "{GUESS}",
		guess).Replace(form)
}

// The corpus combines every reply with the report format of every mail system. A dead address must be
// recognized, and a rejection that is the sender's fault must not suppress the recipient.
func TestCorpusOfReports(t *testing.T) {
	t.Parallel()
	forms, err := filepath.Glob("testdata/forms/*.eml")
	if err != nil {
		t.Fatal(err)
	}
	replies := readReplies(t)
	if len(forms) < 25 || len(forms)*len(replies) < 300 {
		t.Fatalf("the corpus has only %d formats and %d replies", len(forms), len(replies))
	}
	count := map[string]int{}
	wrong := map[string]int{}
	unread := 0
	for _, path := range forms {
		form, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, reply := range replies {
			count[reply.fault]++
			j := judgeMessage(t, reply.render(string(form)))
			bounces := j.bounce != nil && j.bounce.Verdict.Bounces
			if j.kind != deliveryreport.KindBounce {
				unread++
				t.Logf("%s, %s %s: judged as %s, want a failure", filepath.Base(path), reply.code,
					reply.text, j.kind)
			}
			if bounces != (reply.fault != "sender") {
				wrong[reply.fault]++
				t.Logf("%s, %s at %s, %s %s %s: %s", filepath.Base(path), reply.fault, reply.phase, reply.code,
					reply.enhanced, reply.text, describeJudgement(j))
			}
		}
	}
	percent := func(fault string) float64 { return 100 * float64(wrong[fault]) / float64(count[fault]) }
	t.Logf("%d formats, %d reports: %.1f %% of dead addresses recognized, %.1f %% of full mailboxes; %.1f %% of "+
		"the sender's faults suppress the recipient",
		len(forms), len(forms)*len(replies), 100-percent("gone"), 100-percent("full"), percent("sender"))
	if 100*unread > 3*len(forms)*len(replies) {
		t.Errorf("%d reports were not recognized", unread)
	}
	if percent("gone") > 3 || percent("full") > 3 || percent("sender") > 3 {
		t.Errorf("got the wrong judgements %v of %v", wrong, count)
	}
}
