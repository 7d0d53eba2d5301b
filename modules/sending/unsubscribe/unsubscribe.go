package unsubscribe

import (
	"html"
	"regexp"
	"strings"

	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Field and FieldPost are the header fields with which a mail program offers to
// unsubscribe: RFC 2369 section 3.2, and RFC 8058 section 3.1, which wants both under the
// signature. OneClick is the value of FieldPost.
const (
	Field     = "List-Unsubscribe"
	FieldPost = "List-Unsubscribe-Post"

	OneClick = "List-Unsubscribe=One-Click"
)

// token is what stands for the link in subject and bodies. Some HTML editors write the
// braces of an href percent-encoded.
var (
	token     = regexp.MustCompile(`\{\{\s*unsubscribe_url\s*\}\}`)
	tokenHTML = regexp.MustCompile(`(?:\{\{|%7[Bb]%7[Bb])(?:\s|%20|&nbsp;)*unsubscribe_url(?:\s|%20|&nbsp;)*(?:\}\}|%7[Dd]%7[Dd])`)
)

// InSubjectOrText tells whether the author of a subject or a text left a place for the link.
func InSubjectOrText(text string) bool { return has(token, text) }

// InMarkup tells the same of HTML.
func InMarkup(text string) bool { return has(tokenHTML, text) }

// has looks for the word first, which is cheap and which hardly a text has.
func has(token *regexp.Regexp, text string) bool {
	return strings.Contains(text, "unsubscribe_url") && token.MatchString(text)
}

// MaxPlaces is how many places for the link a text may have. Every place becomes a link ten
// times as long, so without a bound a message grows tenfold as it is composed.
const MaxPlaces = 100

// PlacesInText counts the places for the link in a text, up to one more than MaxPlaces.
func PlacesInText(text string) int { return places(token, text) }

// PlacesInMarkup counts those in HTML.
func PlacesInMarkup(text string) int { return places(tokenHTML, text) }

func places(token *regexp.Regexp, text string) int {
	if !strings.Contains(text, "unsubscribe_url") {
		return 0
	}
	return len(token.FindAllStringIndex(text, MaxPlaces+1))
}

// Links makes links to unsubscribe with.
type Links interface {
	Link(u suppression.Unsubscribe) string
}

// Link gives the link of an email. It is bound to the first recipient, because the message
// is the same for all.
func Link(links Links, accountID, emailID string, first address.Address, category string) string {
	return links.Link(suppression.Unsubscribe{AccountID: accountID, EmailID: emailID, Email: first.AddrSpec(), Category: category})
}

// InText puts the link into a subject or a text, where its author wrote {{unsubscribe_url}}.
func InText(text, link string) string { return replaced(token, text, link) }

// InHTML puts the link into HTML likewise.
func InHTML(text, link string) string { return replaced(tokenHTML, text, html.EscapeString(link)) }

func replaced(token *regexp.Regexp, text, link string) string {
	if !strings.Contains(text, "unsubscribe_url") {
		return text
	}
	return token.ReplaceAllLiteralString(text, link)
}
