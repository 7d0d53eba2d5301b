package sms

import (
	"context"

	"github.com/postrider/postrider/modules/sms/textmsg"
)

// Preview is a message in the form that Send would store.
type Preview struct {
	To, From, Text string
	Encoding       textmsg.Encoding
	Segments       int
}

// Preview validates a message like Send, and stores nothing. It neither counts against caps nor checks
// opt-outs. The error is a fault.Error that explains why the message cannot be sent.
func (s *Service) Preview(ctx context.Context, accountID string, m Message) (Preview, error) {
	if len(m.Text) > maxText {
		return Preview{}, tooLong()
	}
	a, err := validateMessage(m)
	if err != nil {
		return Preview{}, err
	}
	if _, err := s.wayOf(ctx, s.db.SQL, accountID, a.number); err != nil {
		return Preview{}, err
	}
	return Preview{To: a.number.E164, From: m.From, Text: m.Text, Encoding: a.encoding, Segments: a.segments}, nil
}
