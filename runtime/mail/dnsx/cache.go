package dnsx

import (
	"context"
	"strings"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/idna"

	"github.com/postrider/postrider/runtime/base/cache"
)

// maxChain is how many aliases are followed.
const maxChain = 10

// question is a cache key. The name is in lower case with a trailing dot.
type question struct {
	name  string
	qtype uint16
}

// answer is the answer of a server to one question. ErrNotFound is an answer too.
type answer struct {
	records   []dns.RR // of the asked type, for the name at the end of the chain
	alias     string   // where the chain in the reply ended without records; empty: it is complete
	links     int      // aliases followed inside the reply
	authentic bool
	ttl       time.Duration
	notFound  *Error
}

func newCache(size int) *cache.Cache[question, *answer] {
	return cache.New(cache.Config[question, *answer]{Max: size, TTLOf: func(a *answer) time.Duration { return a.ttl }})
}

// names accepts all characters, including underscores and leading digits, because publishers choose their names.
var toASCII = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

func newQuestion(name string, qtype uint16) (question, error) {
	q := question{name: name, qtype: qtype}
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			ascii, err := toASCII.ToASCII(name)
			if err != nil {
				return q, notFound(q, "", true)
			}
			name = ascii
			break
		}
	}
	// A name that cannot be encoded does not exist; "." is the root.
	if labels, ok := dns.IsDomainName(name); !ok || labels == 0 && name != "." {
		return q, notFound(q, "", true)
	}
	q.name = escapeName(strings.ToLower(dns.Fqdn(name)))
	return q, nil
}

// escapeName escapes what the DNS library escapes in the names that it reads,
// so that replies to unusual names are recognized.
func escapeName(name string) string {
	if !strings.ContainsFunc(name, func(c rune) bool {
		return strings.ContainsRune(" '@;()\"\\", c) || c < ' ' ||
			c == 0x7f
	}) {
		return name
	}
	wire := make([]byte, 2*len(name)+2)
	end, err := dns.PackDomainName(name, wire, 0, nil, false)
	if err != nil {
		return name
	}
	if escaped, _, err := dns.UnpackDomainName(wire[:end], 0); err == nil {
		return escaped
	}
	return name
}

// askExact returns the answer for exactly this name and type, from the cache or a server.
func (r *Resolver) askExact(ctx context.Context, name string, qtype uint16) (*answer, error) {
	q, err := newQuestion(name, qtype)
	if err != nil {
		return &answer{}, err
	}
	a, err := r.cachedAnswer(ctx, q)
	if err != nil {
		return &answer{}, err
	}
	if a.notFound != nil {
		return a, a.notFound
	}
	return a, nil
}

func (r *Resolver) cachedAnswer(ctx context.Context, q question) (*answer, error) {
	if r.cache != nil {
		if a, ok := r.cache.GetIfPresent(q); ok {
			return a, nil
		}
	}
	a, err := r.exchangeQuestion(ctx, q)
	if err != nil {
		return nil, err
	}
	if r.cache != nil {
		r.cache.Set(q, a) // an answer with a TTL of 0 is not kept: it is for this lookup only (RFC 1035, 3.2.1)
	}
	return a, nil
}

// askFollowing is like ask, but continues a chain of aliases that a server left unfinished.
func (r *Resolver) askFollowing(ctx context.Context, name string, qtype uint16) (*answer, error) {
	a, err := r.askExact(ctx, name, qtype)
	authentic, links := a.authentic, a.links
	for err == nil && a.alias != "" && links <= maxChain {
		a, err = r.askExact(ctx, a.alias, qtype)
		authentic = authentic && a.authentic
		links += a.links
	}
	if links > maxChain {
		return &answer{}, newTemporaryError(question{name, qtype}, "", "too many aliases, or a loop of them", nil)
	}
	result := *a
	result.authentic = authentic
	return &result, err
}
