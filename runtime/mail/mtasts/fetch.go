package mtasts

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"

	mox "github.com/mjl-/mox/mtasts"
)

// maxPolicy is the maximum size of a policy (RFC 8461, 3.3).
const maxPolicy = 64 << 10

// fetchPolicy fetches the policy of a domain (RFC 8461, 3.3). Its error is a *FetchFailure, unless ctx has
// ended: then nothing is known about the domain.
func (f *Finder) fetchPolicy(ctx context.Context, domain string) (*mox.Policy, error) {
	limited, cancel := context.WithTimeout(ctx, f.cfg.FetchTimeout)
	defer cancel()
	text, err := fetchText(limited, f.cfg.Client, domain, f.cfg.Port)
	if err == nil {
		var policy *mox.Policy
		if policy, err = mox.ParsePolicy(strings.TrimRight(text, "\r\n")); err == nil {
			return policy, nil
		}
		err = &FetchFailure{PolicyInvalid, err}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var failure *FetchFailure
	var badCertificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &failure):
		return nil, failure
	case errors.As(err, &badCertificate):
		return nil, &FetchFailure{WebPKIInvalid, err}
	}
	return nil, &FetchFailure{FetchError, err}
}

// Path is the path of a policy (RFC 8461, 3.2).
const Path = "/.well-known/mta-sts.txt"

// FetchText fetches the policy of a domain without parsing it. Config.Client says which client to use.
func FetchText(ctx context.Context, client *http.Client, domain string) (string, error) {
	return fetchText(ctx, client, domain, 443)
}

func fetchText(ctx context.Context, client *http.Client, domain string, port int) (text string, err error) {
	host := "mta-sts." + domain
	if port != 443 {
		host = net.JoinHostPort(host, strconv.Itoa(port))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+Path, nil)
	if err != nil {
		return "", err
	}
	req.Close = true // no further request is expected within a day
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK { // no other status is valid, and no redirect (RFC 8461, 3.3)
		return "", fmt.Errorf("the server responded with %s", res.Status)
	}
	// Files that users upload to a web server are rarely text/plain (RFC 8461, 3.2).
	if kind, _, parseErr := mime.ParseMediaType(res.Header.Get("Content-Type")); parseErr != nil ||
		kind != "text/plain" {
		return "", &FetchFailure{PolicyInvalid,
			fmt.Errorf("content type %q, want text/plain", res.Header.Get("Content-Type"))}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPolicy+1))
	if err != nil {
		return "", err
	}
	if len(body) > maxPolicy {
		return "", &FetchFailure{PolicyInvalid, fmt.Errorf("more than %d bytes", maxPolicy)}
	}
	return string(body), nil
}
