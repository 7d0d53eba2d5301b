package addressrules

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Actions of a rule.
const (
	Accept = "accept"
	Reject = "reject"
)

// Limits of a domain's rules.
const (
	MaxRules = 200
	MaxMatch = 64 // bytes; the maximum length of a local part (RFC 5321 section 4.5.3.1.1)
)

// Rules are the rules of one domain. The first match decides. CatchAll decides whether all other addresses
// exist.
type Rules struct {
	Rules    []shape.AddressRule
	CatchAll bool
}

// acceptAll applies to domains without rules.
var acceptAll = Rules{CatchAll: true}

// Validate reports every invalid field.
func (r Rules) Validate() error {
	wrong := fault.Fields{}
	if len(r.Rules) > MaxRules {
		wrong.Add("rules", "has %d rules; the limit is %d", len(r.Rules), MaxRules)
	}
	for i, rule := range r.Rules[:min(len(r.Rules), MaxRules)] {
		if reason := checkMatch(rule.Match); reason != "" {
			wrong.Add(fmt.Sprintf("rules[%d].match", i), "%s", reason)
		}
		if rule.Action != Accept && rule.Action != Reject {
			wrong.Add(fmt.Sprintf("rules[%d].action", i), "must be accept or reject")
		}
	}
	return wrong.Err()
}

func checkMatch(match string) string {
	switch {
	case match == "":
		return "is required"
	case len(match) > MaxMatch:
		return fmt.Sprintf("is longer than %d bytes", MaxMatch)
	case strings.ContainsRune(match, '@'):
		return "must be only the part before the @"
	case strings.ContainsFunc(match, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '\uFFFD' || r >= 0x80 &&
			r < 0xa0
	}):
		return "cannot contain spaces or control characters"
	}
	return ""
}

// HasAddress reports whether the address exists. postmaster always exists.
func (r Rules) HasAddress(local string) bool {
	local = strings.ToLower(local)
	if local == "postmaster" {
		return true
	}
	for _, rule := range r.Rules {
		if matchPattern(strings.ToLower(rule.Match), local) {
			return rule.Action == Accept
		}
	}
	return r.CatchAll
}

// matchPattern reports whether a text matches a pattern, in which * matches any characters. Matching each part
// between two stars at its first occurrence is sufficient.
func matchPattern(pattern, text string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == text
	}
	text, found := strings.CutPrefix(text, first)
	if !found {
		return false
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
