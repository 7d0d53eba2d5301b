package dnsx

import (
	"context"
	"errors"
	"strings"

	"github.com/miekg/dns"

	"github.com/postrider/postrider/runtime/mail/address"
)

// LookupZone returns the apex of the zone that contains a name, without a trailing dot: the nearest name at
// or above it with its own SOA record. A name whose only zone is a public suffix is ErrNotFound.
func (r *Resolver) LookupZone(ctx context.Context, name string) (string, error) {
	asked, err := newQuestion(name, dns.TypeSOA)
	if err != nil {
		return "", err
	}
	for at := strings.TrimSuffix(asked.name, "."); at != "" &&
		!address.IsPublicSuffix(at); _, at, _ = strings.Cut(at, ".") {
		a, err := r.askExact(ctx, at, dns.TypeSOA)
		switch {
		case err == nil && a.links == 0 && len(a.records) > 0:
			return at, nil
		case err != nil && !errors.Is(err, ErrNotFound):
			return "", err
		}
		// An alias has no SOA of its own; the one in the reply is its target's.
	}
	return "", notFound(asked, "", true)
}
