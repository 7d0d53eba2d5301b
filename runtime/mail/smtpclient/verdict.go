package smtpclient

import (
	"errors"
	"fmt"
	"strings"

	mox "github.com/mjl-/mox/smtpclient"
)

// plainError removes the words transient and permanent from an error of mox's client, which adds them to
// every error: the Kind says whether retrying helps.
func plainError(err error) error {
	var smtpErr mox.Error
	if !errors.As(err, &smtpErr) {
		return err
	}
	text := err.Error()
	for _, word := range []string{", transient", ", permanent"} {
		text = strings.ReplaceAll(strings.ReplaceAll(text, word+": ", ": "), word, "")
	}
	return rewordedError{text, err}
}

// rewordedError is an error with another text.
type rewordedError struct {
	text string
	error
}

func (e rewordedError) Error() string { return e.text }
func (e rewordedError) Unwrap() error { return e.error }

func (o Outcome) withReply(r reply) Outcome {
	o.Code, o.EnhancedCode, o.Reply = r.code, r.enhanced, r.text
	return o
}

// interpretRefusal interprets a reply that is not the expected one (RFC 5321, 4.2.1).
func interpretRefusal(phase Phase, r reply) Outcome {
	out := Outcome{Kind: Temporary, Phase: phase, Err: fmt.Errorf("the server replied %s", r.text)}
	switch {
	case r.code/100 != 5 || phase == PhaseReset:
		// 4xx, an unknown reply, or one that is not about this message: retry.
	case tooLarge(phase, r):
		out.Kind, out.Reason = Failed, ReasonMessageTooLarge
	case r.enhanced == "5.6.7": // RFC 6531, 3.5: the address is not ASCII
		out.Kind, out.Reason = Failed, ReasonSMTPUTF8Required
	default:
		out.Kind = Permanent
	}
	return out.withReply(r)
}

// tooLarge reports whether a 552 is about the message (RFC 1870, 6.1). At RCPT, and with another enhanced
// code anywhere, 552 is about the mailbox.
func tooLarge(phase Phase, r reply) bool {
	if r.enhanced != "" {
		return r.enhanced == "5.3.4"
	}
	return r.code == 552 && phase != PhaseRcpt
}
