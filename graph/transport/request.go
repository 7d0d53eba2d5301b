package transport

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/trusted"
	"github.com/postrider/postrider/modules/accounts"
)

// rawRequest is a request of "GraphQL over HTTP". Its errors do not repeat input of the client.
type rawRequest struct {
	Query         string         `json:"query"`
	DocumentID    string         `json:"documentId"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
	Extensions    map[string]any `json:"extensions"`
}

// decodeJSON reads a request that is a JSON object.
func decodeJSON(from io.Reader) (*rawRequest, *gqlerror.Error) {
	body := bufio.NewReader(from)
	if first, err := firstOctet(body); err == nil && first == '[' {
		return nil, gqlerror.Errorf("Batches are not supported: send one request at a time")
	}
	var request *rawRequest
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	err := decoder.Decode(&request)
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return nil, gqlerror.Errorf("The member %q of the request has the wrong type", mismatch.Field)
	case err != nil || request == nil || decoder.More():
		return nil, gqlerror.Errorf("The body must be one JSON object with the member query")
	}
	return request, nil
}

// decodeURL reads the request of a GET, whose variables and extensions are JSON objects.
func decodeURL(query url.Values) (*rawRequest, *gqlerror.Error) {
	request := &rawRequest{}
	for _, name := range []string{"query", "documentId", "operationName", "variables", "extensions"} {
		if len(query[name]) > 1 {
			return nil, gqlerror.Errorf("The parameter %q cannot be given more than once", name)
		}
	}
	request.Query, request.DocumentID, request.OperationName = query.Get("query"), query.Get("documentId"),
		query.Get("operationName")
	for _, parameter := range []struct {
		name string
		to   *map[string]any
	}{{"variables", &request.Variables}, {"extensions", &request.Extensions}} {
		text := query.Get(parameter.name)
		if text == "" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(parameter.to); err != nil || decoder.More() {
			return nil, gqlerror.Errorf("The parameter %q must be one JSON object", parameter.name)
		}
	}
	return request, nil
}

// resolveDocument returns the query that a request runs. Signed-in users can run trusted documents only.
func (h *handler) resolveDocument(caller accounts.Caller, request *rawRequest) (*graphql.RawParams, *gqlerror.Error) {
	switch {
	case request.DocumentID != "":
		documents := h.trusted
		if caller.Person != nil {
			documents = h.pruned
		}
		text, unknown := documents.Text(request.DocumentID)
		if unknown != nil && (!h.open || request.Query == "") {
			return nil, unknown
		}
		request.Query = cmp.Or(text, request.Query)
	case request.Query == "":
		return nil, gqlerror.Errorf("The member \"query\" of the request is missing")
	case caller.Person != nil && !h.open:
		return nil, trusted.ErrUntrustedQuery()
	}
	return &graphql.RawParams{Query: request.Query, OperationName: request.OperationName, Variables: request.Variables,
		Extensions: request.Extensions}, nil
}

// firstOctet returns the first byte of the body after white space.
func firstOctet(body *bufio.Reader) (byte, error) {
	for {
		c, err := body.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c, body.UnreadByte()
		}
	}
}
