package authn

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"

	"github.com/mjl-/mox/dkim"
	"github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/runtime/mail/address"
)

// maxSignatures bounds the verified signatures of a message: each may hash the whole body.
const maxSignatures = 5

// The largest header whose signatures are verified. The verifier's work grows with the square of the number
// of fields with the same name.
const (
	maxHeader = 256 << 10
	maxFields = 2000
)

var errTooMany = errors.New("more signatures than are verified")

// verifyDKIM verifies the first signatures. A signature in test mode (t=y) counts like any other: it is a
// result, and nothing is rejected here because of it.
func (v *Verifier) verifyDKIM(ctx context.Context, from netip.Addr, raw io.ReaderAt,
	size int64) ([]dkim.Result, string) {
	if !modestHeader(io.NewSectionReader(raw, 0, min(size, maxHeader))) {
		return nil, permerror
	}
	needed, err := hashMemory(timedReader{ctx: ctx, raw: raw}, size)
	switch {
	case err != nil:
		return nil, temperror
	case needed > maxHashMemory:
		return nil, permerror
	}
	t := memoryTurn{wait: func() (func(), error) { return v.memory(ctx, from, needed) }}
	if needed <= freeHashMemory {
		t.wait = nil
	}
	defer t.endTurn()
	looked := 0
	policy := func(*dkim.Sig) error {
		t.endTurn() // the key is looked up next
		if looked++; looked > maxSignatures {
			return errTooMany
		}
		return nil
	}
	results, err := dkim.Verify(ctx, quiet, v.resolver, true, policy,
		timedReader{ctx, io.NewSectionReader(raw, 0, size), &t}, true)
	switch {
	case err != nil && (ctx.Err() != nil || t.refused):
		return nil, temperror
	case err != nil: // the header cannot be parsed, so no signature can be verified
		return nil, permerror
	}
	if t.refused {
		return nil, temperror
	}
	return slices.DeleteFunc(results, func(r dkim.Result) bool { return errors.Is(r.Err, errTooMany) }), ""
}

// The verifier holds several copies of a line, and of a run of empty lines, while it hashes it.
const (
	hashCopies     = 5
	freeHashMemory = hashCopies * 64 << 10
	maxHashMemory  = hashCopies * 1 << 20 // no signature is verified of a message with longer lines
)

// hashMemory returns how many bytes of a message the verifier will hold at a time. The error is that of raw.
func hashMemory(raw io.ReaderAt, size int64) (int64, error) {
	if size <= freeHashMemory/hashCopies {
		return 0, nil
	}
	in := bufio.NewReaderSize(io.NewSectionReader(raw, 0, size), 32<<10)
	var longest, line, empty int64
	for {
		piece, err := in.ReadSlice('\n')
		line += int64(len(piece))
		longest = max(longest, line, empty+line)
		switch {
		case err == nil && line <= 2:
			empty, line = empty+line, 0
		case err == nil:
			empty, line = 0, 0
		case errors.Is(err, io.EOF):
			return hashCopies * longest, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
}

// memoryTurn is the memory for hashing. It is acquired when the message is read, and released before each
// DNS lookup, because the sender's server may respond slowly.
type memoryTurn struct {
	wait    func() (release func(), err error) // nil if none is needed
	release func()
	refused bool
}

func (t *memoryTurn) beginTurn() error {
	if t == nil || t.wait == nil || t.release != nil {
		return nil
	}
	release, err := t.wait()
	t.release, t.refused = release, t.refused || err != nil
	return err
}

func (t *memoryTurn) endTurn() {
	if t.release != nil {
		t.release()
		t.release = nil
	}
}

// timedReader is a message that becomes unreadable after a deadline: hashing a large one several times may
// take longer, and the library does not check a context.
type timedReader struct {
	ctx  context.Context //nolint:containedctx // it lives as long as the call
	raw  io.ReaderAt
	turn *memoryTurn // nil: no memory is needed
}

func (t timedReader) ReadAt(b []byte, off int64) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	if err := t.turn.beginTurn(); err != nil {
		return 0, err
	}
	return t.raw.ReadAt(b, off)
}

// modestHeader reports whether the header ends before the reader does and has few enough lines.
func modestHeader(r io.Reader) bool {
	in := bufio.NewReader(r)
	for range maxFields {
		begin := true
		for {
			piece, err := in.ReadSlice('\n')
			if begin && (string(piece) == "\r\n" || string(piece) == "\n") {
				return true
			}
			if begin = false; err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return false
			}
		}
	}
	return false
}

// ranks are the results of signatures, the best first.
var ranks = []dkim.Status{
	dkim.StatusPass, dkim.StatusTemperror, dkim.StatusFail, dkim.StatusPolicy, dkim.StatusNeutral, dkim.StatusPermerror,
	dkim.StatusNone,
}

// bestSignature returns the best result of the signatures, and the domains of those that pass: the author's
// own first, then those of the same registrant.
func bestSignature(f findings, authors []dns.Domain) (word string, domains []string) {
	if f.dkimWord != "" {
		return f.dkimWord, nil
	}
	status := dkim.StatusNone
	for _, r := range f.signatures {
		if slices.Index(ranks, r.Status) < slices.Index(ranks, status) {
			status = r.Status
		}
		if r.Status == dkim.StatusPass && r.Sig != nil && !slices.Contains(domains, r.Sig.Domain.ASCII) {
			domains = append(domains, r.Sig.Domain.ASCII)
		}
	}
	slices.SortStableFunc(domains,
		func(a, b string) int { return domainDistance(a, authors) - domainDistance(b, authors) })
	return string(status), domains
}

// domainDistance returns the distance of a domain from the nearest author's domain.
func domainDistance(domain string, authors []dns.Domain) int {
	nearest := 2
	for _, author := range authors {
		switch registered := address.RegistrableDomain(domain); {
		case domain == author.ASCII:
			return 0
		case registered != "" && registered == address.RegistrableDomain(author.ASCII):
			nearest = 1
		}
	}
	return nearest
}
