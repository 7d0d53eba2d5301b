package bounce

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tables of docs/bounces.md must match the decisions of the code. If they differ, copy the printed table to
// the page.
func TestManualHasTheTablesOfDecisions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/bounces.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]string{"classes": classTable(), "phases": phaseTable()} {
		if !strings.Contains(string(page), table) {
			t.Errorf("docs/bounces.md does not have the table of %s:\n%s", name, table)
		}
	}
}

func classTable() string {
	meaning := map[Class]string{
		BadAddress:  "the mailbox does not exist, is closed or has moved",
		BadDomain:   "the domain does not exist or accepts no mail",
		MailboxFull: "the mailbox is over its quota",
		System:      "the receiving system or the route to it does not work",
		Block:       "the sending address or domain has a bad reputation",
		Throttle:    "too many messages or connections in a short time",
		Greylist:    "the receiver asks for a retry in a few minutes",
		Size:        "the message is too large",
		Content:     "spam, a virus, a forbidden file or a malformed message",
		Policy:      "SPF, DKIM, DMARC, relaying, TLS or a rule of the receiver",
		Challenge:   "the receiver asks the sender for a confirmation",
		Unknown:     "no known reason",
	}
	var b strings.Builder
	b.WriteString("| class | reason | final event | suppresses |\n|---|---|---|---|\n")
	for _, class := range Classes {
		event, suppresses := "`email.failed`", "no"
		if class.Bounces() {
			event, suppresses = "`email.bounced`", "yes"
		}
		if class == Unknown {
			event, suppresses = "depends on the phase", "depends on the phase"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", class, meaning[class], event, suppresses)
	}
	return b.String()
}

// phaseExamples are replies whose meaning depends on the phase, and some whose meaning does not.
var phaseExamples = []Reply{
	{Code: 550, Enhanced: "5.1.1", Text: "User unknown"},
	{Code: 550, Text: "No such user"},
	{Code: 550, Text: "Mailbox unavailable"},
	{Code: 552, Enhanced: "5.2.2", Text: "Over quota"},
	{Code: 550, Enhanced: "5.7.1", Text: "Not authorized"},
	{Code: 552, Enhanced: "5.3.4", Text: "Message too large"},
	{Code: 550, Text: "No"},
	{Code: 550, Text: "Rejected"},
	{Code: 554, Text: "Transaction failed"},
	{Code: 550, Enhanced: "5.2.0", Text: "No"},
	{Code: 451, Text: "Try later"},
}

func phaseTable() string {
	var b strings.Builder
	b.WriteString("| reply | connection, EHLO | MAIL | RCPT | DATA, final dot | report without a phase |\n|---|---|---|---|---|---|\n")
	for _, r := range phaseExamples {
		fmt.Fprintf(&b, "| `%s` ", strings.Join(strings.Fields(fmt.Sprint(r.Code, " ", r.Enhanced, " ", r.Text)), " "))
		for _, phase := range []Phase{PhaseSession, PhaseSender, PhaseRecipient, PhaseMessage, PhaseUnknown} {
			r.Phase = phase
			verdict, result := Judge(r), "failed"
			if verdict.Bounces {
				result = "**bounced**"
			}
			fmt.Fprintf(&b, "| %s, `%s` ", result, verdict.Class)
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// A reply without a known reason is never classified as being about the address, in any phase.
func TestUnknownIsNeverABadAddress(t *testing.T) {
	t.Parallel()
	for _, code := range []int{500, 501, 550, 552, 553, 554, 599} {
		for _, enhanced := range []string{"", "5.0.0", "5.5.1"} {
			for _, phase := range Phases {
				r := Reply{Code: code, Enhanced: enhanced, Text: "Nope", Phase: phase}
				want := Verdict{Unknown, phase == PhaseRecipient || phase == PhaseUnknown && code != 554}
				if got := Judge(r); got != want {
					t.Errorf("%+v is judged %+v, want %+v", r, got, want)
				}
			}
		}
	}
}

// Before RCPT the server does not know the recipient.
func TestNoClassOfTheRecipientBeforeRCPT(t *testing.T) {
	t.Parallel()
	for _, phase := range []Phase{PhaseSession, PhaseSender} {
		for _, r := range phaseExamples {
			r.Phase = phase
			if verdict := Judge(r); verdict.Bounces && r.isPermanent() {
				t.Errorf("%+v bounces the recipient as %s", r, verdict.Class)
			}
		}
	}
}
