package smtpserver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/emersion/go-smtp"
)

// Reply is an SMTP reply. It is an error, so that sessions can return it. All replies except those of
// Accept are rejections.
type Reply struct {
	Code     int               // 550
	Enhanced smtp.EnhancedCode // 5.1.1
	Text     string            // one line
	Reason   string            // for the metric of rejections; default: the enhanced code
}

func (r *Reply) Error() string {
	return fmt.Sprintf("%d %s %s", r.Code, r.enhancedCode(), r.Text)
}

func (r *Reply) enhancedCode() string {
	return fmt.Sprintf("%d.%d.%d", r.Enhanced[0], r.Enhanced[1], r.Enhanced[2])
}

func (r *Reply) refusalReason() string {
	if r.Reason != "" {
		return r.Reason
	}
	return r.enhancedCode()
}

// Refuse returns a permanent or temporary rejection; enhanced is, for example, "5.1.1".
func Refuse(code int, enhanced, text string) *Reply {
	r := &Reply{Code: code, Text: text}
	if _, err := fmt.Sscanf(enhanced, "%d.%d.%d", &r.Enhanced[0], &r.Enhanced[1], &r.Enhanced[2]); err != nil {
		panic(fmt.Sprintf("smtpserver: %q is not an enhanced status code", enhanced))
	}
	return r
}

// Accept returns the reply of Data for a stored message: `250 2.0.0` and the text.
func Accept(text string) *Reply {
	return &Reply{Code: 250, Enhanced: smtp.EnhancedCode{2, 0, 0}, Text: text}
}

func asAcceptance(err error) (r *Reply, ok bool) {
	ok = errors.As(err, &r) && r.Code == 250
	return r, ok
}

// The replies of this package.
var (
	replyLater       = Refuse(451, "4.3.0", "Try again later")
	replyNested      = Refuse(503, "5.5.1", "A transaction is already in progress")
	replyNoTransfer  = Refuse(503, "5.5.1", "No transaction is in progress")
	replyGreet       = Refuse(503, "5.5.1", "Send EHLO first")
	replySender      = Refuse(501, "5.1.7", "The sender's address is not valid")
	replyRecipient   = Refuse(501, "5.1.3", "The recipient's address is not valid")
	replyUTF8        = Refuse(553, "5.6.7", "The address requires SMTPUTF8")
	replyTooLarge    = Refuse(552, "5.3.4", "The message is too large")
	replyBareNewline = Refuse(554, "5.5.2", "Bare CR or LF; lines must end with CRLF")
	replyIncomplete  = Refuse(451, "4.4.2", "The message is incomplete")
	replyShutdown    = Refuse(421, "4.3.2", "Shutting down, try again later")
	replyTooMany     = Refuse(421, "4.7.0", "Too many connections")
	replyEarly       = Refuse(554, "5.5.1", "Data received before the greeting")
	replyErrors      = Refuse(421, "4.7.0", "Too many errors")
	replyChatter     = Refuse(421, "4.7.0", "Too many commands without a message")
	replyPlainTLS    = Refuse(554, "5.5.1", "Commands after STARTTLS")
	replyTLSSyntax   = Refuse(501, "5.5.4", "STARTTLS takes no parameters")
	replyTLSAlready  = Refuse(503, "5.5.1", "TLS is already active")
	replyNeedsTLS    = Refuse(538, "5.7.11", "AUTH requires TLS")
	replyIdle        = Refuse(421, "4.4.2", "Idle for too long")
	replyStalled     = Refuse(451, "4.4.2", "The message took too long")
	replyHandshake   = Refuse(454, "4.7.0", "The TLS handshake failed")
	replyNoProxy     = Refuse(421, "4.3.0", "The PROXY header is missing or invalid")
	replyTooManyFrom = Refuse(421, "4.7.0", "Too many connections from your address")
	replyDisplaced   = Refuse(421, "4.7.0", "Too many connections, and this one was idle; try again later")
	replySlow        = Refuse(451, "4.4.2", "The message arrives too slowly")
	replyLine        = Refuse(500, "5.5.2", "The line is too long")
)

func init() {
	for reply, reason := range map[*Reply]string{replyLater: "unavailable", replyTooLarge: "too_large",
		replyBareNewline: "bare_newline",
		replyIncomplete:  "incomplete", replyShutdown: "shutdown", replyTooMany: "connections",
		replyEarly: "early_talker", replyErrors: "errors",
		replyChatter: "chatter", replyPlainTLS: "starttls", replyIdle: "idle",
		replyStalled: "stalled", replyHandshake: "handshake", replyNoProxy: "proxy",
		replyTooManyFrom: "address_connections",
		replyDisplaced:   "displaced", replySlow: "slow", replyLine: "long_line"} {
		reply.Reason = reason
	}
}

// wireError converts a reply for go-smtp, which requires its own type, unwrapped, with a single line: it
// would put the enhanced code on the last line.
func wireError(r *Reply) error {
	return &smtp.SMTPError{Code: r.Code, EnhancedCode: r.Enhanced, Message: oneLine(r.Text)}
}

// asReply returns the reply for an error of a session.
func asReply(err error) (r *Reply, known bool) {
	if errors.As(err, &r) {
		return r, true
	}
	return replyLater, false
}

const maxText = 400 // a reply line has at most 512 bytes (RFC 5321, 4.5.3.1.5)

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}
