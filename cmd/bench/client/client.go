// Package client sends requests to the measured server: emails over HTTP and SMTP, list pages and statistics queries.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Server is the file that `postrider dev --ready-file` writes.
type Server struct {
	DatabaseURL    string `json:"database_url"`
	APIURL         string `json:"api_url"`
	GraphQLURL     string `json:"graphql_url"`
	APIKey         string `json:"api_key"`
	VerifiedDomain string `json:"verified_domain"`
	InboundAddr    string `json:"inbound_addr"`
	Relay          *struct {
		TLSAddr  string `json:"tls_addr"`
		Username string `json:"username"`
		Password string `json:"password"`
	} `json:"relay"`
}

// Post sends a JSON body to a path of the API and returns the body of the response. A status other than 200 is an
// error.
func (s Server) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return s.do(ctx, http.MethodPost, s.APIURL+path, body)
}

func (s Server) do(ctx context.Context, method, url string, body []byte) (answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s returned %d: %.500s", method, url, res.StatusCode, answer)
	}
	return answer, nil
}

// query runs a GraphQL query and returns the body of the response.
func (s Server) query(ctx context.Context, query string) ([]byte, error) {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return nil, err
	}
	return s.do(ctx, http.MethodPost, s.GraphQLURL, body)
}

// decodeData decodes the data of a GraphQL response. A GraphQL error is an error.
func decodeData(answer []byte, data any) error {
	response := struct {
		Data   any             `json:"data"`
		Errors json.RawMessage `json:"errors"`
	}{Data: data}
	if err := json.Unmarshal(answer, &response); err != nil {
		return err
	}
	if response.Errors != nil {
		return fmt.Errorf("GraphQL errors: %.500s", response.Errors)
	}
	return nil
}

const (
	sampleSubject = "Your receipt"
	sampleText    = "Your receipt: one line of what was bought."
	sampleLine    = "<p>One line of what was bought, with its price.</p>"
)

func sampleHTML(newline string) string {
	return "<html><body><h1>Your receipt</h1>" + newline + strings.Repeat(sampleLine+newline, 40) + "</body></html>"
}

// SampleEmail returns the request body of a typical transactional email with about 2 KB of HTML.
func (s Server) SampleEmail(to string) []byte {
	body, err := json.Marshal(map[string]any{
		"from": "Bench <bench@" + s.VerifiedDomain + ">", "to": to, "subject": sampleSubject,
		"html": sampleHTML(""), "text": sampleText, "tags": map[string]string{"kind": "receipt"},
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return body
}

// sampleMIME returns the same email as an SMTP message.
func (s Server) sampleMIME() []byte {
	return []byte("From: Bench <bench@" + s.VerifiedDomain + ">\r\nTo: someone@example.net\r\nSubject: " +
		sampleSubject +
		"\r\nX-Postrider-Tag: kind=receipt\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=bench\r\n\r\n" +
		"--bench\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + sampleText + "\r\n" +
		"--bench\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + sampleHTML("\r\n") + "\r\n--bench--\r\n.\r\n")
}
