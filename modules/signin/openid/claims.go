package openid

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
)

// word is a claim that is true, false, or not given. Some providers write it as a string.
type word string

// UnmarshalJSON takes any value. What is neither true nor "true" and is given is a no.
func (w *word) UnmarshalJSON(b []byte) error {
	switch strings.Trim(string(b), `"`) {
	case "null":
	case "true":
		*w = "yes"
	default:
		*w = "no"
	}
	return nil
}

// claims are what the provider says of a person (OpenID Connect Core 1.0 sections 2 and 5.1).
type claims struct { //nolint:recvcheck // only reading changes it
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Email    string   `json:"email"`
	Verified word     `json:"email_verified"`
	Name     string   `json:"name"`
	Party    string   `json:"azp"`
	Methods  []string `json:"amr"`
}

// complete takes from the answer of the UserInfo endpoint what the ID token does not say.
func (c *claims) complete(more claims) {
	c.Email = more.Email
	if c.Verified != "no" {
		c.Verified = more.Verified
	}
	if c.Name == "" {
		c.Name = more.Name
	}
}

// email is the address in its stored form; empty: there is none that can be used.
func (c claims) email() string {
	wrong := fault.Fields{}
	stored := accounts.CheckEmail(wrong, "email", c.Email)
	if wrong.Err() != nil {
		return ""
	}
	return stored
}

// verified reports whether the address counts. trust takes silence for a yes, and a no for a no.
func (c claims) verified(trust bool) bool { return c.Verified == "yes" || trust && c.Verified == "" }

// secondFactor tells whether the provider says that it has asked for one (RFC 8176 section 2).
func (c claims) secondFactor() bool { return slices.Contains(c.Methods, "mfa") }

// name is what the person is called; empty for what cannot be shown.
func (c claims) name() string {
	wrong := fault.Fields{}
	name := accounts.CheckName(wrong, "name", c.Name)
	if wrong.Err() != nil {
		return ""
	}
	return name
}

var _ json.Unmarshaler = (*word)(nil)
