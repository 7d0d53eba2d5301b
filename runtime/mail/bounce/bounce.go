// Package bounce classifies a rejection: is it about the address, the mailbox, the receiving system, the
// message, or the sender?
//
// Classify is pure. It takes an SMTP reply or a line of a delivery status notification and returns a Class.
// The class is the reason, and does not say whether the rejection is permanent: the same full mailbox
// replies 452 today and 552 tomorrow. Whether to retry follows from the first digit of the reply (RFC 5321,
// 4.2.1); the class decides what happens afterwards.
//
// Three tables decide, in this order:
//
//  1. phrases that are typical of one kind of server (phrases.go), where they say more
//     than the code next to them or contradict it: Gmail's throttling uses the code
//     of a disabled mailbox, greylisting that of policy;
//  2. subject and detail of the enhanced status code (RFC 3463 and its registry,
//     codes.go). Vague details (X.0.0, X.7.1) give precedence to the common words;
//  3. common words (words.go), then the basic code alone (RFC 5321, 4.2.3).
//
// The phase of the transaction limits what a rejection can be about. Before RCPT, the server does not know the
// recipient. After DATA, it has accepted the recipient and rejects the message, unless it says otherwise. Judge
// turns the class and the phase into the decision whether the recipient bounces.
//
// The text may begin with its codes.
package bounce

import (
	"regexp"
	"strings"
)

// Class is the subject of a rejection.
type Class string

// The classes.
const (
	BadAddress  Class = "bad_address"  // hard: no such mailbox, closed, moved, or an invalid address
	BadDomain   Class = "bad_domain"   // hard: the domain accepts no mail
	MailboxFull Class = "mailbox_full" // soft: over quota
	System      Class = "system"       // soft: the receiving system, or the route to it, does not work
	Block       Class = "block"        // the sending address or domain has a bad reputation with the receiver
	Throttle    Class = "throttle"     // too many messages or connections in a short time
	Greylist    Class = "greylist"     // retry in a few minutes
	Size        Class = "size"         // the message is too large
	// Content: the message is considered spam, contains a virus or a forbidden file, or cannot be converted.
	Content   Class = "content"
	Policy    Class = "policy"    // authentication (SPF, DKIM, DMARC), relaying, TLS, the receiver's own rules
	Challenge Class = "challenge" // the receiver asks the sender for a confirmation
	Unknown   Class = "unknown"   // rejected for an unknown reason
)

// Classes lists all classes.
var Classes = []Class{BadAddress, BadDomain, MailboxFull, System, Block, Throttle, Greylist, Size, Content, Policy,
	Challenge, Unknown}

// IsHard reports whether no message to the address can be delivered.
func (c Class) IsHard() bool { return c == BadAddress || c == BadDomain }

// IsSoft reports whether the address seems valid but accepts no mail now.
func (c Class) IsSoft() bool { return c == MailboxFull || c == System }

// Bounces reports whether a permanent failure with this class is a bounce of its recipient, who then
// receives no more mail. That includes a mailbox that was full during all retries. A rejection of the message
// or of its sender is not a bounce: another message may well be delivered. For Unknown the class does not
// decide; see Judge.
func (c Class) Bounces() bool { return c.IsHard() || c.IsSoft() }

// Throttles reports whether the sender should slow down everything for this destination. Insisting with a
// receiver that blocks makes its opinion worse.
func (c Class) Throttles() bool { return c == Throttle || c == Block }

// Reply is a rejection; any part may be missing.
type Reply struct {
	Code     int    // for example 550; 0 if there was none
	Enhanced string // "5.1.1", or empty
	Text     string // the reply's or the diagnostic's text
	Phase    Phase  // of the transaction
	Derived  bool   // another system added Enhanced: the text says more than the code
}

// isPermanent reports whether the rejecting server asked not to retry.
func (r Reply) isPermanent() bool {
	return r.Code/100 == 5 || r.Code == 0 && strings.HasPrefix(r.Enhanced, "5.")
}

// Verdict is the consequence of a rejection for its recipient.
type Verdict struct {
	Class   Class
	Bounces bool // the recipient bounces, otherwise the message failed
}

// Judge decides whether a final rejection bounces the recipient. A permanent rejection without a known reason does so
// only if it can be about the recipient: at RCPT, or in a report that does not name the phase. The exceptions are reply
// code 554, which RFC 5321 (4.3.2) uses for connections and messages, and texts that only say that something was
// rejected.
func Judge(r Reply) Verdict {
	class := Classify(r)
	return Verdict{class, class.Bounces() || class == Unknown && (r.mayConcernRecipient() || !r.isPermanent())}
}

// Classify returns the class of a reply. Replies that are not rejections (2yz, 3yz) are Unknown.
func Classify(r Reply) Class {
	class, _ := decideClass(r)
	return class
}

// maxText is how much of a text is examined; a reply line has at most 512 bytes.
const maxText = 4000

// decideClass also returns the row that decided, for the tests: every row has an example.
func decideClass(r Reply) (class Class, row string) {
	if r.Code/100 == 2 || r.Code/100 == 3 || r.Code == 0 && strings.HasPrefix(r.Enhanced, "2.") {
		return Unknown, "no refusal"
	}
	class, row, vague := r.matchTables()
	return r.fitPhase(class, vague), row
}

// matchTables returns the first row that matches, and whether it is a vague one.
func (r Reply) matchTables() (class Class, row string, vague bool) {
	text := normalizeText(r.Text)
	subject, detail, known := splitEnhanced(r.Enhanced)
	for _, p := range phrases {
		if (p.code == "" || p.code == subject+"."+detail) && strings.Contains(text, p.text) {
			return p.class, p.text, false
		}
	}
	var code enhanced
	if known {
		code, known = enhancedRow(subject, detail)
	}
	if known && !code.vague && !r.Derived {
		return code.class, code.code, false
	}
	for _, w := range words {
		if w.mayFollow(subject, r.Phase) && strings.Contains(text, w.text) {
			return w.class, w.text, w.class == System
		}
	}
	// X.0.z and X.3.0 say less than the reply code
	if known && (r.Code == 0 || subject != "0" && subject+detail != "30") {
		return code.class, code.code, true
	}
	class, row = byCode(r)
	return class, row, class != BadDomain // 521 and 556 exist for this purpose only
}

// addresses matches addresses in angle brackets, which may contain words of the tables: spam@,
// content.example.net.
var addresses = regexp.MustCompile(`<[^<> ]*@[^<> ]*>`)

// normalizeText converts a text to the form of the tables: lower case, one space between words and at both ends.
func normalizeText(text string) string {
	text = strings.ToLower(text[:min(len(text), maxText)])
	if host, reply, found := strings.Cut(text, " said: "); found &&
		strings.HasPrefix(strings.TrimSpace(host), "host ") {
		text = reply
	}
	text = addresses.ReplaceAllString(strings.ReplaceAll(text, "’", "'"), "<>")
	return " " + strings.Join(strings.Fields(text), " ") + " "
}

// splitEnhanced returns the subject and the detail of a code: the class before them only says whether
// retrying may help.
func splitEnhanced(code string) (subject, detail string, ok bool) {
	parts := strings.Split(strings.TrimSpace(code), ".")
	if len(parts) != 3 {
		return "", "", false
	}
	for _, part := range parts {
		if len(part) == 0 || len(part) > 3 || strings.Trim(part, "0123456789") != "" {
			return "", "", false
		}
	}
	trim := func(number string) string {
		if number = strings.TrimLeft(number, "0"); number == "" {
			return "0"
		}
		return number
	}
	return trim(parts[1]), trim(parts[2]), true
}
