package authn

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/mjl-/mox/dkim"
	"github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/runtime/mail/address"
)

// maxSignatures bounds what is verified of a message: each may hash the whole body.
const maxSignatures = 5

// The largest header that signatures are verified over. The verifier's work grows
// with the square of the fields of one name.
const (
	maxHeader = 256 << 10
	maxFields = 2000
)

var errTooMany = errors.New("more signatures than are looked at")

// dkim verifies the first signatures. A signature in test mode (t=y) counts like any
// other: it is a result, and nothing is refused for it here.
func (v *Verifier) dkim(ctx context.Context, raw io.ReaderAt, size int64) ([]dkim.Result, string) {
	if !modestHeader(io.NewSectionReader(raw, 0, min(size, maxHeader))) {
		return nil, permerror
	}
	looked := 0
	policy := func(*dkim.Sig) error {
		if looked++; looked > maxSignatures {
			return errTooMany
		}
		return nil
	}
	results, err := dkim.Verify(ctx, quiet, v.resolver, true, policy, timely{ctx, io.NewSectionReader(raw, 0, size)}, true)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, temperror
	case err != nil: // the header cannot be read, and so no signature
		return nil, permerror
	}
	return slices.DeleteFunc(results, func(r dkim.Result) bool { return errors.Is(r.Err, errTooMany) }), ""
}

// timely is a message that cannot be read any more when the time is over: hashing a
// large one several times may take longer than that, and asks for no context.
type timely struct {
	ctx context.Context //nolint:containedctx // it lives as long as the call
	raw io.ReaderAt
}

func (t timely) ReadAt(b []byte, off int64) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.raw.ReadAt(b, off)
}

// modestHeader says whether the header ends before the reader does, with not too many
// lines.
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
	dkim.StatusPass, dkim.StatusTemperror, dkim.StatusFail, dkim.StatusPolicy, dkim.StatusNeutral, dkim.StatusPermerror, dkim.StatusNone,
}

// best is the result of the best signature, and the domains of those that pass: the
// author's own first, then those of the same registrant.
func best(f found, authors []dns.Domain) (word string, domains []string) {
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
	slices.SortStableFunc(domains, func(a, b string) int { return distance(a, authors) - distance(b, authors) })
	return string(status), domains
}

// distance of a domain from the nearest author's.
func distance(domain string, authors []dns.Domain) int {
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
