package suppression

import (
	"strings"

	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/event"
)

// decide is pure: which fact about an email suppresses its recipient, and with
// which reason. False: it does not.
func decide(typ event.Type, data event.Email) (entsuppression.Reason, bool) {
	switch {
	case data.Recipient == "": // the email was erased meanwhile
		return "", false
	case typ == event.EmailBounced && data.Bounce != nil:
		return entsuppression.ReasonBounce, !aboutTheMessage(*data.Bounce)
	case typ == event.EmailFailed && data.Failure != nil:
		return entsuppression.ReasonFailure, unreachable[data.Failure.Code]
	case typ == event.EmailComplained:
		// RFC 5965 section 7.3.5: not-spam takes an earlier report back.
		return entsuppression.ReasonComplaint, data.Complaint == nil || data.Complaint.Type != "not-spam"
	default:
		return "", false
	}
}

// unreachable are the failures that no other message to the address would escape.
// The others are about this message, its sender, the account or our settings.
var unreachable = map[string]bool{"null_mx": true, "no_such_domain": true}

// aboutTheMessage tells a refusal for size, content or policy, which says nothing
// about the address: another message may well arrive.
func aboutTheMessage(b event.Bounce) bool {
	if subject, detail, found := strings.Cut(tail(b.EnhancedCode), "."); found {
		return aboutByEnhancedCode(subject, detail)
	}
	return aboutByText(b.Code, b.Diagnostic)
}

// tail is an enhanced code without its class, which only says whether trying
// again may help: 4.7.1 that was tried for three days is a policy still.
func tail(enhanced string) string {
	_, rest, _ := strings.Cut(enhanced, ".")
	return rest
}

// aboutByEnhancedCode reads RFC 3463 and the registry that it began.
func aboutByEnhancedCode(subject, detail string) bool {
	switch subject {
	case "6", // content and media: conversion, encoding, SMTPUTF8
		"7": // security and policy: reputation, authentication, spam
		return true
	case "1":
		return detail == "7" || detail == "8" // the sender's address is at fault
	case "2":
		return detail == "3" // message longer than the mailbox takes; 2.2, a full mailbox, is the mailbox
	case "3":
		return detail == "4" // message too big for the system
	case "5":
		return detail == "3" // too many recipients
	default:
		return false
	}
}

// The words by which servers without enhanced codes tell what they mean, lower
// case. The address comes first: "user unknown" stands in front of many a
// paragraph on policy.
var (
	addressWords = []string{
		"user unknown", "unknown user", "unknown recipient", "recipient unknown", "unknown local", "no such user", "no such recipient",
		"no such mailbox", "no mailbox", "no such address", "no such person", "user not found", "recipient not found", "mailbox not found",
		"address not found", "does not exist", "doesn't exist", "not a valid mailbox", "invalid recipient", "invalid mailbox", "invalid user",
		"mailbox unavailable", "mailbox disabled", "mailbox is disabled", "account disabled", "account is disabled", "account has been disabled",
		"account inactive", "inactive user", "mailbox full", "mailbox is full", "over quota", "overquota", "quota exceeded", "exceeded quota",
		"exceeded storage allocation", "user is over", "not our customer", "address rejected",
	}
	messageWords = []string{
		"too large", "too big", "message size", "size limit", "maximum size", "exceeds size", "length limit", // size
		"spam", "junk", "virus", "malware", "phish", "content", "attachment", // content
		"policy", "block", "black list", "reputation", "rbl", "dnsbl", "denied", "not permitted", "not allowed", "not authorized", "unauthenticated",
		"spf", "dkim", "dmarc", "reverse dns", "ptr record", "rate limit", "too many", "greylist", "graylist", "relay", "authentication", // policy
	}
)

// aboutByText judges by the basic code (RFC 5321 section 4.2.3) and the words.
func aboutByText(code int, diagnostic string) bool {
	switch code {
	case 500, 502, 503, 504, 555, // the two servers do not understand each other
		530, 534, 535, 538: // RFC 4954: we did not log in
		return true
	}
	text := strings.ToLower(diagnostic)
	has := func(word string) bool { return strings.Contains(text, word) }
	switch {
	case anyOf(addressWords, has):
		return false
	case anyOf(messageWords, has):
		return true
	default:
		// 552 stands for both sizes, 554 is what servers say for want of a better code.
		return code == 552 || code == 554
	}
}

func anyOf(words []string, has func(string) bool) bool {
	for _, word := range words {
		if has(word) {
			return true
		}
	}
	return false
}
