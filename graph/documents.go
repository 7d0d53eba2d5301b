package graph

import (
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Documents are the queries that the pages of this installation make: texts by their SHA-256 in
// hexadecimal. A request names one as `documentId: "sha256:…"`. They were written by us and are known
// before the service starts, so that a stolen session asks nothing that a page does not ask.
type Documents map[string]string

const documentPrefix = "sha256:"

// text is what a document's id stands for.
func (d Documents) text(documentID string) (string, *gqlerror.Error) {
	if text := d[strings.TrimPrefix(documentID, documentPrefix)]; text != "" && strings.HasPrefix(documentID, documentPrefix) {
		return text, nil
	}
	return "", coded(codeUnknownDocument, "No document has the id that `documentId` names; reload the page, which may be older than the service")
}

// untrusted refuses a person's request that brings a query of its own.
func untrusted() *gqlerror.Error {
	return coded(codeUntrusted, "A person who is signed in runs the queries of the dashboard only, by `documentId`; use an API key for others")
}

func coded(code, message string) *gqlerror.Error {
	return &gqlerror.Error{Message: message, Extensions: map[string]any{"code": code}}
}
