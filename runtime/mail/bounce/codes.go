package bounce

import "strconv"

// enhanced is a row for enhanced status codes. Servers use vague ones for many purposes, so words take
// precedence over them.
type enhanced struct {
	code  string // "1.1", or "1.*" for every detail without a row
	class Class
	vague bool
	name  string // as registered, or its source
}

// The IANA registry "SMTP Enhanced Status Codes", subjects 0 to 7, started by RFC 3463 and opened by RFC
// 5248 (www.iana.org/assignments/smtp-enhanced-status-codes), and details added by large receivers.
var enhancedCodes = []enhanced{
	{"0.*", System, true, "other undefined status"},

	{"1.0", BadAddress, true, "other address status"},
	{"1.1", BadAddress, false, "bad destination mailbox address"},
	{"1.2", BadDomain, false, "bad destination system address"},
	{"1.3", BadAddress, false, "bad destination mailbox address syntax"},
	{"1.4", BadAddress, false, "destination mailbox address ambiguous"},
	{"1.5", System, true, "destination address valid"},
	{"1.6", BadAddress, false, "destination mailbox has moved, no forwarding address"},
	{"1.7", Policy, false, "bad sender's mailbox address syntax"},
	{"1.8", Policy, false, "bad sender's system address"},
	{"1.9", System, true, "message relayed to non-compliant mailer (RFC 5248)"},
	{"1.10", BadDomain, false, "recipient address has null MX (RFC 7505)"},
	{"1.*", BadAddress, true, "addressing"},

	{"2.0", BadAddress, true, "other or undefined mailbox status"},
	{"2.1", BadAddress, false, "mailbox disabled, not accepting messages"},
	{"2.2", MailboxFull, false, "mailbox full"},
	{"2.3", Size, false, "message length exceeds administrative limit"},
	{"2.4", System, true, "mailing list expansion problem"},
	{"2.*", BadAddress, true, "mailbox"},

	{"3.0", System, true, "other or undefined mail system status"},
	{"3.1", System, true, "mail system full"},
	{"3.2", System, true, "system not accepting network messages"},
	{"3.3", System, true, "system not capable of selected features"},
	{"3.4", Size, false, "message too big for system"},
	{"3.5", System, true, "system incorrectly configured"},
	{"3.6", Unknown, true, "requested priority was changed (RFC 6710)"},
	{"3.*", System, true, "mail system"},

	{"4.0", System, true, "other or undefined network or routing status"},
	{"4.1", System, true, "no answer from host"},
	{"4.2", System, true, "bad connection"},
	{"4.3", System, false, "directory server failure"},
	{"4.4", BadDomain, true, "unable to route"},
	{"4.5", System, true, "mail system congestion"},
	{"4.6", System, true, "routing loop detected"},
	{"4.7", System, true, "delivery time expired"},
	{"4.14", System, false, "hop count exceeded (Microsoft)"},
	{"4.310", BadDomain, false, "DNS domain does not exist (Microsoft)"},
	{"4.*", System, true, "network and routing"},

	// A protocol mismatch says nothing about the address.
	{"5.0", Unknown, true, "other or undefined protocol status"},
	{"5.1", Unknown, true, "invalid command"},
	{"5.2", Unknown, true, "syntax error"},
	{"5.3", Throttle, false, "too many recipients"},
	{"5.4", Unknown, true, "invalid command arguments"},
	{"5.5", Unknown, true, "wrong protocol version"},
	{"5.6", Policy, true, "authentication exchange line is too long (RFC 4954)"},
	{"5.*", Unknown, true, "protocol"},

	{"6.0", Content, true, "other or undefined media error"},
	{"6.1", Content, false, "media not supported"},
	{"6.2", Content, false, "conversion required and prohibited"},
	{"6.3", Content, false, "conversion required but not supported"},
	{"6.4", Content, false, "conversion with loss performed"},
	{"6.5", Content, false, "conversion failed"},
	{"6.6", Content, false, "message content not available (RFC 4468)"},
	{"6.7", Content, false, "non-ASCII addresses not permitted for that sender or recipient (RFC 6531)"},
	{"6.8", Content, false, "UTF-8 string reply is required, but not permitted by the client (RFC 6531)"},
	{"6.9", Content, false, "UTF-8 header message cannot be transferred (RFC 6531)"},
	{"6.10", Content, false, "as 6.8, deprecated (RFC 6531)"},
	{"6.*", Content, true, "message content or media"},

	{"7.0", Policy, true, "other or undefined security status"},
	{"7.1", Policy, true, "delivery not authorized, message refused"},
	{"7.2", Policy, false, "mailing list expansion prohibited"},
	{"7.3", Policy, false, "security conversion required but not possible"},
	{"7.4", Policy, false, "security features not supported"},
	{"7.5", Policy, false, "cryptographic failure"},
	{"7.6", Policy, false, "cryptographic algorithm not supported"},
	{"7.7", Policy, false, "message integrity failure"},
	{"7.8", Policy, false, "authentication credentials invalid (RFC 4954)"},
	{"7.9", Policy, false, "authentication mechanism is too weak (RFC 4954)"},
	{"7.10", Policy, false, "encryption needed (RFC 5248)"},
	{"7.11", Policy, false, "encryption required for requested authentication mechanism (RFC 4954)"},
	{"7.12", Policy, false, "a password transition is needed (RFC 4954)"},
	{"7.13", Policy, false, "user account disabled: the one that logged in (RFC 5248)"},
	{"7.14", Policy, false, "trust relationship required (RFC 5248)"},
	{"7.15", Policy, false, "priority level is too low (RFC 6710)"},
	{"7.16", Size, false, "message is too big for the specified priority (RFC 6710)"},
	{"7.17", Policy, false, "mailbox owner has changed (RFC 7293)"},
	{"7.18", Policy, false, "domain owner has changed (RFC 7293)"},
	{"7.19", Policy, false, "RRVS test cannot be completed (RFC 7293)"},
	{"7.20", Policy, false, "no passing DKIM signature found (RFC 7372)"},
	{"7.21", Policy, false, "no acceptable DKIM signature found (RFC 7372)"},
	{"7.22", Policy, false, "no valid author-matched DKIM signature found (RFC 7372)"},
	{"7.23", Policy, false, "SPF validation failed (RFC 7372)"},
	{"7.24", Policy, false, "SPF validation error (RFC 7372)"},
	{"7.25", Policy, false, "reverse DNS validation failed (RFC 7372)"},
	{"7.26", Policy, false, "multiple authentication checks failed (RFC 7372)"},
	{"7.27", Policy, false, "sender address has null MX (RFC 7505)"},
	{"7.28", Throttle, false, "mail flood detected"},
	{"7.29", Policy, false, "ARC validation failure (RFC 8617)"},
	{"7.30", Policy, false, "REQUIRETLS support required (RFC 8689)"},
	{"7.509", Policy, false, "DMARC verification failed (Microsoft)"},
	{"7.511", Block, false, "access denied, banned sender (Microsoft)"},
	{"7.606", Block, false, "access denied, banned sending IP, 5.7.606 to 5.7.649 (Microsoft)"},
	{"7.703", Block, false, "messages from this tenant are blocked (Microsoft)"},
	{"7.708", Block, false, "access denied, traffic not accepted from this IP (Microsoft)"},
	{"7.*", Policy, true, "security or policy"},
}

// byDetail indexes the table for lookups.
var byDetail = func() map[string]enhanced {
	rows := map[string]enhanced{}
	for _, row := range enhancedCodes {
		rows[row.code] = row
	}
	return rows
}()

func enhancedRow(subject, detail string) (enhanced, bool) {
	if number, err := strconv.Atoi(detail); err == nil && subject == "7" && number >= 606 && number <= 649 {
		detail = "606"
	}
	if row, found := byDetail[subject+"."+detail]; found {
		return row, true
	}
	row, found := byDetail[subject+".*"]
	return row, found
}

// basic is a row for basic codes, for replies without an enhanced code and without a more specific word.
type basic struct {
	code  int // three digits, or the first alone for all others
	class Class
	name  string
}

// RFC 5321, 4.2.3 and 4.3.2, unless another source is named.
var basicCodes = []basic{
	{421, System, "service not available, closing transmission channel"},
	{450, System, "mailbox unavailable: busy or blocked for policy reasons"},
	{451, System, "local error in processing"},
	{452, System, "insufficient system storage"},
	{454, System, "TLS not available (RFC 3207), temporary authentication failure (RFC 4954)"},
	{455, System, "server unable to accommodate parameters"},
	{4, System, "temporary"},

	{500, Unknown, "syntax error, command unrecognised"},
	{501, Unknown, "syntax error in parameters"},
	{502, Unknown, "command not implemented"},
	{503, Unknown, "bad sequence of commands"},
	{504, Unknown, "command parameter not implemented"},
	{521, BadDomain, "host does not accept mail (RFC 7504)"},
	{523, Size, "message exceeds a limit, of some gateways"},
	{530, Policy, "authentication required (RFC 4954), STARTTLS required (RFC 3207)"},
	{534, Policy, "authentication mechanism is too weak (RFC 4954)"},
	{535, Policy, "authentication credentials invalid (RFC 4954)"},
	{538, Policy, "encryption required for authentication (RFC 4954)"},
	{541, Content, "refused as spam, of some gateways"},
	{550, Unknown, "mailbox unavailable: not found, no access, or rejected for policy reasons"},
	{551, BadAddress, "user not local"},
	{552, Unknown, "exceeded storage allocation: the mailbox's or the message's"},
	{553, Unknown, "mailbox name not allowed: the recipient's or the sender's"},
	{554, Unknown, "transaction failed: what servers say for want of a better code"},
	{555, Unknown, "MAIL FROM or RCPT TO parameters not recognised"},
	{556, BadDomain, "domain does not accept mail (RFC 7504)"},
	{571, Policy, "refused by policy, of some gateways"},
	{5, Unknown, "permanent"},

	// No response during all retries, or a report without a reason.
	{0, System, "no reply"},
}

// byCode classifies the replies that the other tables do not.
func byCode(r Reply) (class Class, row string) {
	for _, wanted := range []int{r.Code, r.Code / 100} {
		for _, b := range basicCodes {
			if b.code == wanted {
				return b.class, strconv.Itoa(b.code)
			}
		}
	}
	return Unknown, ""
}
