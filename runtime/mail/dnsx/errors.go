package dnsx

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"
)

// ErrNotFound means that no such records exist, which is an answer.
var ErrNotFound = errors.New("no such dns record")

// ErrTemporary means that there was no answer.
var ErrTemporary = errors.New("dns temporarily unavailable")

// Error is the error of every failed lookup. It is ErrNotFound or ErrTemporary.
type Error struct {
	Name, Type string // the query
	Server     string // the server that answered or failed; empty if none was queried
	NXDomain   bool   // with ErrNotFound: the name has no records of any type
	Reason     string // for the users who publish the records
	kind       error
	cause      error
}

func (e *Error) Error() string {
	return fmt.Sprintf("look up %s %s: %s", e.Type, e.Name, e.Reason)
}

// Is distinguishes the two kinds.
func (e *Error) Is(target error) bool { return target == e.kind }

// Temporary reports whether a retry may help, as in package net.
func (e *Error) Temporary() bool { return errors.Is(e.kind, ErrTemporary) }

// Unwrap returns the network error, if there was one.
func (e *Error) Unwrap() error { return e.cause }

func notFound(q question, server string, nxdomain bool) *Error {
	reason := "no such record"
	if nxdomain {
		reason = "no such name"
	}
	return &Error{Name: q.name, Type: dns.TypeToString[q.qtype], Server: server, NXDomain: nxdomain, Reason: reason,
		kind: ErrNotFound}
}

func newTemporaryError(q question, server, reason string, cause error) *Error {
	return &Error{Name: q.name, Type: dns.TypeToString[q.qtype], Server: server, Reason: reason, kind: ErrTemporary,
		cause: cause}
}
