// Package postmark serves the part of Postmark's API that sends email and reads messages and bounces, for Postmark's
// official libraries.
package postmark

import (
	"net/http"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Prefix is the path of the base URL.
const Prefix = "/postmark"

const (
	emailLimit = 20 << 20 // bytes: 10 MB of an email, in base64
	batchLimit = 50 << 20
)

// API describes the provider.
func API() compat.Provider {
	return compat.Provider{Prefix: Prefix, Key: serverToken, Fail: newFailure, Routes: []compat.Route{
		{Method: http.MethodPost, Path: "/email", Limit: emailLimit, Handle: sendEmail},
		{Method: http.MethodPost, Path: "/email/batch", Limit: batchLimit, Handle: sendBatch},
		{Method: http.MethodPost, Path: "/email/withTemplate", Limit: emailLimit, Handle: sendEmail},
		{Method: http.MethodPost, Path: "/email/batchWithTemplates", Limit: batchLimit, Handle: sendTemplates},
		{Method: http.MethodGet, Path: "/messages/outbound/{id}/details", Handle: getMessage},
		{Method: http.MethodGet, Path: "/bounces", Handle: listBounces},
		{Method: http.MethodGet, Path: "/bounces/{id}", Handle: getBounce},
		{Method: http.MethodPut, Path: "/bounces/{id}/activate", Handle: activateBounce},
		{Path: "/message-streams/{...}", Handle: compat.Refuse("Message streams are")},
		{Path: "/stats/{...}", Handle: compat.Refuse("Statistics over this API are")},
		{Path: "/{...}", Handle: compat.Refuse("Calls of Postmark other than email, messages/outbound/{id}/details and " +
			"bounces are")},
	}}
}

func serverToken(r *http.Request) string { return r.Header.Get("X-Postmark-Server-Token") }

// The codes of Postmark's errors.
const (
	codeToken    = 10
	codeInvalid  = 300
	codeSender   = 400
	codeInactive = 406
	codeUnknown  = 701
)

type failure struct {
	ErrorCode int    `json:"ErrorCode"`
	Message   string `json:"Message"`
}

// newFailure returns an error in Postmark's format. The status for an invalid request is 422.
func newFailure(r *compat.RefusalError) any {
	code := r.Status
	switch {
	case r.Status == http.StatusUnauthorized:
		code = codeToken
	case r.Code == codeInactiveName:
		code = codeInactive
	case r.Code == fault.CodeValidation:
		code, r.Status = codeInvalid, http.StatusUnprocessableEntity
	case r.Code == fault.CodeDomainNotVerified, r.Code == fault.CodeSandboxRecipient:
		code, r.Status = codeSender, http.StatusUnprocessableEntity
	case r.Status == http.StatusNotFound:
		code = codeUnknown
	}
	return failure{ErrorCode: code, Message: r.Message}
}
