// Package mailgun serves the part of Mailgun's API that sends email, for Mailgun's official libraries.
package mailgun

import (
	"net/http"

	"github.com/postrider/postrider/rest/compat"
)

// Prefix is the path of the base URL.
const Prefix = "/mailgun"

const messageLimit = 26 << 20 // bytes: the limit of Mailgun is 25 MB

// API describes the provider.
func API() compat.Provider {
	const others = "Calls of Mailgun other than {domain}/messages are"
	return compat.Provider{Prefix: Prefix, Key: password, Fail: newFailure, Routes: []compat.Route{
		{Method: http.MethodPost, Path: "/v3/{domain}/messages", Limit: messageLimit, Handle: sendMessage},
		{Path: "/v3/{domain}/messages.mime", Handle: compat.Refuse("Messages in MIME form are")},
		{Path: "/v3/{...}", Handle: compat.Refuse(others)},
		{Path: "/{...}", Handle: compat.Refuse(others)},
	}}
}

// password returns the key of a request, which Mailgun's clients send as the password of the user "api".
func password(r *http.Request) string {
	user, key, _ := r.BasicAuth()
	if user != "api" {
		return ""
	}
	return key
}

func newFailure(r *compat.RefusalError) any { return map[string]string{"message": r.Message} }
