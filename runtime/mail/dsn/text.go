package dsn

import (
	"cmp"
	"regexp"
	"strings"
)

// plainText parses a report that is only for people. It requires evidence that a mail system wrote it, and
// the phrases of a report.
func (e *reportParser) plainText(r *Report) bool {
	if !e.origin.isReporter() && e.reportType != "report" && e.reportType != "delivery-status" {
		return false
	}
	action := e.textAction()
	if action == "" {
		return false
	}
	list := scanRecipients(e.text)
	list = e.withFailedRecipients(list)
	if len(list) == 0 {
		list = inlineRecipients(e.text)
	}
	if len(list) == 0 {
		list = []RecipientReport{{}}
	}
	rest := oneLine(reasonOf(e.text, list))
	code, enhanced := findCodes(rest)
	for i := range list {
		list[i].Action = action
		if len(list) == 1 && list[i].Code == 0 && list[i].Status == "" {
			list[i].Code, list[i].Status = code, enhanced
		}
		if list[i].Diagnostic == "" {
			list[i].Diagnostic = rest
		}
	}
	e.addPhases(list, true)
	r.Recipients = list
	r.Kind = kindOf(list)
	return true
}

// Phrases of reports, the decisive ones first: a message that is given up was delayed before.
var textActions = []struct {
	action  Action
	pattern *regexp.Regexp
}{
	{ActionFailed,
		regexp.MustCompile(`giv(?:en|ing|e) up|will not (?:be )?re-?tr|no longer be (?:re)?tried|message (?:has )?(?:expired|timed out)|retry timeout exceeded|too long in (?:the )?queue|in (?:the )?queue too long|\(failure\)|failed permanently|permanent(?:ly)? (?:fatal )?(?:error|failure)|this is a permanent error`)},
	{ActionDelayed,
		regexp.MustCompile(`warning message only|still trying|still being retried|will (?:continue|keep) (?:to try|trying|retrying)|will be retried|will (?:re)?try (?:again|for|to send)|not yet been delivered|not been delivered yet|has been delayed|is delayed|delayed mail|delivery delayed|delivery incomplete|\(delay(?:ed)?\)|delayed (?:by )?[0-9]+ hours?|temporarily suspended|(?:not|n't) need to re-?send|could not send message for (?:the )?past|delivery attempts will continue|message delayed`)},
	{ActionDelivered,
		regexp.MustCompile(`successful(?:ly)? (?:been )?(?:mail deliver|deliver|relayed)|\(success\)|\(relayed?\)|(?:message|mail) (?:was|has been) (?:successfully )?(?:delivered|relayed)|confirmation of delivery|delivery to the following recipients? (?:was )?succe`)},
	{ActionFailed,
		regexp.MustCompile(`undeliver|(?:not|n't) (?:be delivered|been delivered|delivered|deliver\b|able to deliver|be reached)|unable to (?:deliver|be delivered)|delivery (?:to .{0,200})?(?:has )?failed|delivery failure|delivery error|error delivering|failed to deliver|failed delivery|did not reach|was(?:n't| not) accepted|(?:was|been|message|mail) (?:rejected|bounced|blocked|refused)|address not found|returned to sender|returned mail|returning message|failure notice|non.?deliver|no such user|user unknown|` +
			`配信できません|送信できません|配送できません|配達できません|届けられません|送達できません|配信不能|配達不能|退信|退回|无法投递|無法投遞|投递失败|投遞失敗|无法送达|無法送達|` +
			`не может быть доставлен|не (?:было |был )?доставлен|не удалось доставить|недоставлен|невозможно доставить|` +
			`nie (?:mogła|mogło|mógł|może) (?:zostać|być) (?:dostarczon|doręczon)|nie (?:została|zostało|został) (?:dostarczon|doręczon)|nie udało się dostarczyć|niedoręczon|niedostarczon|` +
			`nelze doručit|nebyla? doručen|teslim edilemedi|kunde inte levereras|kunne ikke leveres|ei voitu toimittaa|전달되지|배달되지|전송하지 못|` +
			`nicht zugestellt werden|unzustellbar|pas pu être (?:remis|délivré|distribué)|non remis|no se (?:pudo|puede|ha podido) entregar|niet worden (?:bezorgd|afgeleverd)|onbestelbaar|impossibil[ei] recapitare|não pôde ser entregue`)},
}

// textAction checks the subject before the text.
func (e *reportParser) textAction() Action {
	for _, s := range []string{e.subject, squeezeLong(e.text)} {
		for _, t := range textActions {
			if t.pattern.MatchString(s) {
				return t.action
			}
		}
	}
	return ""
}

// The full-width punctuation of Chinese and Japanese reports ends an address like its ASCII forms.
const (
	wide     = `（）［］＜＞，：；、。「」《》【】`
	addrSpec = `([^\s<>()\[\]",;:*` + wide + `]+@(?:[^\s<>()\[\]",;:@/` + wide + `]+\.[^\s<>()\[\]",;:@/.` + wide +
		`]{2,}|\[[0-9a-fA-F.:]+\]))`
)

var (
	// A line about one recipient, with the rest of the line.
	recipientLine = regexp.MustCompile(`^[>|*\s]*(?:(?i:to|recipient|failed recipient|recipient address): )?(?:\[?(?i:smtp|rfc822)[;:] ?)?<?(?:mailto:)?` + addrSpec + `[>\]]?(?:\s*<(?:mailto:)?[^<>]*>|\s*\([^()]*<?(?:mailto:)?[^()]*\))?\s*(?::\s*(.*)|\.\.\.\s*(.*)|\s[-–]\s(.*)| on [^@]*[0-9][^@]*|)$`)
	// Sendmail writes "550 5.1.1 <bob@example.net>... User unknown".
	transcriptLine = regexp.MustCompile(`^[>|\s]*([245][0-9][0-9] (?:[245]\.[0-9]{1,3}\.[0-9]{1,3} )?)<?` + addrSpec +
		`>?\.\.\. (.*)$`)

	// Addresses within a sentence, for texts that have them nowhere else.
	inlineAddress = regexp.MustCompile(`(?i)(?:delivered to|deliver(?:y of|ing)? (?:your |the |this )?(?:message |mail |e-?mail )?(?:has )?(?:from \S+ )?to|sent to|message to|recipients?|failed for|user|mailbox|address|account|rcpt to|reach|for)\s*:?\s*["'<(]*` + addrSpec)

	remoteHost = regexp.MustCompile(`(?i)(?:\bhost |talking to |\bserver |rejected by |by )([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)\.?[ :,]*(?:[\[(:]|$|said|while|returned|after)`)
)

// scanRecipients treats each line that is an address as the start of its diagnostic, up to the empty line
// after the first code.
func scanRecipients(text string) []RecipientReport {
	s := textScan{current: -1}
	lines := 0
	for line := range strings.Lines(text) {
		if lines++; lines > maxLines {
			break
		}
		line = strings.TrimRight(boundText(line), " \t\r\n")
		if m := transcriptLine.FindStringSubmatch(line); m != nil {
			s.beginRecipient(m[2], m[1]+m[3])
		} else if m := recipientLine.FindStringSubmatch(line); m != nil {
			s.beginRecipient(m[1], m[2]+m[3]+m[4])
		} else if s.current >= 0 {
			s.readLine(strings.TrimSpace(line))
		}
	}
	for i := range s.list {
		s.list[i].readDiagnostic(s.said[i].String())
	}
	return s.list
}

// maxLines is how much of a text is scanned.
const maxLines = 5000

type textScan struct {
	list    []RecipientReport
	said    []*strings.Builder // per recipient
	current int                // the recipient of the current lines, or -1
}

// beginRecipient returns to an address that was named before.
func (s *textScan) beginRecipient(address, reason string) {
	s.current = -1
	address = strings.Trim(address, "'.")
	if local, _, _ := strings.Cut(address, "@"); daemonName.MatchString(local) {
		return
	}
	for i := range s.list {
		if strings.EqualFold(s.list[i].Address, address) {
			s.current = i
		}
	}
	if s.current < 0 && len(s.list) < maxRecipients {
		s.list, s.said = append(s.list, RecipientReport{Address: address}), append(s.said, new(strings.Builder))
		s.current = len(s.list) - 1
	}
	if s.current >= 0 {
		appendText(s.said[s.current], reason)
	}
}

func (s *textScan) readLine(line string) {
	switch {
	case line == "":
		if code, enhanced := findCodes(s.said[s.current].String()); code != 0 || enhanced != "" {
			s.current = -1
		}
	case !strings.HasPrefix(line, "-----"):
		appendText(s.said[s.current], line)
	}
}

func appendText(b *strings.Builder, s string) {
	if b.Len() < maxLine && s != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
}

// readDiagnostic parses the diagnostic of a recipient.
func (one *RecipientReport) readDiagnostic(said string) {
	one.Diagnostic = oneLine(said)
	one.Code, one.Status = findCodes(one.Diagnostic)
	if m := remoteHost.FindStringSubmatch(one.Diagnostic); m != nil {
		one.RemoteMTA = m[1]
	}
}

// withFailedRecipients adds the recipients in the field of Exim and Gmail.
func (e *reportParser) withFailedRecipients(list []RecipientReport) []RecipientReport {
	for _, h := range e.message.Header {
		if !strings.EqualFold(h.Name, "X-Failed-Recipients") {
			continue
		}
		for address := range strings.FieldsFuncSeq(h.Value,
			func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			address = addressOf(address)
			if address == "" || !strings.Contains(address, "@") || hasRecipient(list, address) ||
				len(list) >= maxRecipients {
				continue
			}
			list = append(list, RecipientReport{Address: address})
		}
	}
	return list
}

func hasRecipient(list []RecipientReport, address string) bool {
	for _, one := range list {
		if strings.EqualFold(one.Address, address) {
			return true
		}
	}
	return false
}

// inlineRecipients finds the single address in a sentence.
func inlineRecipients(text string) []RecipientReport {
	for _, m := range inlineAddress.FindAllStringSubmatch(text[:min(len(text), 16<<10)], 20) {
		address := strings.Trim(m[1], "'.")
		if local, _, _ := strings.Cut(address, "@"); daemonName.MatchString(local) {
			continue
		}
		one := RecipientReport{Address: address}
		if m := remoteHost.FindStringSubmatch(oneLine(text)); m != nil {
			one.RemoteMTA = m[1]
		}
		return []RecipientReport{one}
	}
	return nil
}

// reasonOf returns the first paragraph that contains a code and a recipient, or a code, or else the whole text.
func reasonOf(text string, recipients []RecipientReport) string {
	text = text[:min(len(text), 16<<10)]
	first := ""
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if code, enhanced := findCodes(oneLine(paragraph)); code == 0 && enhanced == "" {
			continue
		}
		for _, r := range recipients {
			if r.Address != "" && strings.Contains(paragraph, r.Address) {
				return paragraph
			}
		}
		first = cmp.Or(first, paragraph)
	}
	return cmp.Or(first, text)
}

// readQmail reads QSBMF (cr.yp.to/proto/qsbmf.txt): a greeting, paragraphs that begin with "<address>:", and
// a line of hyphens before the message.
func (e *reportParser) readQmail(r *Report) bool {
	text := strings.TrimLeft(e.text, " \n")
	if !strings.HasPrefix(text, "Hi. ") {
		return false
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		recipient, reason, _ := strings.Cut(strings.TrimLeft(paragraph, "\n"), "\n")
		recipient = strings.TrimSpace(recipient)
		if !strings.HasPrefix(recipient, "<") || !strings.HasSuffix(recipient, ">:") ||
			len(r.Recipients) >= maxRecipients {
			continue
		}
		one := RecipientReport{Address: addressOf(recipient), Action: ActionFailed}
		one.readDiagnostic(reason)
		if one.Status != "" && one.Status[0] == '2' {
			one.Action = ActionDelivered
		}
		r.Recipients = append(r.Recipients, one)
	}
	if len(r.Recipients) == 0 {
		return false
	}
	e.addPhases(r.Recipients, true)
	r.Kind, r.Structured = kindOf(r.Recipients), true
	return true
}
