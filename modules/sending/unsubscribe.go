package sending

import (
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// maxHeaderLine is in characters (RFC 5322 section 2.1.1).
const maxHeaderLine = 998

// checkLink rejects, at acceptance, a message that could not be composed. Address and category are part of the
// unsubscribe link, which must fit into one line. The error is Invalid and names category or subject.
func (s *Service) checkLink(a *acceptance, msg parsedMessage) error {
	link := unsubscribe.Link(s.suppression, a.email.accountID, a.email.id, msg.envelopeRecipients()[0],
		a.email.category)
	wrong := fault.Fields{}
	if len(unsubscribe.Field)+len(": <>")+len(link) > maxHeaderLine {
		wrong.Add("category", "makes the unsubscribe link too long")
	}
	if err := address.ValidateSubject(unsubscribe.InText(a.email.subject, link)); err != nil {
		wrong.Add("subject", "%s after the unsubscribe link is inserted", err)
	}
	return wrong.Err()
}
