package dsn

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/mail/bounce"
)

// Rejection returns the report for classification. A status that the quoted reply does not contain was added by
// the reporting system.
func (one *RecipientReport) Rejection() bounce.Reply {
	return bounce.Reply{
		Code: one.Code, Enhanced: one.Status, Text: one.Diagnostic, Phase: one.Phase,
		Derived: one.Code != 0 && one.Status != "" && !strings.Contains(one.Diagnostic, one.Status),
	}
}

// namedPhases are the words with which mail systems name the command that was rejected. Each needs a
// preposition or brackets, because servers mention commands in their replies, too: "need RCPT before DATA".
var namedPhases = []struct {
	phase   bounce.Phase
	pattern *regexp.Regexp
}{
	{bounce.PhaseMessage, regexp.MustCompile(`(?i)(?:` + beforeCommand +
		`(?:pipelined )?(?:sending )?(?:the )?(?:end of data|end-of-data|message body|data|text|bdat|final dot|message)\b` +
		`|failed after i sent the message|failed on data command|\[body\]|\(state 1[78]\))`)},
	{bounce.PhaseRecipient, regexp.MustCompile(`(?i)(?:` + beforeCommand +
		`(?:pipelined )?(?:sending )?(?:the )?rcpt\b|does not like recipient|\[rcpt_to\]|\(state 1[34]\))`)},
	{bounce.PhaseSender, regexp.MustCompile(`(?i)(?:` + beforeCommand +
		`(?:pipelined )?(?:sending )?(?:the )?mail[ _]from\b|but sender was rejected|\[mail_from\])`)},
	{bounce.PhaseSession, regexp.MustCompile(`(?i)(?:` + beforeCommand +
		`(?:the )?(?:initial (?:connection|server greeting)|helo|ehlo|starttls|auth)\b|refused to talk to me|but my name was rejected|but greeting failed|\[(?:greeting|helo|connect)\])`)},
}

// beforeCommand precedes the name of the command: Postfix, Exim, 1&1, Kerio, hMailServer, MailEnable.
const beforeCommand = `(?:in (?:reply|response) to |(?:error|response|reply|rejected|refused|failed|server) (?:[^:"]{0,80} )?(?:after|for|to|at|during) |\b(?:while|when) sending )`

// dialogue is a command and the rejection that followed it, in a transcript by Sendmail, Courier or MDaemon.
var (
	dialogueReply = regexp.MustCompile(`(?:<<<|<--|<-) ?[45][0-9][0-9]\b`)
	// Sendmail sends RCPT and DATA together and shows the replies to both after DATA.
	noRecipientLeft = regexp.MustCompile(`(?i)(?:<<<|<--|<-) ?(?:503|554) [^<]*(?:need rcpt|valid recipient|no recipient|rcpt (?:command )?first)`)
	dialogueCommand = regexp.MustCompile(`(?i)(?:>>>|-->|->) ?(rcpt|mail|data|bdat|\.|helo|ehlo|starttls|auth)`)
	commandPhase    = map[string]bounce.Phase{
		"rcpt": bounce.PhaseRecipient, "mail": bounce.PhaseSender, "data": bounce.PhaseMessage, "bdat": bounce.PhaseMessage, ".": bounce.PhaseMessage,
		"helo": bounce.PhaseSession, "ehlo": bounce.PhaseSession, "starttls": bounce.PhaseSession, "auth": bounce.PhaseSession,
	}
)

// findPhase returns the phase that a text names, or PhaseUnknown. The transcript of the session is more reliable than
// words.
func findPhase(text string) bounce.Phase {
	text = text[:min(len(text), 16<<10)]
	if at := dialogueReply.FindStringIndex(text); at != nil {
		if commands := dialogueCommand.FindAllStringSubmatch(text[:at[0]], -1); len(commands) > 0 {
			phase := commandPhase[strings.ToLower(commands[len(commands)-1][1])]
			if phase == bounce.PhaseMessage && noRecipientLeft.MatchString(text[at[0]:]) {
				phase = bounce.PhaseRecipient
			}
			return phase
		}
	}
	phase, first := bounce.PhaseUnknown, len(text)
	for _, n := range namedPhases {
		if at := n.pattern.FindStringIndex(text); at != nil && at[0] < first {
			phase, first = n.phase, at[0]
		}
	}
	return phase
}

// addPhases completes the phases from the text for people. In a report about several recipients, only the text about
// the recipient counts. scanned means that the diagnostics already contain everything in the text.
func (e *reportParser) addPhases(list []RecipientReport, scanned bool) {
	var told map[string]bounce.Phase // by address
	for i := range list {
		one := &list[i]
		if one.Phase = findPhase(one.Diagnostic); one.Phase != bounce.PhaseUnknown {
			continue
		}
		if len(list) == 1 {
			one.Phase = findPhase(strings.Join(strings.Fields(e.text), " "))
			continue
		}
		if scanned {
			continue
		}
		if told == nil {
			told = map[string]bounce.Phase{}
			for _, t := range scanRecipients(e.text) {
				told[strings.ToLower(t.Address)] = findPhase(t.Diagnostic)
			}
		}
		one.Phase = told[strings.ToLower(one.Address)]
	}
}
