package authn

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/spf"
)

// spfResolver adapts a resolver to the SPF library.
type spfResolver struct{ dns.Resolver }

var _ spf.Source = spfResolver{}

func (s spfResolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	values, _, err := s.Resolver.LookupTXT(ctx, absoluteName(name))
	return values, classifyMissing(err)
}

func (s spfResolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	hosts, _, err := s.Resolver.LookupMX(ctx, absoluteName(name))
	return hosts, classifyMissing(err)
}

func (s spfResolver) LookupIP(ctx context.Context, name string) ([]netip.Addr, error) {
	found, _, err := s.Resolver.LookupIP(ctx, "ip", absoluteName(name))
	addrs := make([]netip.Addr, 0, len(found))
	for _, ip := range found {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			addrs = append(addrs, addr)
		}
	}
	return addrs, classifyMissing(err)
}

func (s spfResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	names, _, err := s.Resolver.LookupAddr(ctx, addr)
	return names, classifyMissing(err)
}

// absoluteName appends a final dot, so that no search list is used.
func absoluteName(name string) string {
	if len(name) > 0 && name[len(name)-1] == '.' {
		return name
	}
	return name + "."
}

// classifyMissing translates the error for a missing name.
func classifyMissing(err error) error {
	if dns.IsNotFound(err) {
		return fmt.Errorf("%w: %w", dnsx.ErrNotFound, err)
	}
	return err
}
