package dsn

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// deliveryStatus reads the parts with fields of RFC 3464, whatever their declared type:
// message/delivery-status, message/global-delivery-status (RFC 6533), or another attachment of a mail system
// that contains the fields.
func (e *reportParser) deliveryStatus(r *Report) bool {
	system := e.origin.isReporter() || e.reportType != ""
	for _, part := range e.parts {
		if system && declaresType(part.contentType, "delivery-status") ||
			system && !isMessage(part.contentType) && len(part.data) < maxText && finalRecipient.Match(part.data) {
			r.addRecipients(readFields(decodeText(part.data)))
		}
	}
	return e.completeRecipients(r)
}

// declaresType also matches if only the second half of the type is right.
func declaresType(contentType, name string) bool {
	_, subtype, _ := strings.Cut(contentType, "/")
	return strings.TrimPrefix(subtype, "global-") == name
}

var finalRecipient = regexp.MustCompile(`(?im)^[ \t>|]*Final-Recipient[ \t]*:`)

// embeddedStatus reads misplaced fields: in the text, or in the raw message if its parts could not be
// separated.
func (e *reportParser) embeddedStatus(r *Report) bool {
	if !e.origin.isReporter() && e.reportType == "" {
		return false
	}
	for _, source := range []string{e.text, e.returned, e.raw} {
		if !finalRecipient.MatchString(source) {
			continue
		}
		// The fields may follow quotation marks or white space, the same on each line.
		first := reportField.FindStringSubmatchIndex(source)
		block := "\n" + source[first[0]:]
		if indent := source[first[2]:first[3]]; indent != "" {
			block = strings.ReplaceAll(block, "\n"+indent, "\n")
			block = strings.ReplaceAll(block, "\n"+strings.TrimRight(indent, " \t")+"\n", "\n\n")
		}
		if end := endOfFields.FindStringIndex(block); end != nil {
			block = block[:end[0]]
		}
		r.addRecipients(readFields(block))
		return e.completeRecipients(r)
	}
	return false
}

// reportField matches the first field of a report.
var reportField = regexp.MustCompile(`(?im)^([ \t>|]*)(?:Reporting-MTA|Original-Envelope-Id|Original-Recipient|Final-Recipient)[ \t]*:`)

// endOfFields matches the start of the returned message after fields in a text.
var endOfFields = regexp.MustCompile(`(?im)^[ \t>|]*(?:Return-Path|Received|Message-ID|MIME-Version|DKIM-Signature|Content-Type)[ \t]*:|^--`)

// completeRecipients fills in the recipients from the text and from each other.
func (e *reportParser) completeRecipients(r *Report) bool {
	if len(r.Recipients) == 0 {
		return false
	}
	var told []RecipientReport
	for i := range r.Recipients {
		one := &r.Recipients[i]
		if one.Diagnostic == "" || one.Code == 0 && one.Status == "" {
			if told == nil {
				told = scanRecipients(e.text)
			}
			one.completeFrom(told, len(r.Recipients) == 1)
		}
		if one.Action == "" {
			one.Action = actionBy(one.Status, one.Code, e.textAction())
		}
	}
	e.addPhases(r.Recipients, false)
	// The outcome of these recipients is unknown.
	r.Recipients = slices.DeleteFunc(r.Recipients, func(one RecipientReport) bool { return one.Action == "" })
	if len(r.Recipients) == 0 {
		r.Recipients = nil
		return false
	}
	r.Kind = kindOf(r.Recipients)
	return true
}

// completeFrom copies what the text contains about the same address.
func (one *RecipientReport) completeFrom(told []RecipientReport, only bool) {
	for _, t := range told {
		if !strings.EqualFold(t.Address, one.Address) && !(only && len(told) == 1) {
			continue
		}
		if one.Diagnostic == "" {
			one.Diagnostic = t.Diagnostic
		}
		if one.Code == 0 {
			one.Code = t.Code
		}
		if one.Status == "" {
			one.Status = t.Status
		}
	}
}

// addRecipients adds the recipients of one block of fields. Groups should be separated by empty lines. A
// repeated field starts the next group, and an empty line within a group does not.
func (r *Report) addRecipients(fields []field) {
	var group map[string]string
	flush := func() {
		if one, found := parseRecipient(group); found && len(r.Recipients) < maxRecipients {
			r.Recipients = append(r.Recipients, one)
		}
		group = nil
	}
	for i, f := range fields {
		switch f.name {
		case "reporting-mta":
			r.ReportingMTA = hostName(f.value)
		case "original-envelope-id":
			r.EnvelopeID = oneLine(f.value)
		case "original-recipient", "final-recipient", "x-actual-recipient", "action", "status", "remote-mta",
			"diagnostic-code",
			"will-retry-until", "last-attempt-date", "x-supplementary-info":
			_, again := group[f.name]
			names := f.name == "original-recipient" || f.name == "final-recipient"
			next := i+1 < len(fields) && fields[i+1].name == "final-recipient" && !fields[i+1].gap
			if again && (f.gap || names) || names && group["final-recipient"] != "" && (f.gap || next) {
				flush()
			}
			if group == nil {
				group = map[string]string{}
			}
			if group[f.name] == "" {
				group[f.name] = f.value
			}
		}
	}
	flush()
}

// parseRecipient interprets one group.
func parseRecipient(group map[string]string) (RecipientReport, bool) {
	final, original := addressOf(group["final-recipient"]), addressOf(group["original-recipient"])
	if group["final-recipient"] == "" && group["original-recipient"] == "" && group["x-actual-recipient"] == "" {
		return RecipientReport{}, false
	}
	one := RecipientReport{Address: final, OriginalAddress: original}
	for _, other := range []string{addressOf(group["x-actual-recipient"]), original} {
		if !strings.Contains(one.Address, "@") && other != "" {
			one.Address = other
		}
	}
	_, diagnostic := splitTyped(group["diagnostic-code"])
	one.Diagnostic = withoutRepeats(oneLine(diagnostic))
	one.RemoteMTA = hostName(group["remote-mta"])
	one.WillRetryUntil = parseDate(group["will-retry-until"])
	code, enhanced := findCodes(one.Diagnostic)
	one.Code, one.Status = code, parseStatus(group["status"])
	// The refusing server knows the reason; Status is what another system made of it. Not if the server asked to
	// retry: a message that expired with 5.4.7 quotes the last 4yz.
	if enhanced != "" && (one.Status == "" || one.Status[0] == enhanced[0] || enhanced[0] == '5' && code/100 == 5) {
		one.Status = enhanced
	}
	one.Action = parseAction(group["action"])
	if one.Action == "" {
		one.Action = actionBy(one.Status, one.Code, "")
	}
	return one, true
}

// replyStart matches the beginning of a reply line, as in RFC 2034.
var replyStart = regexp.MustCompile(`^([245][0-9][0-9])[ -]([245]\.[0-9]{1,3}\.[0-9]{1,3}) `)

// withoutRepeats keeps the codes of a multiline reply only on its first line.
func withoutRepeats(s string) string {
	m := replyStart.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	rest := " " + s[len(m[0]):]
	for _, separator := range []string{" ", "-"} {
		rest = strings.ReplaceAll(rest, " "+m[1]+separator+m[2]+" ", " ")
	}
	return m[1] + " " + m[2] + rest
}

// parseAction parses the first word, in its known spellings.
func parseAction(s string) Action {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), " ")
	switch strings.Trim(word, "();,.\"") {
	case "failed", "failure", "fail", "error", "undeliverable", "undelivered", "rejected", "bounced",
		"permanent-failure", "expired":
		return ActionFailed
	case "delayed", "delay", "deferred", "transient-failure", "temporary-failure", "warning":
		return ActionDelayed
	case "delivered", "deliverable", "success", "succeeded":
		return ActionDelivered
	case "relayed", "relay":
		return ActionRelayed
	case "expanded":
		return ActionExpanded
	}
	return ""
}

// actionBy derives the action from the class of a code (RFC 3463, 2), else from the fallback.
func actionBy(status string, code int, fallback Action) Action {
	class := byte('0' + code/100)
	if status != "" {
		class = status[0]
	}
	switch class {
	case '2':
		return ActionDelivered
	case '4':
		return ActionDelayed
	case '5':
		return ActionFailed
	}
	return fallback
}

var (
	dotted   = regexp.MustCompile(`([245])[.,]\s?([0-9]{1,3})(?:[.,]\s?([0-9]{1,3}))?`)
	undotted = regexp.MustCompile(`^#?([245])([0-9])([0-9])\b`)
)

// parseStatus parses a Status field: "5.1.1", "5.1.1 (bad mailbox)", "#5.1.1", "511", "5.1".
func parseStatus(s string) string {
	if m := dotted.FindStringSubmatch(s); m != nil {
		if m[3] == "" {
			m[3] = "0"
		}
		return m[1] + "." + trimZeros(m[2]) + "." + trimZeros(m[3])
	}
	if m := undotted.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		return m[1] + "." + m[2] + "." + m[3]
	}
	return ""
}

func trimZeros(s string) string {
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

var (
	// Neither an IP address nor a version: no digit and no dot on either side.
	enhancedCode = regexp.MustCompile(`(?:^|[^0-9.])([245]\.0?0?[0-7]\.[0-9]{1,3})(?:$|[^0-9.]|\.(?:$|[^0-9]))`)
	// A reply code, the surest place first: with its enhanced code; at the start of a
	// line or of what a server said; alone, if it is one that servers use.
	replyCodes = []*regexp.Regexp{
		regexp.MustCompile(`(?:^|[^0-9.])([245][0-5][0-9])[ -](?:#|\()?[245]\.[0-9]{1,3}\.[0-9]{1,3}`),
		regexp.MustCompile(`(?i)(?:^|: |said:? ?|<<< |reason: |#|error |code |response was |returned |reply |smtp;\s?)"?'?(2[125][0-3]|[45][0-7][0-9])(?:$|[ :;,"')]|[.-](?:$|[^0-9]))`),
		regexp.MustCompile(`(?:^|[ (<;:"'#-])(421|45[0-5]|50[1-4]|521|530|535|541|55[0-6]|571)(?:$|[ :;,>"')]|-(?:$|[^0-9]))`),
	}
)

// otherNumbers matches parts of texts whose digits are not codes: email and IP addresses, links, dates and times,
// software versions, and IDs.
var otherNumbers = regexp.MustCompile(`(?i)\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|\[?(?:ipv6:)?[0-9a-f]{0,4}:[0-9a-f]{0,4}:[0-9a-f:.]+\]?|https?://[^\s<>"]+|<[^<>\s]*@[^<>\s]*>` +
	`|\b(?:19|20)[0-9]{2}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:t[0-9:.]+z?)?|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?(?: ?[+-][0-9]{4})?\b` +
	`|\b(?:exim|postfix|sendmail|opensmtpd|version|mdaemon|release|build)[ /]v?[0-9]+(?:\.[0-9]+)+|\bv[0-9]+(?:\.[0-9]+)+` +
	`|\b(?:id|ids|qid|queue-id|message-id|session|session-id|ref|reference|ticket|case|port|bytes|size)\b(?: (?:no|is|number))?[ =:#.]{1,2}[0-9][\w.-]*|\b[0-9]+ (?:bytes|octets|kb|mb|seconds|minutes|hours|days)\b`)

// withoutNumbers removes otherNumbers.
func withoutNumbers(s string) string { return otherNumbers.ReplaceAllString(s, "…") }

// findCodes looks for a reply code and an enhanced code in a text.
func findCodes(s string) (code int, enhanced string) {
	s = withoutNumbers(s)
	if m := enhancedCode.FindStringSubmatch(s); m != nil {
		enhanced = m[1]
	}
	for _, pattern := range replyCodes {
		if m := pattern.FindStringSubmatch(s); m != nil {
			code, _ = strconv.Atoi(m[1]) // three digits
			break
		}
	}
	if enhanced != "" && code/100 != 0 && byte('0'+code/100) != enhanced[0] {
		enhanced = "" // two replies in one text: the code came first
	}
	return code, enhanced
}
