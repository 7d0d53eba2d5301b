package unsubscribe

import (
	"html"
	"regexp"
	"strings"

	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Field and FieldPost are the header fields by which a mail client offers to unsubscribe (RFC 2369 section 3.2
// and RFC 8058 section 3.1, which requires both to be signed). OneClick is the value of FieldPost.
const (
	Field     = "List-Unsubscribe"
	FieldPost = "List-Unsubscribe-Post"

	OneClick = "List-Unsubscribe=One-Click"
)

// token is the placeholder for the link in subject and bodies. Some HTML editors percent-encode the braces in
// an href.
var (
	token     = regexp.MustCompile(`\{\{\s*unsubscribe_url\s*\}\}`)
	tokenHTML = regexp.MustCompile(`(?:\{\{|%7[Bb]%7[Bb])(?:\s|%20|&nbsp;)*unsubscribe_url(?:\s|%20|&nbsp;)*(?:\}\}|%7[Dd]%7[Dd])`)
)

// InSubjectOrText reports whether a subject or text contains a placeholder for the link.
func InSubjectOrText(text string) bool { return hasToken(token, text) }

// InMarkup reports whether HTML contains one.
func InMarkup(text string) bool { return hasToken(tokenHTML, text) }

// hasToken searches for the word first, which is cheap and which few texts contain.
func hasToken(token *regexp.Regexp, text string) bool {
	return strings.Contains(text, "unsubscribe_url") && token.MatchString(text)
}

// MaxPlaces is the maximum number of placeholders in a text. A link is ten times as long as a placeholder, so
// without a limit a message could grow tenfold.
const MaxPlaces = 100

// PlacesInText counts the placeholders in a text, up to MaxPlaces+1.
func PlacesInText(text string) int { return countTokens(token, text) }

// PlacesInMarkup counts the placeholders in HTML.
func PlacesInMarkup(text string) int { return countTokens(tokenHTML, text) }

func countTokens(token *regexp.Regexp, text string) int {
	if !strings.Contains(text, "unsubscribe_url") {
		return 0
	}
	return len(token.FindAllStringIndex(text, MaxPlaces+1))
}

// Links creates unsubscribe links.
type Links interface {
	Link(u suppression.Unsubscribe) string
}

// Link returns the link of an email. It is bound to the first recipient, because all recipients get the same
// message.
func Link(links Links, accountID, emailID string, first address.Address, category string) string {
	return links.Link(suppression.Unsubscribe{AccountID: accountID, EmailID: emailID, Email: first.AddrSpec(),
		Category: category})
}

// InText replaces the placeholders {{unsubscribe_url}} in a subject or a text with the link.
func InText(text, link string) string { return replaceTokens(token, text, link) }

// InHTML replaces the placeholders in HTML.
func InHTML(text, link string) string { return replaceTokens(tokenHTML, text, html.EscapeString(link)) }

func replaceTokens(token *regexp.Regexp, text, link string) string {
	if !strings.Contains(text, "unsubscribe_url") {
		return text
	}
	return token.ReplaceAllLiteralString(text, link)
}
