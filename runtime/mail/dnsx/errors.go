package dnsx

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"
)

// ErrNotFound says that there are no such records: an answer.
var ErrNotFound = errors.New("no such dns record")

// ErrTemporary says that there was no answer.
var ErrTemporary = errors.New("dns temporarily unavailable")

// Error is what every failed lookup returns. It is ErrNotFound or ErrTemporary.
type Error struct {
	Name, Type string // the question
	Server     string // who answered or failed to; empty when nobody was asked
	NXDomain   bool   // with ErrNotFound: the name has no records of any type
	Reason     string // in words, for a person who publishes records
	kind       error
	cause      error
}

func (e *Error) Error() string {
	return fmt.Sprintf("look up %s %s: %s", e.Type, e.Name, e.Reason)
}

// Is tells the two kinds apart.
func (e *Error) Is(target error) bool { return target == e.kind }

// Temporary says that asking again later may help, in the words of package net.
func (e *Error) Temporary() bool { return errors.Is(e.kind, ErrTemporary) }

// Unwrap gives the network error, if there was one.
func (e *Error) Unwrap() error { return e.cause }

func notFound(q question, server string, nxdomain bool) *Error {
	reason := "no such record"
	if nxdomain {
		reason = "no such name"
	}
	return &Error{Name: q.name, Type: dns.TypeToString[q.qtype], Server: server, NXDomain: nxdomain, Reason: reason, kind: ErrNotFound}
}

func temporary(q question, server, reason string, cause error) *Error {
	return &Error{Name: q.name, Type: dns.TypeToString[q.qtype], Server: server, Reason: reason, kind: ErrTemporary, cause: cause}
}
