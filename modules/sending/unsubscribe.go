package sending

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

// The header fields with which a mail program offers to unsubscribe: RFC 2369
// section 3.2, and RFC 8058 section 3.1, which wants both under the signature.
const (
	listUnsubscribe     = "List-Unsubscribe"
	listUnsubscribePost = "List-Unsubscribe-Post"

	oneClick = "List-Unsubscribe=One-Click"
)

// linkToken is what stands for the link in subject and bodies. Some HTML editors
// write the braces of an href percent-encoded.
var (
	linkToken     = regexp.MustCompile(`\{\{\s*unsubscribe_url\s*\}\}`)
	linkTokenHTML = regexp.MustCompile(`(?:\{\{|%7[Bb]%7[Bb])(?:\s|%20|&nbsp;)*unsubscribe_url(?:\s|%20|&nbsp;)*(?:\}\}|%7[Dd]%7[Dd])`)
)

// maxHeaderLine is in characters, RFC 5322 section 2.1.1.
const maxHeaderLine = 998

// checkLink refuses at accept what could not be composed: address and category
// are part of the link, and the link stands in one line.
func (s *Service) checkLink(a *acceptance, msg parsed) error {
	link := s.unsubscribeLink(a.email.accountID, a.email.id, msg.envelope()[0], a.email.category)
	wrong := fault.Fields{}
	if len(listUnsubscribe)+len(": <>")+len(link) > maxHeaderLine {
		wrong.Add("category", "makes the unsubscribe link too long")
	}
	if err := address.ValidateSubject(withLink(linkToken, a.email.subject, link)); err != nil {
		wrong.Add("subject", "%s once the unsubscribe link is in it", err)
	}
	return wrong.Err()
}

func (s *Service) unsubscribeLink(accountID, emailID string, first address.Address, category string) string {
	return s.suppression.Link(suppression.Unsubscribe{AccountID: accountID, EmailID: emailID, Email: first.AddrSpec(), Category: category})
}

// linkOf is bound to the first recipient: the message is the same for all.
func (s *Service) linkOf(o *outgoing) (string, error) {
	to, err := address.Parse(o.first)
	if err != nil {
		return "", fmt.Errorf("first recipient: %w", err)
	}
	return s.unsubscribeLink(o.accountID, o.id, to, o.category), nil
}

// unsubscribable adds the header fields and puts the link in.
func unsubscribable(link string, msg *mime.Message) {
	msg.Headers = append(msg.Headers,
		mime.Header{Name: listUnsubscribe, Value: "<" + link + ">"}, mime.Header{Name: listUnsubscribePost, Value: oneClick})
	msg.Subject = withLink(linkToken, msg.Subject, link)
	msg.Text = withLink(linkToken, msg.Text, link)
	msg.HTML = withLink(linkTokenHTML, msg.HTML, html.EscapeString(link))
}

func withLink(token *regexp.Regexp, text, link string) string {
	if !strings.Contains(text, "unsubscribe_url") {
		return text
	}
	return token.ReplaceAllLiteralString(text, link)
}
