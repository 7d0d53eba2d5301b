package openid

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
)

// optionalBool is a boolean claim that may be missing: "yes", "no" or "". Some providers encode it as a string.
type optionalBool string

// UnmarshalJSON accepts any value. Values other than true, "true" and null count as "no".
func (w *optionalBool) UnmarshalJSON(b []byte) error {
	switch strings.Trim(string(b), `"`) {
	case "null":
	case "true":
		*w = "yes"
	default:
		*w = "no"
	}
	return nil
}

// claims are the provider's claims about a user (OpenID Connect Core 1.0 sections 2 and 5.1).
type claims struct { //nolint:recvcheck // only complete modifies it
	Issuer   string       `json:"iss"`
	Subject  string       `json:"sub"`
	Email    string       `json:"email"`
	Verified optionalBool `json:"email_verified"`
	Name     string       `json:"name"`
	Party    string       `json:"azp"`
	Methods  []string     `json:"amr"`
}

// addUserInfo adds claims from the UserInfo endpoint that the ID token does not contain.
func (c *claims) addUserInfo(more claims) {
	c.Email = more.Email
	if c.Verified != "no" {
		c.Verified = more.Verified
	}
	if c.Name == "" {
		c.Name = more.Name
	}
}

// storedEmail returns the email in its stored form, or "" if it is missing or invalid.
func (c claims) storedEmail() string {
	wrong := fault.Fields{}
	stored := accounts.CheckEmail(wrong, "email", c.Email)
	if wrong.Err() != nil {
		return ""
	}
	return stored
}

// isVerified reports whether the email is verified. With trust, a missing claim counts as verified, but a
// false one does not.
func (c claims) isVerified(trust bool) bool { return c.Verified == "yes" || trust && c.Verified == "" }

// hasSecondFactor reports whether the provider checked a second factor (RFC 8176 section 2).
func (c claims) hasSecondFactor() bool { return slices.Contains(c.Methods, "mfa") }

// validName returns the user's name, or "" if it is not valid here.
func (c claims) validName() string {
	wrong := fault.Fields{}
	name := accounts.CheckName(wrong, "name", c.Name)
	if wrong.Err() != nil {
		return ""
	}
	return name
}

var _ json.Unmarshaler = (*optionalBool)(nil)
