package dsn

import (
	"regexp"
	"strings"
)

var (
	anyAddress = regexp.MustCompile(addrSpec)
	// A reply code at the start of a line or after a label: "Reason: 550 ".
	precedingCode = regexp.MustCompile(`(?:^|[:：] ?)[45][0-7][0-9] `)
	// A lone reply code in a text of an unknown language must be one for a recipient or message.
	loneCode = regexp.MustCompile(`(?:^|[^0-9A-Za-z.:/@_+-])(?:421|45[0-5]|50[1-4]|521|530|535|541|55[0-6]|571)(?:$|[^0-9A-Za-z:/@_+-]|-[^0-9])`)
)

// inferRecipients reads a report in a language that this package does not know, from the reply code on
// the line of an address or in the lines below it. It does not know which of the addresses is the
// recipient's, so the caller must check that.
func (e *reportParser) inferRecipients(r *Report) bool {
	if !e.origin.daemon && !e.origin.null && !e.origin.failed {
		return false
	}
	var in inference
	lines := 0
	for line := range strings.Lines(e.text) {
		if lines++; lines > maxLines {
			break
		}
		in.addLine(strings.TrimSpace(boundText(line)))
	}
	in.settle()
	list := e.withFailedRecipients(in.list)
	read := list[:0]
	for _, one := range list {
		if one.Action = actionBy(one.Status, one.Code, ""); one.Action == ActionFailed || one.Action == ActionDelayed {
			read = append(read, one)
		}
	}
	if len(read) == 0 {
		return false
	}
	e.addPhases(read, true)
	r.Recipients, r.Kind, r.Inferred = read, kindOf(read), true
	return true
}

// inference collects the addresses of a text and the text about each.
type inference struct {
	list []RecipientReport
	said string // about the last address
	gap  bool   // an empty line came after it
}

// settle evaluates the text about the last address.
func (in *inference) settle() {
	if len(in.list) > 0 {
		if one := &in.list[len(in.list)-1]; one.Code == 0 && one.Status == "" && hasCode(in.said) {
			one.readDiagnostic(in.said)
		}
	}
	in.said, in.gap = "", false
}

func (in *inference) addLine(line string) {
	in.gap = in.gap || line == ""
	if m := anyAddress.FindStringSubmatch(line); m != nil {
		before, _, _ := strings.Cut(line, m[1])
		if !in.gap && in.said != "" && precedingCode.MatchString(before) && !hasCode(in.said) {
			in.said += " " + line // the reply to the address above names another one
		}
		in.settle()
		address := strings.Trim(m[1], "'.")
		if local, _, _ := strings.Cut(address, "@"); !daemonName.MatchString(local) && len(in.list) < maxRecipients {
			in.list = append(in.list, RecipientReport{Address: address})
		}
	}
	if len(in.said)+len(line) < maxLine {
		in.said += " " + line
	}
}

// hasCode reports whether a text contains an enhanced code of a rejection or a lone reply code.
func hasCode(text string) bool {
	code, enhanced := findCodes(text)
	if enhanced != "" {
		return enhanced[0] != '2'
	}
	return code/100 > 3 && loneCode.MatchString(withoutNumbers(text))
}
